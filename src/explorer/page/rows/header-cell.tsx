import { useListener } from '../parts/use-value.ts'
import { Button } from '../parts/button.tsx'
import { useEffect, useRef, useState } from 'preact/hooks'
import { shortType } from '../model/schema.ts'
import { moveColumn, readOrder } from '../address/order.ts'
import type { RowColumn } from './columns.ts'
import {
  hideColumn,
  move,
  pinnedCount,
  show,
  sortBy,
  sortExactly,
  togglePin,
} from './table-actions.ts'
import { startFilter } from './filter-bar.tsx'
import type { Options } from '../address/options.ts'
import { type Layout, LEAST_WIDTH_PX, MOST_WIDTH_PX, setWidth } from './use-layout.ts'
import type { RowsContext } from './rows-context.ts'

export function HeaderCell(props: HeaderCellProps) {
  const { context, columns, index, layout, isActive } = props
  const column = columns[index]!
  const shown = columns.map(({ name }) => name)
  const widthPx = layout.widthsPx[index]!
  const isPinned = index < layout.pinned
  const orders = readOrder(context.state.options.get('$orderby'))
  const [isOpen, setIsOpen] = useState(false)
  const at = orders.findIndex(({ by }) => by === column.name)
  const direction = at === -1 ? undefined : orders[at]!.descending ? 'descending' : 'ascending'
  const { options } = context.state
  const drag = useDrag((onto) => {
    const moved = moveColumn(shown, column.name, onto)
    if (moved !== shown) context.change(show({ options, shown: moved, all: context.allColumns }))
  })
  const sort = (event: MouseEvent) => {
    if (!column.isSortable || drag.wasDragged()) return
    context.change(sortBy(options, column.name, event.shiftKey))
  }
  return (
    <th
      scope="col"
      aria-sort={direction}
      aria-colindex={index + 1}
      data-name={column.property?.name}
      class={`${column.isNumber ? 'number' : ''}${isPinned ? ' pinned' : ''}`}
      style={{ width: `${widthPx}px`, left: isPinned ? `${layout.edges[index]}px` : undefined }}
    >
      <div class="header-cell">
        <Button
          class="plain sort"
          tabIndex={isActive ? 0 : -1}
          aria-haspopup="menu"
          aria-disabled={!column.isSortable}
          title={titleOf(column)}
          onClick={sort}
          onPointerDown={column.property && drag.start}
          onKeyDown={(event) => {
            if (!(event.altKey && event.key === 'ArrowDown') && event.key !== 'ContextMenu') return
            event.preventDefault()
            setIsOpen(true)
          }}
        >
          <bdi>{column.name}</bdi>
          {column.navigation !== undefined && <span aria-hidden="true">→</span>}
          {direction !== undefined && (
            <span class="direction" aria-hidden="true">
              {direction === 'ascending' ? '↑' : '↓'}
              {orders.length > 1 && at + 1}
            </span>
          )}
        </Button>
        <Button
          class="menu-opener"
          tabIndex={-1}
          name={`Menu of ${column.name}`}
          aria-expanded={isOpen}
          onClick={() => setIsOpen(!isOpen)}
        >
          ▾
        </Button>
      </div>
      {isOpen && <HeaderMenu {...props} onClose={() => setIsOpen(false)} />}
      <ResizeHandle set={context.set.name} column={column.name} widthPx={widthPx} />
    </th>
  )
}

function titleOf({ property, isSortable }: RowColumn): string {
  const type = property === undefined ? '' : shortType(property)
  const how = isSortable ? 'click to sort, Shift for a second column' : 'has no order'
  return [property?.description, type, how].filter(Boolean).join('\n')
}

type Item = readonly [label: string, act: () => void]

/** What can be done with a column. Arrows move, Escape closes. */
function HeaderMenu(props: HeaderCellProps & { readonly onClose: () => void }) {
  const { onClose } = props
  const column = props.columns[props.index]!
  const menu = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const opener = menu.current?.closest('th')?.querySelector<HTMLElement>('.sort')
    menu.current?.querySelector<HTMLElement>('button')?.focus()
    return () => {
      if (document.activeElement === document.body) opener?.focus()
    }
  }, [])
  useListener('pointerdown', ({ target }) => {
    if (target instanceof Node && !menu.current?.contains(target)) onClose()
  })
  const press = (event: KeyboardEvent) => {
    const items = [...(menu.current?.querySelectorAll<HTMLElement>('button') ?? [])]
    const at = items.indexOf(document.activeElement as HTMLElement)
    if (event.key === 'ArrowDown') items[(at + 1) % items.length]?.focus()
    else if (event.key === 'ArrowUp') items.at(at - 1)?.focus()
    else if (event.key === 'Escape' || event.key === 'Tab') onClose()
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <div
      ref={menu}
      class="menu"
      role="menu"
      tabIndex={-1}
      aria-label={`Menu of ${column.name}`}
      onKeyDown={press}
    >
      {itemsOf(props).map(([label, act]) => (
        <Button
          key={label}
          role="menuitem"
          tabIndex={-1}
          onClick={() => {
            onClose()
            act()
          }}
        >
          {label}
        </Button>
      ))}
    </div>
  )
}

