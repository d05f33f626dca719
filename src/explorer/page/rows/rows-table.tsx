import { type ComponentChildren, Fragment } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { Row } from '../model/schema.ts'
import { usePage } from '../page.ts'
import { shownCell, columnValue, type RowColumn, targetOf } from './columns.ts'
import { HeaderCell } from './header-cell.tsx'
import { isPart } from './requests.ts'
import type { RowsContext } from './rows-context.ts'
import { conditionOf, move } from './table-actions.ts'
import {
  type CellPlace,
  HEADER_ROW,
  type Layout,
  shownColumns,
  useLayout,
  useRoving,
} from './use-layout.ts'
import type { RowsAnswer } from './use-rows.ts'

interface RowsTableProps {
  readonly context: RowsContext
  readonly columns: readonly RowColumn[]
  readonly rows: readonly Row[]
  readonly answer: RowsAnswer
  readonly onOpen: (column: RowColumn, row: Row) => void
}

/** The next page is asked for before its rows are missed. */
const AHEAD_PX = 1_200

export function RowsTable(props: RowsTableProps) {
  const { context, columns, rows, answer } = props
  const { loaded, isWaiting, more } = answer
  const scroller = useRef<HTMLDivElement>(null)
  const layout = useLayout(context, columns, rows, scroller)
  const roving = useRoving(scroller, {
    rows: rows.length,
    columns: columns.length,
    reveal: layout.reveal,
  })
  const lookAhead = () => {
    const region = scroller.current
    if (region === null || region.clientHeight === 0) return
    if (region.scrollTop + region.clientHeight + AHEAD_PX > region.scrollHeight) more()
  }
  useLayoutEffect(() => {
    // The first rows are at the top by themselves; to say so would lay them out before the rest of the page is there.
    if (loaded !== null && loaded.beginning > 1) scroller.current!.scrollTop = 0
  }, [loaded?.beginning])
  useEffect(() => {
    if (rows.length > 0) lookAhead()
  }, [rows.length])

  return (
    <div
      ref={scroller}
      class="rows-region"
      aria-busy={isWaiting}
      onScroll={lookAhead}
      // Wherever the focus came from: arrows go on from there.
      onFocusIn={(event) => roving.setActive(placeOf(event))}
      onKeyDown={(event) => {
        moveWithKeys(event, context, columns, roving.active)
        if (roving.press(event)) return
        if (event.key !== 'Enter' || placeOf(event) === undefined) return
        event.preventDefault()
        act(props, event, event.shiftKey)
      }}
    >
      <table
        class="rows"
        aria-label={`Rows of ${context.set.name}`}
        aria-rowcount={loaded?.count === undefined ? -1 : Number(loaded.count) + 1}
        aria-colcount={columns.length}
        style={{ width: `${layout.edges.at(-1)}px` }}
      >
        <Head {...props} layout={layout} active={roving.active} />
        <Body
          {...props}
          layout={layout}
          active={roving.active}
          onClick={(event) => {
            if (event.target instanceof Element && event.target.closest('a') !== null) return
            // A reader who marks text in a cell wants to copy it.
            if (getSelection()?.isCollapsed === false) return
            roving.setActive(placeOf(event))
            act(props, event, false)
          }}
        />
      </table>
    </div>
  )
}

function act(props: RowsTableProps, event: Event, isFilter: boolean): void {
  const { context, columns, rows, answer } = props
  const place = placeOf(event)
  const column = place && columns[place.column]
  const row = place && rows[place.row]
  if (column === undefined || row === undefined) return
  const value = columnValue(row, column.name)
  // A value that is not whole says nothing that one could filter by.
  const isCut = answer.loaded?.short !== undefined && isPart(column.property, value)
  if (!isFilter || isCut) return props.onOpen(column, row)
  const condition = conditionOf(column.name, value ?? null, true)
  if (condition === undefined || column.property === undefined) return
  context.filter([...context.conditions, condition])
}

interface PartProps extends RowsTableProps {
  readonly layout: Layout
  readonly active: CellPlace
}

function Head({ context, columns, layout, active }: PartProps) {
  return (
    <thead>
      <tr aria-rowindex={1}>
        <Across columns={columns} layout={layout}>
          {(index) => (
            <HeaderCell
              context={context}
              columns={columns}
              index={index}
              layout={layout}
              isActive={active.row === HEADER_ROW && active.column === index}
            />
          )}
        </Across>
      </tr>
    </thead>
  )
}

interface AcrossProps extends Pick<PartProps, 'columns' | 'layout'> {
  readonly children: (index: number) => ComponentChildren
}

/** The cells of a row that are in view, with room for the others. */
function Across({ columns, layout, children }: AcrossProps) {
  const { horizontal, pinned } = layout
  const gap = (px: number) =>
    px > 0 && <td class="gap" aria-hidden="true" style={{ width: `${px}px` }} />
  return (
    <>
      {shownColumns(layout).map((index) => (
        <Fragment key={columns[index]!.name}>
          {index === pinned + horizontal.from && gap(horizontal.beforePx)}
          {children(index)}
        </Fragment>
      ))}
      {gap(horizontal.afterPx)}
    </>
  )
}

