import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

interface MenuProps {
  readonly name: string
  /** Said after the name, such as how many are chosen. */
  readonly after?: string
  readonly children: ComponentChildren
}

/** What is used now and then, behind a button. Escape and a click elsewhere close it, as they do any menu. */
export function Menu({ name, after = '', children }: MenuProps) {
  const menu = useRef<HTMLDetailsElement>(null)
  useEffect(() => {
    const away = ({ target }: Event) => {
      const isInside = target instanceof Node && menu.current?.contains(target) === true
      // What was clicked may be gone by now: it was inside then.
      if (menu.current && !isInside && target instanceof Node && target.isConnected)
        menu.current.open = false
    }
    document.addEventListener('click', away)
    return () => document.removeEventListener('click', away)
  }, [])
  return (
    <details
      ref={menu}
      class="popover"
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !menu.current?.open) return
        event.stopPropagation()
        menu.current.open = false
        menu.current.querySelector('summary')?.focus()
      }}
    >
      <summary class="button">
        {name} {after}
      </summary>
      <div class="popover-inside" role="group" aria-label={name}>
        {children}
      </div>
    </details>
  )
}
