// GET /metrics of the admin port.

import type { EventBuffer } from '../buffer/buffer.ts'
import type { ModelName } from '../core/names.ts'
import {
  byLabel,
  type Family,
  familyMaker,
  histogramSamples,
  memorySamples,
  metricsText,
  type MetricSample,
} from '../http/prometheus.ts'
import type { Health } from './health.ts'
import type { Traffic } from './traffic.ts'

const family = familyMaker('eider_collect')

export async function writeMetrics(
  buffer: EventBuffer,
  health: Health,
  { totals }: Traffic,
): Promise<string> {
  const claims = await Promise.all(health.targets.map(({ target }) => buffer.inflight(target)))
  const stats = [...buffer.stats().targets]
  const repeats = new Map(stats.map(([target, queue]) => [target, queue.repeats]))
  return metricsText([
    ...trafficFamilies(health, totals, repeats),
    ...backlogFamilies(
      health,
      claims.map(({ length }) => length),
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
  ])
}

/** Samples of a family that has one for each target. */
const perTarget = (
  { targets }: Health,
  value: (target: Health['targets'][number], index: number) => number,
) => targets.map((target, i): MetricSample => [{ target: target.target }, value(target, i)])

function trafficFamilies(
  health: Health,
  { events, bytes, requests, refused, commits }: Traffic['totals'],
  repeats: ReadonlyMap<ModelName, number>,
): readonly Family[] {
  const count = (counts: ReadonlyMap<ModelName, number>) =>
    perTarget(health, ({ target }) => counts.get(target) ?? 0)
  const answered = byLabel('status', requests)
  const commitTime = 'Time to write and sync a group of requests'
  const repeated = 'Repeated requests, recognized by their Idempotency-Key'
  return [
    family('events_total', 'counter', 'Events accepted', count(events)),
    family('bytes_total', 'counter', 'Bytes of accepted events on disk', count(bytes)),
    family('requests_total', 'counter', 'Answers of the public port', answered),
    family('refused_total', 'counter', 'Requests refused', byLabel('code', refused)),
    family('commit_seconds', 'histogram', commitTime, histogramSamples(commits)),
    family('repeats_total', 'counter', repeated, count(repeats)),
  ]
}

function backlogFamilies(health: Health, claims: readonly number[]): readonly Family[] {
  const gauge = (name: string, help: string, value: Parameters<typeof perTarget>[1]) =>
    family(name, 'gauge', help, perTarget(health, value))
  return [
    gauge('backlog_events', 'Events that no run has flushed', (t) => t.events),
    gauge('backlog_bytes', 'Bytes on disk of events that no run has flushed', (t) => t.bytes),
    gauge('oldest_seconds', 'Age of the oldest event that no run has flushed', (t) =>
      age(t.oldest),
    ),
    gauge('inflight_events', 'Events in open claims', (t) => t.inflight),
    gauge('inflight_claims', 'Open claims', (_, index) => claims[index]!),
  ]
}

const age = (oldest: string | null) =>
  oldest === null ? 0 : Math.max(0, (Date.now() - Date.parse(oldest)) / 1000)
