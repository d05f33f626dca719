// The plan of a model for people: one line for each operator, what it reads below it.

import type { ExplainedPlan } from '../core/report/explained-plan.ts'
import { byteText } from './byte-text.ts'
import { cut } from './cells.ts'
import { showRows } from './show-rows.ts'
import { duration } from './run-lines.ts'

const DETAILS_COLUMNS = 80

export function showExplained({ operators, analyzed }: ExplainedPlan): string {
  const total = operators.reduce((sum, { ms }) => sum + (ms ?? 0), 0)
  const rows = operators.map((operator) => ({
    operator: `${'  '.repeat(operator.depth)}${operator.name}`,
    estimated: operator.estimated_rows,
    ...(analyzed === null
      ? {}
      : {
          rows: operator.rows,
          ms: operator.ms,
          share: total === 0 ? '' : `${Math.round((100 * (operator.ms ?? 0)) / total)}%`,
        }),
    details: cut(operator.details, DETAILS_COLUMNS),
  }))
  const columns = [
    'operator',
    'estimated',
    ...(analyzed === null ? [] : ['rows', 'ms', 'share']),
    'details',
  ]
  const table = showRows(columns, rows, 'table')
  if (analyzed === null) return table
  const { ms, cpu_ms: cpu, peak_memory_bytes: memory, spilled_bytes: spilled } = analyzed
  const read = analyzed.rows_scanned.toLocaleString('en')
  return `${table}\n\n${duration(ms)}, ${duration(cpu)} of CPU time; ${read} rows read, peak memory ${byteText(memory)}, ${byteText(spilled)} spilled`
}
