// GET /metrics of the admin port.

import type { EventBuffer } from '../buffer/buffer.ts'
import type { ModelName } from '../core/names.ts'
import {
  byLabel,
  familyWriter,
  histogramSamples,
  memorySamples,
  type Sample,
} from '../http/prometheus.ts'
import type { Health } from './health.ts'
import type { Traffic } from './traffic.ts'

const family = familyWriter('eider_collect')

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
  const count = (counts: ReadonlyMap<ModelName, number>) =>
    perTarget(({ target }) => counts.get(target) ?? 0)
  return [
    family('events_total', 'counter', 'Events accepted', count(totals.events)),
    family('bytes_total', 'counter', 'Bytes of accepted events on disk', count(totals.bytes)),
    family(
      'requests_total',
      'counter',
      'Answers of the public port',
      byLabel('status', totals.requests),
    ),
    family('refused_total', 'counter', 'Requests refused', byLabel('code', totals.refused)),
    family(
      'commit_seconds',
      'histogram',
      'Time to write and sync a group of requests',
      histogramSamples(totals.commits),
    ),
    family(
      'repeats_total',
      'counter',
      'Repeated requests, recognized by their Idempotency-Key',
      count(repeats),
    ),
    family(
      'backlog_events',
      'gauge',
      'Events that no run has flushed',
      perTarget((t) => t.events),
    ),
    family(
      'backlog_bytes',
      'gauge',
      'Bytes on disk of events that no run has flushed',
      perTarget((t) => t.bytes),
    ),
    family(
      'oldest_seconds',
      'gauge',
      'Age of the oldest event that no run has flushed',
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
    family('writable', 'gauge', '1 while events are accepted', [
      [{}, Number(health.status === 'ok')],
    ]),
    family('models_stale', 'gauge', '1 while the models on disk have errors', [
      [{}, Number(health.models === 'stale')],
    ]),
    family('disk_free_bytes', 'gauge', 'Free space on the disk of the buffer', [
      [{}, health.disk_free_bytes],
    ]),
    family('memory_bytes', 'gauge', 'Memory of the process', memorySamples()),
  ].join('')
}

const age = (oldest: string | null) =>
  oldest === null ? 0 : Math.max(0, (Date.now() - Date.parse(oldest)) / 1000)
