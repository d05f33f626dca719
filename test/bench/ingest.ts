// Durable ingest against a server that does nothing: every 202 of ours is on disk and checked.

import { startDaemon } from '../support/daemon-process.ts'
import { readFile } from 'node:fs/promises'
import { workspace } from '../support/workspace.ts'
import { type BareServer, startBareServer } from './bare-server.ts'
import { type Benchmark, type Figure, median } from './figure.ts'
import { type LoadResult, measureLoad, postRequest } from './load.ts'

export const BATCH = 1_000
/** What the daemon may take under full load. */
const MEMORY_BYTES = 200e6

export const EVENTS_MODEL = `-- @kind: events
id BIGINT NOT NULL, user_name VARCHAR NOT NULL, action VARCHAR, amount DECIMAL(18,4), ok BOOLEAN, at TIMESTAMPTZ, note VARCHAR`
export const EVENT = JSON.stringify({
  id: 9_007_199_254,
  user_name: 'user-000123@example.org',
  action: 'checkout',
  amount: '129.9500',
  ok: true,
  at: '2026-01-01T08:30:00.123Z',
  note: 'a remark of some length, as real events have them',
})
const events = Array.from({ length: BATCH }, () => EVENT)
const ndjson = 'application/x-ndjson'

/** Loads of one event a request, and those of batches, which the baseline answers one by one. */
const single = postRequest('/collect/raw/events', EVENT)
const requests = {
  single,
  json: postRequest('/collect/raw/events/batch', `[${events.join()}]`),
  ndjson: postRequest('/collect/raw/events/batch', events.join('\n'), ndjson),
}
export const ndjsonRequest = requests.ndjson

interface Shape {
  readonly connections: number
  readonly pipelined: number
  readonly body: keyof typeof requests
}

export const ingestBenchmark: Benchmark = {
  name: 'ingest',
  async *run({ quick }) {
    await using space = await workspace({
      'eider.yml': 'name: bench\n',
      'models/raw/events.sql': EVENTS_MODEL,
    })
    await using daemon = await startDaemon(space, '--quiet')
    await using bare = await startBareServer()
    const bench: Bench = {
      port: Number(new URL(daemon.url).port),
      bare,
      durationMs: quick ? 1_000 : 3_000,
      rounds: quick ? 1 : 5,
    }
    const many = await compare(bench, { connections: 256, pipelined: 1, body: 'single' })
    const few = await compare(bench, { connections: 8, pipelined: 1, body: 'single' })
    const pipelined = await compare(bench, { connections: 64, pipelined: 16, body: 'single' })
    const json = await compare(bench, { connections: 16, pipelined: 1, body: 'json' })
    const lines = await compare(bench, { connections: 16, pipelined: 1, body: 'ndjson' })
    yield* [
      rateFigure('durable single events / bare node:http 202 server', many, 1.4),
      {
        name: 'the same, 99th percentile of the time to the answer',
        ratio: many.ours.p99Ms / many.bare.p99Ms,
        bound: { at: 'most', ratio: 0.9 },
        measured: `${many.ours.p99Ms.toFixed(1)} ms against ${many.bare.p99Ms.toFixed(1)} ms`,
      },
      rateFigure('the same with few connections, each waiting for the disk', few, null),
      rateFigure('the same, 16 requests at a time', pipelined, 5),
      rateFigure(`events in JSON batches of ${BATCH} / requests of the bare server`, json, 15),
      rateFigure(`events in NDJSON batches of ${BATCH} / requests of the bare server`, lines, 18),
      await memoryFigure(daemon.pid),
    ]
  },
}

interface Bench {
  readonly port: number
  readonly bare: BareServer
  readonly durationMs: number
  readonly rounds: number
}

interface Measured {
  readonly perSecond: number
  readonly p99Ms: number
  /** Of one core, of the process that makes the load. */
  readonly busy: number
}

interface Compared {
  readonly shape: Shape
  readonly ours: Measured
  readonly bare: Measured
}

/** Both in turn, so that noise of the machine meets both; medians. */
async function compare(bench: Bench, shape: Shape): Promise<Compared> {
  const { port, bare, durationMs, rounds } = bench
  const isBatch = shape.body !== 'single'
  const load = { ...shape, durationMs, status: 202 }
  // What a server does at most: a batch is compared with single requests from many connections.
  const bareLoad = isBatch ? { ...load, connections: 256, pipelined: 1 } : load
  const results = { ours: [] as LoadResult[], bare: [] as LoadResult[] }
  for (let round = 0; round < rounds; round++) {
    results.bare.push(await measureLoad({ ...bareLoad, port: bare.port, request: single }))
    results.ours.push(await measureLoad({ ...load, port, request: requests[shape.body] }))
  }
  return {
    shape,
    ours: medians(results.ours, isBatch ? BATCH : 1),
    bare: medians(results.bare, 1),
  }
}

const medians = (results: readonly LoadResult[], eventsEach: number): Measured => ({
  perSecond: median(results.map(({ answers, ms }) => (answers * eventsEach * 1000) / ms)),
  p99Ms: median(results.map(({ p99Ms }) => p99Ms)),
  busy: median(results.map(({ busy }) => busy)),
})

function rateFigure(name: string, { shape, ours, bare }: Compared, least: number | null): Figure {
  const rate = ({ perSecond, busy }: Measured) =>
    `${Math.round(perSecond).toLocaleString('en-US')}/s (load ${Math.round(busy * 100)} % busy)`
  return {
    name,
    ratio: ours.perSecond / bare.perSecond,
    bound: least === null ? null : { at: 'least', ratio: least },
    measured: `${rate(ours)}, events of ${EVENT.length} bytes, each synced before its 202, against ${rate(bare)}; ${shape.connections} connections`,
  }
}

/** The largest that the process was, over all loads before; of Linux only. */
async function memoryFigure(pid: number): Promise<Figure> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const peakBytes = Number(/^VmHWM:\s*(\d+) kB/m.exec(status)?.[1]) * 1024
  return {
    name: 'peak memory of the daemon / 200 MB',
    ratio: peakBytes / MEMORY_BYTES,
    bound: { at: 'most', ratio: 1 },
    measured: `${Math.round(peakBytes / 1e6)} MB resident, over all loads above`,
  }
}
