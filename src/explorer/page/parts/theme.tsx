// Light, dark, or what the system says.

import { Button } from './button.tsx'
import { keptState, useValue } from './use-value.ts'

type Theme = 'system' | 'light' | 'dark'

const KEY = 'eider-theme'
const NEXT: Readonly<Record<Theme, Theme>> = { system: 'light', light: 'dark', dark: 'system' }
const SIGNS: Readonly<Record<Theme, string>> = { system: '◐', light: '☀', dark: '☾' }

const theme = keptState<Theme>(
  KEY,
  (text) => (text === 'light' || text === 'dark' ? text : 'system'),
  (value) => value,
)

export function applyTheme(): void {
  const show = () => {
    const root = document.documentElement
    if (theme.value === 'system') delete root.dataset['theme']
    else root.dataset['theme'] = theme.value
  }
  show()
  theme.listen(show)
}

export function ThemeButton() {
  const current = useValue(theme)
  const name = `Colours: ${current}`
  return (
    <Button
      class="button quiet"
      name={name}
      title={name}
      onClick={() => (theme.value = NEXT[current])}
    >
      {SIGNS[current]}
    </Button>
  )
}
