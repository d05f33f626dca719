// From accepted events on disk to committed rows, ack record included, against the engine reading the same files; by
// claims as the buffer makes them, and by small ones. And the memory that a run takes for it.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import { limits } from '../../src/core/limits.ts'
import { type ModelName, parseModelName } from '../../src/core/names.ts'
import { sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { type Workspace, workspace } from '../support/workspace.ts'
import { type Benchmark, type Figure, interleaved } from './figure.ts'
import { flushAll, type Flushed, openBuffer } from './flush-run.ts'

const target = parseModelName('raw.events') as ModelName
const model = `-- @kind: events
id BIGINT NOT NULL, user_name VARCHAR NOT NULL, action VARCHAR, amount DECIMAL(18,4), ok BOOLEAN, at TIMESTAMPTZ, note VARCHAR`
const GROUP = 1_000

/** Segments of about 10,000 events, where a daemon is flushed often. */
const SMALL_SEGMENT_BYTES = 10 * GROUP * 210
const PEAK_BYTES = 400e6

export const flushBenchmark: Benchmark = {
  name: 'flush',
  async *run({ quick }) {
    const events = quick ? 200_000 : 1_000_000
    const figures: Figure[] = []
    for (const { claims, segmentBytes, atLeast } of [
      { claims: 'claims of 64 MiB', segmentBytes: limits.segmentBytes, atLeast: 1 },
      { claims: 'claims of 10,000 events', segmentBytes: SMALL_SEGMENT_BYTES, atLeast: 0.75 },
    ]) {
      const rates = await interleaved(
        quick ? 1 : 3,
        () => measureRun(events, segmentBytes),
        () => measureEngine(events, segmentBytes),
      )
      figures.push({
        name: `flush, ${claims}, ack records included / DuckDB's own INSERT from read_json`,
        ratio: rates.ours / rates.baseline,
        bound: { at: 'least', ratio: atLeast },
        measured: `${perSecond(rates.ours)} against ${perSecond(rates.baseline)}; ${events.toLocaleString('en-US')} events`,
      })
    }
    // A backlog of any length takes no more memory than one of a few batches.
    const one = await measurePeak(events)
    figures.push({
      name: `peak memory of a run that flushes ${events.toLocaleString('en-US')} events / ${PEAK_BYTES / 1e6} MB`,
      ratio: one / PEAK_BYTES,
      bound: { at: 'most', ratio: 1 },
      measured: `${Math.round(one / 1e6)} MB resident`,
    })
    const three = await measurePeak(3 * events)
    figures.push({
      name: `peak memory of a run that flushes ${(3 * events).toLocaleString('en-US')} events / one that flushes ${events.toLocaleString('en-US')}`,
      ratio: three / one,
      bound: { at: 'most', ratio: 1.25 },
      measured: `${Math.round(three / 1e6)} MB resident`,
    })
    yield* figures
  },
}

async function measureRun(events: number, segmentBytes: number): Promise<number> {
  await using space = await filledBuffer(events, segmentBytes)
  const { flushed, ms } = await flushAll(space.dir)
  if (flushed !== events) throw new Error(`flushed ${flushed} of ${events} events`)
  return (events / ms) * 1000
}

/** In a process of its own, since the buffer was filled by this one. */
async function measurePeak(events: number): Promise<number> {
  await using space = await filledBuffer(events, limits.segmentBytes)
  const child = fork(fileURLToPath(new URL('./flush-run.js', import.meta.url)), [space.dir])
  const [{ flushed, peakBytes }] = (await once(child, 'message')) as [Flushed]
  if (flushed !== events) throw new Error(`flushed ${flushed} of ${events} events`)
  return peakBytes
}

async function measureEngine(events: number, segmentBytes: number): Promise<number> {
  await using space = await filledBuffer(events, segmentBytes)
  await using database = await Database.open({ path: space.path('baseline.duckdb') })
  await using connection = await database.connect()
  await connection.run(
    sql`CREATE TABLE events (id BIGINT, user_name VARCHAR, action VARCHAR, amount DECIMAL(18,4), ok BOOLEAN, "at" TIMESTAMPTZ, note VARCHAR)`,
  )
  const files = sql.value(join(space.path('.eider', 'buffer'), '**', '*'))
  const startedAt = performance.now()
  await connection.transact(() =>
    connection.run(sql`
      INSERT INTO events
      SELECT e.* FROM read_json(${files}, format = 'newline_delimited', records = true, columns = {
        s: 'BIGINT',
        e: 'STRUCT(id BIGINT, user_name VARCHAR, action VARCHAR, amount DECIMAL(18,4), ok BOOLEAN, "at" TIMESTAMPTZ, note VARCHAR)'
      }) WHERE s IS NOT NULL`),
  )
  const ms = performance.now() - startedAt
  const count = await connection.row(sql`SELECT count(*)::INTEGER AS n FROM events`)
  if (count?.['n'] !== events) throw new Error(`the baseline did not read ${events} events`)
  return (events / ms) * 1000
}

export async function filledBuffer(
  events: number,
  segmentBytes: number,
  files: Readonly<Record<string, string>> = {},
  groupEvents = GROUP,
): Promise<Workspace> {
  const space = await workspace({
    'eider.yml': 'name: bench\n',
    'models/raw/events.sql': model,
    ...files,
  })
  await using buffer = await openBuffer(space.dir, segmentBytes)
  for (let first = 0; first < events; first += groupEvents) {
    const group = Array.from({ length: groupEvents }, (_, i) => Buffer.from(event(first + i)))
    await buffer.append(target, group, new Date().toISOString())
  }
  return space
}

function event(id: number): string {
  const at = new Date(1_767_225_600_000 + id * 1000).toISOString()
  return `{"id":${id},"user_name":"user-${id % 9973}@example.org","action":"checkout","amount":"${id % 997}.95","ok":true,"at":"${at}","note":"a remark of some length, as real events have them"}`
}

const perSecond = (rate: number) => `${Math.round(rate).toLocaleString('en-US')} events/s`
