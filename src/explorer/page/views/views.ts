// Which view shows which address. One file a view.

import type { ViewName } from '../address/route.ts'
import type { View } from '../page.ts'
import { ChartView } from './chart.tsx'
import { ColumnsView } from './columns.tsx'
import { ConnectView } from './connect.tsx'
import { HomeView } from './home.tsx'
import { LineageView } from './lineage.tsx'
import { LostView } from './lost.tsx'
import { RowView } from './row.tsx'
import { RowsView } from './rows.tsx'
import { RunView } from './run.tsx'
import { RunsView } from './runs.tsx'

export const views: { readonly [V in ViewName]: View<V> } = {
  home: HomeView,
  rows: RowsView,
  columns: ColumnsView,
  chart: ChartView,
  row: RowView,
  lineage: LineageView,
  runs: RunsView,
  run: RunView,
  connect: ConnectView,
  lost: LostView,
}