function Body(props: PartProps & { readonly onClick: (event: MouseEvent) => void }) {
  const { rows, layout, columns, onClick } = props
  const { vertical } = layout
  return (
    // Each cell is a stop for the keyboard, and Enter does there what a click does.
    <tbody onClick={onClick}>
      <Gap px={vertical.beforePx} span={columns.length} />
      {rows.slice(vertical.from, vertical.to).map((row, i) => (
        <BodyRow key={vertical.from + i} {...props} row={row} index={vertical.from + i} />
      ))}
      <Gap px={vertical.afterPx} span={columns.length} />
    </tbody>
  )
}

function BodyRow({
  row,
  index,
  ...props
}: PartProps & { readonly row: Row; readonly index: number }) {
  const { context, columns, layout, active } = props
  return (
    <tr aria-rowindex={index + 2}>
      <Across columns={columns} layout={layout}>
        {(at) => {
          const column = columns[at]!
          const isActive = active.row === index && active.column === at
          const isPinned = at < layout.pinned
          return (
            <td
              class={`${column.isNumber ? 'number' : ''}${isPinned ? ' pinned' : ''}`}
              style={isPinned ? { left: `${layout.edges[at]}px` } : undefined}
              aria-colindex={at + 1}
              data-row={index}
              data-column={at}
              tabIndex={isActive ? 0 : -1}
            >
              <Content context={context} column={column} row={row} />
            </td>
          )
        }}
      </Across>
    </tr>
  )
}

interface ContentProps {
  readonly context: RowsContext
  readonly column: RowColumn
  readonly row: Row
}

/** What came is text here, never markup and never a link. */
function Content({ context: { set }, column, row }: ContentProps) {
  const page = usePage()
  const value = columnValue(row, column.name)
  const { text, kind, title } = shownCell(value, column.property)
  if (kind !== 'plain')
    return (
      <span class={`value-${kind}`} title={title}>
        {text}
      </span>
    )
  const to = targetOf(set, column, row, value)
  if (to === undefined)
    return (
      <bdi title={title}>{column.isNumber ? <Digits text={text} /> : <Blanks text={text} />}</bdi>
    )
  return (
    <a
      href={page.href(to)}
      // Not a stop of the Tab key: the cell is, and its dialog has the link too.
      tabIndex={-1}
      // A row of another set can be looked at from here.
      data-peek-set={to.set === set.name ? undefined : to.set}
      data-peek-key={to.key}
    >
      <bdi>{text}</bdi>
    </a>
  )
}

/** Groups of three for the eye: the room between them is no text, so what is copied has the digits alone. */
function Digits({ text }: { text: string }) {
  const [, sign = '', whole = '', rest = ''] = /^(-?)(\d{5,})(\.\d+)?$/.exec(text) ?? []
  if (whole === '') return <>{text}</>
  const first = whole.length % 3 || 3
  const groups = whole.slice(first).match(/\d{3}/g) ?? []
  return (
    <>
      {sign}
      {whole.slice(0, first)}
      {groups.map((digits, i) => (
        <span key={i} class="digits">
          {digits}
        </span>
      ))}
      {rest}
    </>
  )
}

function Gap({ px, span }: { px: number; span: number }) {
  if (px === 0) return null
  return (
    <tr aria-hidden="true">
      <td class="gap" colSpan={span} style={{ height: `${px}px` }} />
    </tr>
  )
}

/** Shift and an arrow on a header take the column along. */
function moveWithKeys(
  { key, shiftKey, target }: KeyboardEvent,
  { state, allColumns, change }: RowsContext,
  columns: readonly RowColumn[],
  active: CellPlace,
): void {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[key] as -1 | 1 | undefined
  const column = columns[active.column]
  if (by === undefined || !shiftKey || column?.property === undefined) return
  if (!(target instanceof Element && target.matches('.sort'))) return
  const shown = columns.map(({ name }) => name)
  change(move({ options: state.options, shown, all: allColumns }, column.name, by))
}

function placeOf(event: Event): CellPlace | undefined {
  const cell =
    event.target instanceof Element ? event.target.closest<HTMLElement>('td[data-row]') : null
  if (cell === null) return undefined
  return { row: Number(cell.dataset['row']), column: Number(cell.dataset['column']) }
}

/** Blanks before and after a text are seen, and copied as they are. */
function Blanks({ text }: { text: string }) {
  const [, before, inside, after] = /^(\s*)(.*?)(\s*)$/s.exec(text)!
  if (before === '' && after === '') return text
  return (
    <>
      {before !== '' && <span class="blanks">{before}</span>}
      {inside}
      {after !== '' && <span class="blanks">{after}</span>}
    </>
  )
}