function itemsOf({ context, columns: of, index }: HeaderCellProps): readonly Item[] {
  const column = of[index]!
  const shown = of.map((one) => one.name)
  const { state, allColumns: all, change } = context
  const { options } = state
  const columns = { options, shown, all }
  const { name, property } = column
  const to = (next: Options) => () => change(next)
  const isPinned = index < pinnedCount(options)
  const sorting: readonly Item[] = [
    ['Sort ascending', to(sortExactly(options, name, false))],
    ['Sort descending', to(sortExactly(options, name, true))],
  ]
  const placing: readonly Item[] = [
    ...(shown.length > 1 ? [['Hide', to(hideColumn(columns, name))] as const] : []),
    [isPinned ? 'Let it scroll' : 'Keep it at the left', to(togglePin(columns, name))],
    ...(index > 0 ? [['Move left', to(move(columns, name, -1))] as const] : []),
    ...(index < shown.length - 1 ? [['Move right', to(move(columns, name, 1))] as const] : []),
  ]
  return [
    ...(column.isSortable ? sorting : []),
    ...(property === undefined ? [] : [['Filter …', () => startFilter(name)] as const, ...placing]),
  ]
}

interface ResizeHandleProps {
  readonly set: string
  readonly column: string
  readonly widthPx: number
}

const STEP_PX = 16

function ResizeHandle({ set, column, widthPx }: ResizeHandleProps) {
  const drag = (event: PointerEvent) => {
    const handle = event.currentTarget as HTMLElement
    const fromPx = event.clientX
    handle.setPointerCapture(event.pointerId)
    handle.onpointermove = (move) => setWidth(set, column, widthPx + move.clientX - fromPx)
    handle.onpointerup = () => {
      handle.onpointermove = null
    }
    event.preventDefault()
  }
  return (
    <div
      class="resize"
      role="separator"
      tabIndex={-1}
      aria-orientation="vertical"
      aria-label={`Width of ${column}`}
      aria-valuenow={widthPx}
      aria-valuemin={LEAST_WIDTH_PX}
      aria-valuemax={MOST_WIDTH_PX}
      onPointerDown={drag}
      onKeyDown={({ key }) => {
        if (key === 'ArrowLeft') setWidth(set, column, widthPx - STEP_PX)
        if (key === 'ArrowRight') setWidth(set, column, widthPx + STEP_PX)
      }}
    />
  )
}

interface HeaderCellProps {
  readonly context: RowsContext
  readonly columns: readonly RowColumn[]
  readonly index: number
  readonly layout: Layout
  readonly isActive: boolean
}

const SLIP_PX = 6

/** A header that is dragged onto another one. A finger scrolls the table instead. */
function useDrag(drop: (onto: string) => void) {
  const isDragged = useRef(false)
  const start = (event: PointerEvent) => {
    isDragged.current = false
    if (event.button !== 0 || event.pointerType === 'touch') return
    const fromPx = event.clientX
    const leaving = new AbortController()
    const { signal } = leaving
    let target: HTMLElement | null = null
    const move = ({ clientX, clientY }: PointerEvent) => {
      if (Math.abs(clientX - fromPx) > SLIP_PX) isDragged.current = true
      if (!isDragged.current) return
      target?.classList.remove('drop')
      const under = document.elementFromPoint(clientX, clientY)
      target = under?.closest<HTMLElement>('th[data-name]') ?? null
      target?.classList.add('drop')
    }
    const end = () => {
      leaving.abort()
      target?.classList.remove('drop')
      const onto = target?.dataset['name']
      if (onto !== undefined) drop(onto)
    }
    addEventListener('pointermove', move, { signal })
    addEventListener('pointerup', end, { signal })
    addEventListener('pointercancel', () => leaving.abort(), { signal })
  }
  return { start, wasDragged: () => isDragged.current }
}
