import type { ViewProps } from '../page.ts'

export function RunView(_props: ViewProps<'run'>) {
  return <p>Run</p>
}
