// A run for people: one line while it works, on a terminal only, and a summary at its end.

import type { ModelResult, Orphan, Progress, RunEvent } from '../core/report/progress.ts'
import { orphanLines } from './show-orphans.ts'
import type { Paint } from './paint.ts'

export interface RunTotals {
  readonly ok: boolean
  readonly ms: number
  readonly flushed: readonly {
    readonly model: string
    readonly events: number
    readonly rejected: number
  }[]
  readonly models: readonly ModelResult[]
  readonly snapshot: { readonly id: string; readonly changed: boolean } | null
  readonly orphans: readonly Orphan[]
}

const CLEAR_LINE = '\r\u001b[2K'

/** Redraws one line of `terminal` for each event; draws nothing when it is no terminal. */
export function drawProgress(terminal: NodeJS.WriteStream): Progress {
  if (!terminal.isTTY) return () => {}
  let total = 0
  let done = 0
  const building = new Set<string>()
  return (event) => {
    if (event.event === 'run-started' || event.event === 'models-selected') total = event.models
    if (event.event === 'model-started') building.add(event.model)
    if (event.event === 'model-finished') {
      done++
      building.delete(event.model)
    }
    const line = progressLine(event, `[${done}/${total}]`, building)
    if (line !== null)
      terminal.write(CLEAR_LINE + line.slice(0, Math.max(20, terminal.columns - 1)))
  }
}

function progressLine(
  event: RunEvent,
  progress: string,
  building: ReadonlySet<string>,
): string | null {
  switch (event.event) {
    case 'flush-started':
      return `flushing ${event.model} (${count(event.events, 'event')})`
    case 'model-started':
    case 'model-finished':
      return building.size === 0 ? null : `${progress} building ${[...building].join(', ')}`
    case 'run-finished':
      return ''
    default:
      return null
  }
}

/** With `quiet` the totals, and what somebody may have to look at. */
export function showSummary(run: RunTotals, paint: Paint, options: { quiet: boolean }): string {
  const { quiet } = options
  const flushed = run.flushed.filter(
    ({ events, rejected }) => rejected > 0 || (events > 0 && !quiet),
  )
  const models = run.models.filter((model) => !quiet || isNotable(model))
  const width = Math.max(0, ...[...flushed, ...models].map(({ model }) => model.length))
  const lines = [
    ...flushed.map((flush) => flushLine(flush, width)),
    ...models.flatMap((model) => [
      modelLine(model, width, paint),
      ...(model.warnings ?? []).map((warning) => `warning    ${warning}`),
    ]),
    ...(quiet ? [] : orphanLines(run.orphans, width)),
    ...(quiet ? [] : snapshotLines(run.snapshot)),
    totalLine(run, paint),
  ]
  return lines.join('\n')
}

const isNotable = ({ status, warnings = [] }: ModelResult) =>
  status === 'failed' || status === 'skipped' || warnings.length > 0

function flushLine(
  { model, events, rejected }: RunTotals['flushed'][number],
  width: number,
): string {
  const aside = rejected === 0 ? '' : `, ${rejected} rejected (see _eider.rejected_events)`
  return `flushed    ${model.padEnd(width)}  ${count(events, 'event')}${aside}`
}

const styleOfStatus = {
  built: 'green',
  unchanged: 'dim',
  failed: 'red',
  skipped: 'yellow',
} as const

function modelLine(result: ModelResult, width: number, paint: Paint): string {
  const { model, status, because, rows, ms } = result
  const head = `${paint(styleOfStatus[status], status.padEnd(10))} ${model.padEnd(width)}`
  if (status !== 'built') return `${head}  ${because}`
  const size = rows === undefined ? '' : `${count(rows, 'row')}, `
  return `${head}  ${size}${duration(ms)} (${because})`
}

function snapshotLines(snapshot: RunTotals['snapshot']): string[] {
  if (snapshot === null) return []
  return [`${snapshot.changed ? 'published ' : 'unchanged '} snapshot ${snapshot.id}`]
}

function totalLine({ ok, models, ms }: RunTotals, paint: Paint): string {
  const counts = (['built', 'unchanged', 'failed', 'skipped'] as const)
    .map((status) => ({ status, n: models.filter((model) => model.status === status).length }))
    .filter(({ n }) => n > 0)
    .map(({ status, n }) => `${n} ${status}`)
  const warnings = models.reduce((n, model) => n + (model.warnings?.length ?? 0), 0)
  if (warnings > 0) counts.push(count(warnings, 'warning'))
  const outcome = ok ? paint('green', 'ok') : paint('red', 'failed')
  return `${outcome}: ${counts.join(', ') || 'no models'} in ${duration(ms)}`
}

// Not by toLocaleString(), which takes longer to get ready than a small model to build.
const grouped = (n: number) => String(n).replace(/\B(?=(\d{3})+$)/g, ',')
const count = (n: number, noun: string) => `${grouped(n)} ${noun}${n === 1 ? '' : 's'}`
const duration = (ms: number) =>
  ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
