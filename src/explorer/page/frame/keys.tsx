import { state } from '../parts/state.ts'
import { useListener, useValue } from '../parts/use-value.ts'
import { useRef } from 'preact/hooks'
import { setOf, type Route } from '../address/route.ts'
import { groupSets } from '../model/groups.ts'
import { Dialog } from '../parts/dialog.tsx'
import { usePage, type Page } from '../page.ts'

export const helpIsOpen = state(false)

/** People who speak to the machine, or hit keys by accident, switch single letters off (WCAG 2.1.4). */
const lettersAreOn = state(true)

const KEYS: readonly (readonly [string, string])[] = [
  ['/', 'Search'],
  ['g h', 'All sets'],
  ['g l', 'Lineage'],
  ['g r', 'Runs'],
  ['j  k', 'Next set, set before'],
  ['f', 'Filter'],
  ['c', 'Copy the request'],
  ['?', 'This list'],
  ['Esc', 'Close, and back to where you were'],
  ['← ↑ → ↓', 'Move in the table'],
  ['Shift ← →', 'Move the column, on its header'],
  ['Enter', 'The whole value'],
  ['Shift Enter', 'Filter by this value'],
]

export function Keys({ route }: { route: Route }) {
  const page = usePage()
  // Two letters make a command when the second follows soon.
  const first = useRef<{ letter: string; at: number } | null>(null)
  useListener('keydown', (event) => {
    if (!isForPage(event)) return
    const before = first.current
    first.current = { letter: event.key, at: event.timeStamp }
    const isSecond = before?.letter === 'g' && event.timeStamp - before.at < 1_500
    if (act(event.key, isSecond, page, route)) event.preventDefault()
  })
  return useValue(helpIsOpen) ? <Help /> : null
}

function Help() {
  return (
    <Dialog title="Keys" onClose={() => (helpIsOpen.value = false)}>
      <dl class="keys">
        {KEYS.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <label class="check">
        <input
          type="checkbox"
          checked={useValue(lettersAreOn)}
          onChange={(event) => (lettersAreOn.value = event.currentTarget.checked)}
        />
        Keys of a single letter work (until the page is loaded again)
      </label>
    </Dialog>
  )
}

function isForPage(event: KeyboardEvent): boolean {
  if (!lettersAreOn.value || event.defaultPrevented) return false
  if (event.metaKey || event.ctrlKey || event.altKey) return false
  if (document.querySelector('dialog[open]') !== null) return false
  const target = event.target instanceof Element ? event.target : null
  return target?.closest('input, textarea, select, [contenteditable]') === null
}

function act(key: string, isSecond: boolean, page: Page, route: Route): boolean {
  if (isSecond) {
    const to = { h: 'home', l: 'lineage', r: 'runs' }[key]
    if (to === 'home' || to === 'runs') page.navigate({ view: to })
    else if (to === 'lineage') page.navigate({ view: 'lineage', query: '' })
    return to !== undefined
  }
  if (key === 'j' || key === 'k') return goToSet(page, setOf(route), key === 'j' ? 1 : -1)
  if (key === '?') {
    helpIsOpen.value = true
    return true
  }
  const place = { '/': '[data-key="/"]', f: '[data-key="f"]', c: '.request-bar .copy' }[key]
  const element = place === undefined ? null : document.querySelector<HTMLElement>(place)
  if (element === null) return false
  element.focus()
  if (key !== '/') element.click()
  return true
}

function goToSet(page: Page, current: string | undefined, step: 1 | -1): boolean {
  const names = groupSets(page.schema, page.catalog).flatMap(({ sets }) =>
    sets.map(({ name }) => name),
  )
  const at = current === undefined ? (step === 1 ? -1 : names.length) : names.indexOf(current)
  const set = names[at + step]
  if (set !== undefined) page.navigate({ view: 'rows', set, query: '' })
  return true
}
