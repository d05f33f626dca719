// From accepted events on disk to committed rows, ack record included, against the engine reading the same files.

import { join } from 'node:path'
import { EventBuffer } from '../../src/buffer/buffer.ts'
import { compile } from '../../src/compiler/compile.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { type ModelName, parseModelName } from '../../src/core/names.ts'
import { sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { runPipeline } from '../../src/pipeline/run.ts'
import { loadProject } from '../../src/project/load.ts'
import { type Workspace, workspace } from '../workspace.ts'
import { type Benchmark, interleaved } from './figure.ts'

const target = parseModelName('raw.events') as ModelName
const model = `-- @kind: events
id BIGINT NOT NULL, user_name VARCHAR NOT NULL, action VARCHAR, amount DECIMAL(18,4), ok BOOLEAN, at TIMESTAMPTZ, note VARCHAR`
const GROUP = 1_000

export const flushBenchmark: Benchmark = {
  name: 'flush',
  async run({ quick }) {
    const events = quick ? 200_000 : 1_000_000
    const rates = await interleaved(
      quick ? 1 : 3,
      () => measureRun(events),
      () => measureEngine(events),
    )
    return [
      {
        name: "flush, ack record included / the engine's own INSERT from read_json",
        ratio: rates.ours / rates.baseline,
        bound: { at: 'least', ratio: 0.75 },
        measured: `${perSecond(rates.ours)} against ${perSecond(rates.baseline)}; ${events.toLocaleString('en-US')} events`,
      },
    ]
  },
}

async function measureRun(events: number): Promise<number> {
  await using space = await filledBuffer(events)
  const project = await loadProject(space.dir, { env: {}, flags: {} })
  const compiled = await compile(project.files, { dir: space.dir })
  let ms = 0
  const summary = await runPipeline({
    paths: project.paths,
    project: compiled,
    openClaims: () => openBuffer(space),
    threads: null,
    memoryLimit: null,
    lockWaitMs: 0,
    signal: new AbortController().signal,
    progress: (event) => {
      if (event.event === 'flush-finished') ms += event.ms
    },
    logger: silentLogger,
  })
  const flushed = summary.flushed.reduce((total, flush) => total + flush.events, 0)
  if (flushed !== events) throw new Error(`flushed ${flushed} of ${events} events`)
  return (events / ms) * 1000
}

async function measureEngine(events: number): Promise<number> {
  await using space = await filledBuffer(events)
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

async function filledBuffer(events: number): Promise<Workspace> {
  const space = await workspace({ 'eider.yml': 'name: bench\n', 'models/raw/events.sql': model })
  await using buffer = await openBuffer(space)
  for (let first = 0; first < events; first += GROUP) {
    const group = Array.from({ length: GROUP }, (_, i) => Buffer.from(event(first + i)))
    await buffer.append(target, group, new Date().toISOString())
  }
  return space
}

function event(id: number): string {
  const at = new Date(1_767_225_600_000 + id * 1000).toISOString()
  return `{"id":${id},"user_name":"user-${id % 9973}@example.org","action":"checkout","amount":"${id % 997}.95","ok":true,"at":"${at}","note":"a remark of some length, as real events have them"}`
}

const openBuffer = (space: Workspace) =>
  EventBuffer.open({
    dir: space.path('.eider', 'buffer'),
    lockFile: space.path('.eider', 'collect.lock'),
    maxBufferBytes: 2 ** 40,
    logger: silentLogger,
  })

const perSecond = (rate: number) => `${Math.round(rate).toLocaleString('en-US')} events/s`
