// The plan of a model for people: one line for each operator, what it reads below it.

import { byteText } from './byte-text.ts'
import { cut } from './cells.ts'
import { showRows } from './show-rows.ts'
import { duration } from './run-lines.ts'

interface ShownOperator {
  readonly depth: number
  readonly name: string
  readonly details: string
  readonly estimated_rows: number | null
  readonly rows: number | null
  readonly ms: number | null
}

interface ShownPlan {
  readonly operators: readonly ShownOperator[]
  readonly analyzed: {
    readonly ms: number
    readonly cpu_ms: number
    readonly peak_memory_bytes: number
    readonly spilled_bytes: number
    readonly rows_scanned: number
  } | null
}

const DETAILS_COLUMNS = 80

export function showExplained({ operators, analyzed }: ShownPlan): string {
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
  return `${table}\n\n${duration(ms)}, ${duration(cpu)} of processor time; ${read} rows read, ${byteText(memory)} of memory at most, ${byteText(spilled)} spilled`
}
