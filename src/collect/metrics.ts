// GET /metrics of the admin port: the text format of Prometheus, version 0.0.4.

import type { EventBuffer } from '../buffer/buffer.ts'
import type { ModelName } from '../core/names.ts'
import type { Health } from './health.ts'
import { COMMIT_BUCKETS, type Traffic } from './traffic.ts'

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

type Labels = Readonly<Record<string, string | number>>
type Sample = readonly [labels: Labels, value: number, suffix?: string]

export async function writeMetrics(
  buffer: EventBuffer,
  health: Health,
  { totals }: Traffic,
): Promise<string> {
  const { targets } = health
  const perTarget = (value: (target: Health['targets'][number]) => number) =>
    targets.map((target): Sample => [{ target: target.target }, value(target)])
  const claims = await Promise.all(targets.map(({ target }) => buffer.inflight(target)))
  const stats = [...buffer.stats().targets]
  const repeats = new Map(stats.map(([target, queue]) => [target, queue.repeats]))
  const memory = process.memoryUsage()
  const count = (counts: ReadonlyMap<ModelName, number>) =>
    perTarget(({ target }) => counts.get(target) ?? 0)
  return [
    family('events_total', 'counter', 'Events accepted', count(totals.events)),
    family('bytes_total', 'counter', 'Bytes of accepted events on disk', count(totals.bytes)),
    family(
      'requests_total',
      'counter',
      'Answers of the public port',
      byKey('status', totals.requests),
    ),
    family(
      'repeats_total',
      'counter',
      'Requests that an earlier one with the same Idempotency-Key had stored',
      count(repeats),
    ),
    family('refused_total', 'counter', 'Requests refused', byKey('code', totals.refused)),
    family('commit_seconds', 'histogram', 'Write and sync of a group', histogram(totals.commits)),
    family(
      'backlog_events',
      'gauge',
      'Events that no run has flushed',
      perTarget((t) => t.events),
    ),
    family(
      'backlog_bytes',
      'gauge',
      'Their bytes on disk',
      perTarget((t) => t.bytes),
    ),
    family(
      'oldest_seconds',
      'gauge',
      'Age of the oldest of them',
      perTarget((t) => age(t.oldest)),
    ),
    family(
      'inflight_events',
      'gauge',
      'Events in open claims',
      perTarget((t) => t.inflight),
    ),
    family(
      'inflight_claims',
      'gauge',
      'Open claims',
      targets.map(({ target }, i) => [{ target }, claims[i]!.length]),
    ),
    family('writable', 'gauge', '1 while events are taken', [[{}, Number(health.status === 'ok')]]),
    family('models_stale', 'gauge', '1 while the models on disk have mistakes', [
      [{}, Number(health.models === 'stale')],
    ]),
    family('disk_free_bytes', 'gauge', 'Room on the disk of the buffer', [
      [{}, health.disk_free_bytes],
    ]),
    family('memory_bytes', 'gauge', 'Memory of the process', [
      [{ of: 'resident' }, memory.rss],
      [{ of: 'heap' }, memory.heapUsed],
      [{ of: 'buffers' }, memory.arrayBuffers],
    ]),
  ].join('')
}

function family(name: string, type: string, help: string, samples: readonly Sample[]): string {
  const full = `eider_collect_${name}`
  const lines = samples.map(
    ([labels, value, suffix = '']) => `${full}${suffix}${labelText(labels)} ${value}\n`,
  )
  return `# HELP ${full} ${help}.\n# TYPE ${full} ${type}\n${lines.join('')}`
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escape(String(value))}"`)
  return pairs.length === 0 ? '' : `{${pairs.join()}}`
}

const escape = (text: string) =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')

const byKey = (label: string, counts: ReadonlyMap<string | number, number>) =>
  Array.from(counts, ([key, value]): Sample => [{ [label]: key }, value])

function histogram({ counts, seconds }: Traffic['totals']['commits']): readonly Sample[] {
  let sum = 0
  const buckets = [...COMMIT_BUCKETS, '+Inf'].map((le, i): Sample => {
    sum += counts[i]!
    return [{ le }, sum, '_bucket']
  })
  return [...buckets, [{}, seconds, '_sum'], [{}, sum, '_count']]
}

const age = (oldest: string | null) =>
  oldest === null ? 0 : Math.max(0, (Date.now() - Date.parse(oldest)) / 1000)
