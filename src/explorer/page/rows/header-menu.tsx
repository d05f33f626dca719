import { useEffect, useRef } from 'preact/hooks'
import { startFilter } from './filter-editing.ts'
import type { HeaderCellProps } from './header-props.ts'
import { hide, move, pinnedCount, sortExactly, togglePin } from './table-actions.ts'
import type { Options } from '../address/options.ts'

type Item = readonly [label: string, act: () => void]

/** What can be done with a column. Arrows move, Escape closes. */
export function HeaderMenu(props: HeaderCellProps & { readonly onClose: () => void }) {
  const { column, onClose } = props
  const menu = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const opener = menu.current?.closest('th')?.querySelector<HTMLElement>('.sort')
    menu.current?.querySelector<HTMLElement>('button')?.focus()
    const outside = (event: Event) => {
      if (event.target instanceof Node && !menu.current?.contains(event.target)) onClose()
    }
    addEventListener('pointerdown', outside)
    return () => {
      removeEventListener('pointerdown', outside)
      if (document.activeElement === document.body) opener?.focus()
    }
  }, [])
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
        <button
          key={label}
          type="button"
          role="menuitem"
          tabIndex={-1}
          onClick={() => {
            onClose()
            act()
          }}
        >
          {label}
        </button>
      ))}
    </div>
  )
}

function itemsOf({ context, column, shown, index }: HeaderCellProps): readonly Item[] {
  const { state, allColumns, change } = context
  const { options } = state
  const { name, property } = column
  const to = (next: Options) => () => change(next)
  const isPinned = index < pinnedCount(options)
  const sorting: readonly Item[] = [
    ['Sort ascending', to(sortExactly(options, name, false))],
    ['Sort descending', to(sortExactly(options, name, true))],
  ]
  const placing: readonly Item[] = [
    ...(shown.length > 1 ? [['Hide', to(hide(options, shown, allColumns, name))] as const] : []),
    [
      isPinned ? 'Let it scroll' : 'Keep it at the left',
      to(togglePin(options, shown, allColumns, name)),
    ],
    ...(index > 0 ? [['Move left', to(move(options, shown, allColumns, name, -1))] as const] : []),
    ...(index < shown.length - 1
      ? [['Move right', to(move(options, shown, allColumns, name, 1))] as const]
      : []),
  ]
  return [
    ...(column.isSortable ? sorting : []),
    ...(property === undefined ? [] : [['Filter …', () => startFilter(name)] as const, ...placing]),
  ]
}
