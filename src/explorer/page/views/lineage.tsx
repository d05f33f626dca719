import type { ViewProps } from '../page.ts'

export function LineageView(_props: ViewProps<'lineage'>) {
  return <p>Lineage</p>
}
