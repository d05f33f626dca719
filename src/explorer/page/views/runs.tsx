import type { ViewProps } from '../page.ts'

export function RunsView(_props: ViewProps<'runs'>) {
  return <p>Runs</p>
}
