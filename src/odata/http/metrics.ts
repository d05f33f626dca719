// GET /metrics of the service.

import type { ServiceContext } from '../answer/context.ts'
import {
  byLabel,
  type Family,
  familyMaker,
  histogramSamples,
  memorySamples,
  type MetricSample,
  add,
  createHistogram,
} from '../../http/prometheus.ts'
import type { Answers } from './answers.ts'
import type { Freshness, SetsFreshness } from '../engine/freshness.ts'
import type { Snapshots } from '../engine/current-snapshot.ts'

export interface MetricSources extends Pick<
  ServiceContext,
  'snapshots' | 'admission' | 'streams' | 'rowsByKey'
> {
  readonly answers: Answers
  readonly traffic: ODataTraffic
  readonly freshness: Freshness
}

const family = familyMaker('eider_odata')
const one = (value: number): readonly MetricSample[] => [[{}, value]]
const counter = (name: string, help: string, value: number) =>
  family(name, 'counter', help, one(value))
const gauge = (name: string, help: string, value: number) => family(name, 'gauge', help, one(value))
/** What is no sum where several processes have one. */
const shared = (name: string, help: string, samples: readonly MetricSample[]) =>
  family(name, 'gauge', help, samples, 'most')

export async function odataMetrics(sources: MetricSources): Promise<readonly Family[]> {
  const { snapshots, admission, streams, answers, rowsByKey, traffic } = sources
  const { running, waiting, refused } = admission.load
  const { hits, misses, entries, bytes } = answers.stats()
  const rows = rowsByKey.stats()
  const { requests } = traffic
  return [
    family('requests_total', 'counter', 'Requests answered', byLabel('status', requests)),
    family('refused_total', 'counter', 'Requests refused', byLabel('code', traffic.refused)),
    family(
      'request_seconds',
      'histogram',
      'Time from a request to the end of its answer',
      histogramSamples(traffic.times),
    ),
    gauge('open_requests', 'Requests whose answer is not complete yet', traffic.open),
    counter('rows_total', 'Rows in answers', traffic.rows),
    counter('bytes_total', 'Bytes of bodies sent', traffic.bytes),
    gauge('running_queries', 'Queries running in DuckDB', running),
    gauge('waiting_queries', 'Queries waiting to run', waiting),
    gauge('open_streams', 'Large answers being sent', streams.count),
    counter('refused_queries_total', 'Queries rejected because the queue was full', refused),
    counter('cache_hits_total', 'Answers served from the cache', hits),
    counter('cache_misses_total', 'Answers that were not in the cache', misses),
    gauge('cache_entries', 'Answers in the cache', entries),
    gauge('cache_bytes', 'Memory used by the cache', bytes),
    gauge('row_files', 'Files with rows for lookups by key', rows.files),
    gauge('row_file_bytes', 'Disk that they take', rows.bytes),
    counter('row_file_lookups_total', 'Lookups answered from them', rows.found),
    ...snapshotFamilies(snapshots),
    ...freshnessFamilies(await sources.freshness.of(snapshots.published)),
    family('memory_bytes', 'gauge', 'Memory of the process', memorySamples()),
  ]
}

function snapshotFamilies({ published, isRefused, opened }: Snapshots): readonly Family[] {
  const age = published === null ? [] : one((Date.now() - published.publishedAt.getTime()) / 1000)
  const info: readonly MetricSample[] = published === null ? [] : [[{ id: published.id }, 1]]
  return [
    shared('snapshot_info', 'The snapshot that is served', info),
    shared('snapshot_age_seconds', 'Time since it was published', age),
    counter('snapshots_opened_total', 'Snapshots opened', opened),
    shared(
      'snapshot_stale',
      '1 while the newest is damaged or cannot be opened',
      one(Number(isRefused)),
    ),
  ]
}

function oldestOf(sets: SetsFreshness): string {
  const times = Array.from(sets.values(), ({ atMs }) => atMs)
  return new Date(times.reduce((oldest, time) => Math.min(oldest, time))).toISOString()
}

function freshnessFamilies(sets: SetsFreshness): readonly Family[] {
  const help = 'Time since when events may not be in the rows of a set'
  const nowMs = Date.now()
  const behind = Array.from(sets, ([set, { atMs }]): MetricSample => [
    { set },
    Math.max(0, nowMs - atMs) / 1000,
  ])
  const promised = Array.from(sets).flatMap(([set, { withinSeconds }]): readonly MetricSample[] =>
    withinSeconds === null ? [] : [[{ set }, withinSeconds]],
  )
  return [
    shared('freshness_seconds', help, behind),
    shared('fresh_within_seconds', 'What @fresh of the model allows', promised),
  ]
}

/** GET /health. `stale`: the newest snapshot is damaged or cannot be opened. `failed`: the same, and there is none before it. */
export async function health({ snapshots, freshness }: MetricSources) {
  const { published, isRefused } = snapshots
  const fresh = await freshness.of(published)
  const isKnown = fresh.size > 0 && fresh.size === published?.relations.length
  const status = !isRefused ? 'ok' : published === null ? 'failed' : 'stale'
  return {
    status,
    snapshot: published?.id ?? null,
    published_at: published?.publishedAt.toISOString() ?? null,
    run_id: published?.runId ?? null,
    /** How fresh the least fresh set is. null where that is not known for each. */
    fresh_at: isKnown ? oldestOf(fresh) : null,
  }
}

// What the service has answered since it started, as numbers.

/** Upper bounds in seconds: an answer from the cache takes less than the first, the time limit is the last. */
const REQUEST_BUCKETS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
] as const

type ODataTraffic = ReturnType<typeof odataTraffic>

export function odataTraffic() {
  const requests = new Map<number, number>()
  const refused = new Map<string, number>()
  const times = createHistogram(REQUEST_BUCKETS)
  const sums = { open: 0, rows: 0, bytes: 0 }
  return {
    requests,
    /** By code of the error. */
    refused,
    /** From the head of a request to the last byte of its answer. */
    times,
    /** Requests whose answer is not complete yet. */
    get open() {
      return sums.open
    },
    get rows() {
      return sums.rows
    },
    /** Bodies are counted as they were sent. */
    get bytes() {
      return sums.bytes
    },
    begin() {
      sums.open++
    },
    end({ status, ms, rows }: { status: number; ms: number; rows: number }) {
      sums.open--
      sums.rows += rows
      add(requests, status, 1)
      times.observe(ms / 1000)
    },
    refuse(code: string) {
      add(refused, code, 1)
    },
    send(bytes: number) {
      sums.bytes += bytes
    },
  }
}
