import { useState } from 'preact/hooks'
import type { RowColumn } from './columns.ts'
import type { HeaderCellProps } from './header-props.ts'
import { HeaderMenu } from './header-menu.tsx'
import { ResizeHandle } from './resize-handle.tsx'
import { sortBy } from './table-actions.ts'

export function HeaderCell(props: HeaderCellProps) {
  const { context, column, index, orders, widthPx, stickyPx, isActive } = props
  const [isOpen, setIsOpen] = useState(false)
  const at = orders.findIndex(({ by }) => by === column.name)
  const direction = at === -1 ? undefined : orders[at]!.descending ? 'descending' : 'ascending'
  const sort = (event: MouseEvent) => {
    if (!column.isSortable) return
    context.change(sortBy(context.state.options, column.name, event.shiftKey))
  }
  return (
    <th
      scope="col"
      aria-sort={direction}
      aria-colindex={index + 1}
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
