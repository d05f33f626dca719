import { useState } from 'preact/hooks'
import { moveColumn } from '../address/order.ts'
import type { RowColumn } from './columns.ts'
import type { HeaderCellProps } from './header-props.ts'
import { HeaderMenu } from './header-menu.tsx'
import { ResizeHandle } from './resize-handle.tsx'
import { show, sortBy } from './table-actions.ts'
import { useDrag } from './use-drag.ts'

export function HeaderCell(props: HeaderCellProps) {
  const { context, column, shown, index, orders, widthPx, stickyPx, isActive } = props
  const [isOpen, setIsOpen] = useState(false)
  const at = orders.findIndex(({ by }) => by === column.name)
  const direction = at === -1 ? undefined : orders[at]!.descending ? 'descending' : 'ascending'
  const { options } = context.state
  const drag = useDrag((onto) => {
    const moved = moveColumn(shown, column.name, onto)
    if (moved !== shown) context.change(show(options, moved, context.allColumns))
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
      class={`${column.isNumber ? 'number' : ''}${stickyPx === undefined ? '' : ' pinned'}`}
      style={{ width: `${widthPx}px`, left: stickyPx === undefined ? undefined : `${stickyPx}px` }}
    >
      <div class="header-cell">
        <button
          type="button"
          class="sort"
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
        </button>
        <button
          type="button"
          class="menu-opener"
          tabIndex={-1}
          aria-label={`Menu of ${column.name}`}
          aria-expanded={isOpen}
          onClick={() => setIsOpen(!isOpen)}
        >
          ▾
        </button>
      </div>
      {isOpen && <HeaderMenu {...props} onClose={() => setIsOpen(false)} />}
      <ResizeHandle set={context.set.name} column={column.name} widthPx={widthPx} />
    </th>
  )
}

function titleOf({ property, isSortable }: RowColumn): string {
  const type = property === undefined ? '' : typeName(property.edm, property.isList)
  const how = isSortable ? 'click to sort, Shift for a second column' : 'has no order'
  return [property?.description, type, how].filter(Boolean).join('\n')
}

function typeName(edm: string, isList: boolean): string {
  const name = edm === 'Edm.Untyped' ? 'struct' : edm.replace('Edm.', '')
  return isList ? `list of ${name}` : name
}
