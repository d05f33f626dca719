import { Fragment, type RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { readOrder } from '../address/order.ts'
import type { Row } from '../model/value.ts'
import { CellContent } from './cell.tsx'
import { defaultWidthPx, valueAt, type RowColumn } from './columns.ts'
import { HeaderCell } from './header-cell.tsx'
import type { RowsContext } from './rows-context.ts'
import { conditionOf, filterBy, pinnedCount } from './table-actions.ts'
import { HEADER_ROW, useRoving, type CellPlace } from './use-roving.ts'
import { useWindow, type Window } from './use-window.ts'
import { widths } from './widths.ts'

export interface RowsTableProps {
  readonly context: RowsContext
  readonly columns: readonly RowColumn[]
  readonly rows: readonly Row[]
  /** Known when the service has counted. */
  readonly count: string | undefined
  readonly isBusy: boolean
  readonly onOpen: (column: RowColumn, row: Row) => void
  /** The last rows that are there have come into view. */
  readonly onEnd: () => void
}

const ROW_PX = 32
const HEADER_PX = 36
const ALL_ROWS_BELOW = 200
const ALL_COLUMNS_BELOW = 40
/** The next page is asked for before its rows are missed. */
const AHEAD_PX = 1_200

export function RowsTable(props: RowsTableProps) {
  const { context, columns, rows, count, isBusy, onEnd } = props
  const scroller = useRef<HTMLDivElement>(null)
  const layout = useLayout(props, scroller)
  const { vertical, horizontal, pinned, totalPx } = layout
  const roving = useRoving(scroller, {
    rows: rows.length,
    columns: columns.length,
    reveal: (place) => {
      if (place.row > HEADER_ROW) vertical.reveal(place.row)
      if (place.column >= pinned) horizontal.reveal(place.column - pinned)
    },
  })
  const lookAhead = () => {
    const region = scroller.current
    if (region === null || region.clientHeight === 0) return
    if (region.scrollTop + region.clientHeight + AHEAD_PX > region.scrollHeight) onEnd()
  }
  useEffect(lookAhead, [rows.length])

  const act = (event: Event, isFilter: boolean) => {
    const place = placeOf(event)
    const column = place && columns[place.column]
    const row = place && rows[place.row]
    if (column === undefined || row === undefined) return
    if (!isFilter) return props.onOpen(column, row)
    const condition = conditionOf(column.name, valueAt(row, column.name) ?? null, true)
    if (condition === undefined || column.property === undefined) return
    context.change(filterBy(context.state.options, context.typeOf, condition))
  }
  return (
    <div
      ref={scroller}
      class="rows-region"
      aria-busy={isBusy}
      onScroll={lookAhead}
      onKeyDown={(event) => {
        if (roving.press(event)) return
        if (event.key !== 'Enter' || placeOf(event) === undefined) return
        event.preventDefault()
        act(event, event.shiftKey)
      }}
    >
      <table
        class="rows"
        aria-label={`Rows of ${context.set.name}`}
        aria-rowcount={count === undefined ? -1 : Number(count) + 1}
        aria-colcount={columns.length}
        style={{ width: `${totalPx}px` }}
      >
        <Head {...props} layout={layout} active={roving.active} />
        <Body
          {...props}
          layout={layout}
          active={roving.active}
          onClick={(event) => {
            if (event.target instanceof Element && event.target.closest('a') !== null) return
            // Whoever marks text in a cell wants to copy it.
            if (getSelection()?.isCollapsed === false) return
            roving.setActive(placeOf(event))
            act(event, false)
          }}
        />
      </table>
    </div>
  )
}

interface Layout {
  readonly vertical: Window
  readonly horizontal: Window
  readonly pinned: number
  readonly widthsPx: readonly number[]
  readonly totalPx: number
}

interface PartProps extends RowsTableProps {
  readonly layout: Layout
  readonly active: CellPlace
}

function useLayout(
  { context, columns, rows }: RowsTableProps,
  scroller: RefObject<HTMLDivElement | null>,
): Layout {
  // As the first rows were: a column that changed its width while somebody reads would be a nuisance.
  const [firstRows, setFirstRows] = useState(rows)
  useLayoutEffect(() => {
    if (firstRows.length === 0) setFirstRows(rows)
  }, [rows])
  const chosen = widths.value
  const widthsPx = columns.map(
    (column) => chosen[`${context.set.name}.${column.name}`] ?? defaultWidthPx(column, firstRows),
  )
  const pinned = Math.min(pinnedCount(context.state.options), columns.length)
  const pinnedPx = widthsPx.slice(0, pinned).reduce((sum, width) => sum + width, 0)
  const vertical = useWindow(scroller, {
    count: rows.length,
    sizePx: () => ROW_PX,
    isHorizontal: false,
    wholeBelow: ALL_ROWS_BELOW,
    coveredPx: HEADER_PX,
    sizesKey: '',
  })
  const horizontal = useWindow(scroller, {
    count: columns.length - pinned,
    sizePx: (index) => widthsPx[pinned + index] ?? 0,
    isHorizontal: true,
    wholeBelow: ALL_COLUMNS_BELOW,
    coveredPx: pinnedPx,
    sizesKey: widthsPx.join(' '),
  })
  const totalPx = widthsPx.reduce((sum, width) => sum + width, 0)
  return { vertical, horizontal, pinned, widthsPx, totalPx }
}

/** Indexes of the columns that are in the document. */
function shownColumns({ horizontal, pinned }: Layout): readonly number[] {
  const first = Array.from({ length: pinned }, (_, i) => i)
  const { from, to } = horizontal
  return [...first, ...Array.from({ length: to - from }, (_, i) => pinned + from + i)]
}

function leftPx({ widthsPx }: Layout, index: number): number {
  return widthsPx.slice(0, index).reduce((sum, width) => sum + width, 0)
}

function Head({ context, columns, layout, active }: PartProps) {
  const { horizontal, pinned, widthsPx } = layout
  const orders = readOrder(context.state.options.get('$orderby'))
  const names = columns.map(({ name }) => name)
  return (
    <thead>
      <tr aria-rowindex={1}>
        {shownColumns(layout).map((index) => (
          <Fragment key={columns[index]!.name}>
            {index === pinned + horizontal.from && horizontal.beforePx > 0 && (
              <td class="gap" aria-hidden="true" style={{ width: `${horizontal.beforePx}px` }} />
            )}
            <HeaderCell
              context={context}
              column={columns[index]!}
              shown={names}
              index={index}
              orders={orders}
              widthPx={widthsPx[index]!}
              stickyPx={index < pinned ? leftPx(layout, index) : undefined}
              isActive={active.row === HEADER_ROW && active.column === index}
            />
          </Fragment>
        ))}
        {horizontal.afterPx > 0 && (
          <td class="gap" aria-hidden="true" style={{ width: `${horizontal.afterPx}px` }} />
        )}
      </tr>
    </thead>
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
  const { horizontal, pinned } = layout
  return (
    <tr aria-rowindex={index + 2}>
      {shownColumns(layout).map((at) => {
        const column = columns[at]!
        const isActive = active.row === index && active.column === at
        const isPinned = at < pinned
        return (
          <Fragment key={column.name}>
            {at === pinned + horizontal.from && horizontal.beforePx > 0 && (
              <td class="gap" aria-hidden="true" />
            )}
            <td
              class={`${column.isNumber ? 'number' : ''}${isPinned ? ' pinned' : ''}`}
              style={isPinned ? { left: `${leftPx(layout, at)}px` } : undefined}
              aria-colindex={at + 1}
              data-row={index}
              data-column={at}
              tabIndex={isActive ? 0 : -1}
            >
              <CellContent
                context={context}
                column={column}
                row={row}
                value={valueAt(row, column.name)}
              />
            </td>
          </Fragment>
        )
      })}
      {horizontal.afterPx > 0 && <td class="gap" aria-hidden="true" />}
    </tr>
  )
}

/** Takes the room of rows that are not in the document. */
function Gap({ px, span }: { px: number; span: number }) {
  if (px === 0) return null
  return (
    <tr aria-hidden="true">
      <td class="gap" colSpan={span} style={{ height: `${px}px` }} />
    </tr>
  )
}

function placeOf(event: Event): CellPlace | undefined {
  const cell =
    event.target instanceof Element ? event.target.closest<HTMLElement>('td[data-row]') : null
  if (cell === null) return undefined
  return { row: Number(cell.dataset['row']), column: Number(cell.dataset['column']) }
}
