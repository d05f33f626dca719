import type { ViewProps } from '../page.ts'

export function ChartView(_props: ViewProps<'chart'>) {
  return <p>Chart</p>
}
