// Where the time and the memory of a run or of a query went, for people.

import type { RunProfile, ExplainedPlan } from '../core/report/run-profile.ts'
import { grouped } from '../core/counts.ts'
import { duration } from './run-lines.ts'
import { showTable } from './table.ts'
import { cut } from './cells.ts'

/** Models that a table shows; the others are a sum. */
const SHOWN = 20

export function showProfile(profile: RunProfile): string {
  const { models, peak_memory_bytes: memory, spilled_bytes: spilled } = profile
  const parts = [
    ['compile', profile.compile_ms],
    ['flush', profile.flush_ms],
    ['models', profile.models_ms],
    ['publish', profile.publish_ms],
    ['other', profile.other_ms],
  ] as const
  const shares = parts.map(([name, ms]) => `${name} ${duration(ms)}`).join(', ')
  const whole = `${duration(profile.ms)}: ${shares}; peak memory ${byteText(memory)}, ${byteText(spilled)} spilled`
  if (models.length === 0) return whole
  const total = models.reduce((sum, { ms }) => sum + ms, 0)
  const rows = models.slice(0, SHOWN).map((one) => ({
    model: one.model,
    share: `${Math.round((100 * one.ms) / Math.max(total, 0.1))}%`,
    total: duration(one.ms),
    build: duration(one.build_ms),
    checks: one.checks_ms === 0 ? '' : duration(one.checks_ms),
    publish: one.publish_ms === 0 ? '' : duration(one.publish_ms),
    rows: one.rows === null ? '' : grouped(one.rows),
    memory: one.peak_memory_bytes === null ? '' : byteText(one.peak_memory_bytes),
    spilled: one.spilled_bytes === null ? '' : byteText(one.spilled_bytes),
  }))
  const table = showTable(Object.keys(rows[0]!), rows)
  const left = models.slice(SHOWN)
  if (left.length === 0) return `${table}\n\n${whole}`
  const leftMs = left.reduce((sum, { ms }) => sum + ms, 0)
  return `${table}\nand ${left.length} more, ${duration(leftMs)}\n\n${whole}`
}

const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB']

function byteText(bytes: number): string {
  const power = bytes < 1000 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1000 ** power
  return `${power === 0 ? value : value.toPrecision(3)} ${UNITS[power]}`
}

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
  const table = showTable(columns, rows)
  if (analyzed === null) return table
  const { ms, cpu_ms: cpu, peak_memory_bytes: memory, spilled_bytes: spilled } = analyzed
  const read = analyzed.rows_scanned.toLocaleString('en')
  return `${table}\n\n${duration(ms)}, ${duration(cpu)} of CPU time; ${read} rows read, peak memory ${byteText(memory)}, ${byteText(spilled)} spilled`
}
