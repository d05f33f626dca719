import type { ViewProps } from '../page.ts'

export function RowView(_props: ViewProps<'row'>) {
  return <p>Row</p>
}
