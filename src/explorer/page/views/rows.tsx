import type { ViewProps } from '../page.ts'

export function RowsView(_props: ViewProps<'rows'>) {
  return <p>Rows</p>
}
