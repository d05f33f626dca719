// Light, dark, or what the system says. One of the two things that the page keeps in the browser.

import { state } from './state.ts'
import { useValue } from './use-value.ts'

type Theme = 'system' | 'light' | 'dark'

const KEY = 'eider-theme'
const NEXT: Readonly<Record<Theme, Theme>> = { system: 'light', light: 'dark', dark: 'system' }
const SIGNS: Readonly<Record<Theme, string>> = { system: '◐', light: '☀', dark: '☾' }

const theme = state<Theme>('system')

/** Changes whenever pictures that are drawn, not styled, need new colours. */
export const colours = state(0)

export function applyTheme(): void {
  theme.value = stored()
  show()
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => colours.value++)
}

export function ThemeButton() {
  const current = useValue(theme)
  const name = `Colours: ${current}`
  return (
    <button type="button" class="button quiet" aria-label={name} title={name} onClick={choose}>
      {SIGNS[current]}
    </button>
  )
}

function choose(): void {
  theme.value = NEXT[theme.value]
  try {
    if (theme.value === 'system') localStorage.removeItem(KEY)
    else localStorage.setItem(KEY, theme.value)
  } catch {
    // A browser that keeps nothing forgets it with the page.
  }
  show()
}

function show(): void {
  const root = document.documentElement
  if (theme.value === 'system') delete root.dataset['theme']
  else root.dataset['theme'] = theme.value
  colours.value++
}

function stored(): Theme {
  try {
    const value = localStorage.getItem(KEY)
    return value === 'light' || value === 'dark' ? value : 'system'
  } catch {
    return 'system'
  }
}
