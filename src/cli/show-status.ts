// `eider collect status` as a table.

import type { CollectStatus, TargetStatus } from '../core/report/collect-status.ts'

const COLUMNS: readonly [title: string, text: (target: TargetStatus) => string][] = [
  ['target', ({ target }) => target],
  ['buffered', ({ buffered }) => String(buffered)],
  ['claimed', ({ claimed }) => String(claimed)],
  ['rejected', ({ rejected }) => String(rejected ?? '?')],
  ['bytes', ({ bytes }) => String(bytes)],
  ['rate/s', ({ rate }) => String(rate ?? '-')],
  ['oldest', ({ oldest }) => oldest ?? '-'],
]

export function showStatus({ daemon, targets, rejected_unknown: unknown }: CollectStatus): string {
  const head = daemon
    ? 'the daemon is running'
    : 'no daemon is running; read from the buffer on disk'
  const notes = unknown === null ? [] : [`rejected events are unknown: ${unknown}`]
  if (targets.length === 0) return [head, 'nothing was collected', ...notes].join('\n')
  const rows = [
    COLUMNS.map(([title]) => title),
    ...targets.map((target) => COLUMNS.map(([, text]) => text(target))),
  ]
  const widths = COLUMNS.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)))
  const isText = (i: number) => i === 0 || i === COLUMNS.length - 1
  const lines = rows.map((row) =>
    row
      .map((cell, i) => (isText(i) ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)))
      .join('  ')
      .trimEnd(),
  )
  return [head, ...lines, ...notes].join('\n')
}
