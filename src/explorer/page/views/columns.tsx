import type { ViewProps } from '../page.ts'

export function ColumnsView(_props: ViewProps<'columns'>) {
  return <p>Columns</p>
}
