// Where the time of a run went, for people.

import type { RunProfile } from '../core/report/run-profile.ts'
import { grouped } from '../core/counts.ts'
import { byteText } from './byte-text.ts'
import { duration } from './run-lines.ts'
import { showRows } from './show-rows.ts'

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
  const table = showRows(Object.keys(rows[0]!), rows, 'table')
  const left = models.slice(SHOWN)
  if (left.length === 0) return `${table}\n\n${whole}`
  const leftMs = left.reduce((sum, { ms }) => sum + ms, 0)
  return `${table}\nand ${left.length} more, ${duration(leftMs)}\n\n${whole}`
}
