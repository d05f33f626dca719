// GET /metrics of the service.

import {
  byLabel,
  familyWriter,
  histogramSamples,
  memorySamples,
  type Sample,
} from '../../http/prometheus.ts'
import type { Answers } from './answers.ts'
import type { Admission, OpenStreams } from '../engine/admission.ts'
import type { Snapshots } from '../engine/current-snapshot.ts'
import type { RowsByKey } from '../engine/rows-by-key.ts'
import type { ODataTraffic } from './traffic.ts'

export interface MetricSources {
  readonly snapshots: Snapshots
  readonly admission: Admission
  readonly streams: OpenStreams
  readonly answers: Answers
  readonly rowsByKey: RowsByKey
  readonly traffic: ODataTraffic
}

const family = familyWriter('eider_odata')
const one = (value: number): readonly Sample[] => [[{}, value]]

export function odataMetrics(sources: MetricSources): string {
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
    family(
      'open_requests',
      'gauge',
      'Requests whose answer is not complete yet',
      one(traffic.open),
    ),
    family('rows_total', 'counter', 'Rows in answers', one(traffic.rows)),
    family('bytes_total', 'counter', 'Bytes of bodies sent', one(traffic.bytes)),
    family('running_queries', 'gauge', 'Queries running in DuckDB', one(running)),
    family('waiting_queries', 'gauge', 'Queries waiting to run', one(waiting)),
    family('open_streams', 'gauge', 'Large answers being sent', one(streams.count)),
    family(
      'refused_queries_total',
      'counter',
      'Queries rejected because the queue was full',
      one(refused),
    ),
    family('cache_hits_total', 'counter', 'Answers served from the cache', one(hits)),
    family('cache_misses_total', 'counter', 'Answers that were not in the cache', one(misses)),
    family('cache_entries', 'gauge', 'Answers in the cache', one(entries)),
    family('cache_bytes', 'gauge', 'Memory used by the cache', one(bytes)),
    family('row_files', 'gauge', 'Files with rows for lookups by key', one(rows.files)),
    family('row_file_bytes', 'gauge', 'Disk that they take', one(rows.bytes)),
    family('row_file_lookups_total', 'counter', 'Lookups answered from them', one(rows.found)),
    snapshotFamilies(snapshots),
    family('memory_bytes', 'gauge', 'Memory of the process', memorySamples()),
  ].join('')
}

function snapshotFamilies({ published, isRefused, opened }: Snapshots): string {
  const age = published === null ? [] : one((Date.now() - published.publishedAt.getTime()) / 1000)
  const info: readonly Sample[] = published === null ? [] : [[{ id: published.id }, 1]]
  return [
    family('snapshot_info', 'gauge', 'The snapshot that is served', info),
    family('snapshot_age_seconds', 'gauge', 'Time since it was published', age),
    family('snapshots_opened_total', 'counter', 'Snapshots opened', one(opened)),
    family(
      'snapshot_stale',
      'gauge',
      '1 while the newest is damaged or cannot be opened',
      one(Number(isRefused)),
    ),
  ].join('')
}

/** GET /health. `stale`: the newest snapshot is damaged or cannot be opened. `failed`: the same, and there is none before it. */
export function health({ published, isRefused }: Snapshots) {
  const status = !isRefused ? 'ok' : published === null ? 'failed' : 'stale'
  return {
    status,
    snapshot: published?.id ?? null,
    published_at: published?.publishedAt.toISOString() ?? null,
    run_id: published?.runId ?? null,
  }
}
