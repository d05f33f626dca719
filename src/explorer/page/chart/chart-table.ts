// The numbers of a chart as a table, and that as CSV (RFC 4180).

import type { ChartData, Label } from './chart-data.ts'

export interface ChartTable {
  readonly head: readonly string[]
  readonly rows: readonly ChartTableRow[]
}

export interface ChartTableRow {
  readonly label: Label
  readonly values: readonly (string | null)[]
}

export function chartTable({ marks, series }: ChartData, x: string, value: string): ChartTable {
  const names = series.length === 1 ? [value] : series.map(({ label }) => label.text)
  return {
    head: [x, ...names],
    rows: marks.map((label, i) => ({
      label,
      values: series.map(({ values }) => values[i] ?? null),
    })),
  }
}

/** As the service writes CSV: null is nothing, an empty text is "", lines end with CR LF. */
export function csvOf({ head, rows }: ChartTable): string {
  const lines = rows.map(({ label, values }) => [
    label.text === 'null' && label.isWord
      ? ''
      : quoted(label.isWord && label.text === 'empty text' ? '' : label.text),
    ...values.map((value) => value ?? ''),
  ])
  return [head.map(quoted), ...lines].map((line) => `${line.join(',')}\r\n`).join('')
}

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`
