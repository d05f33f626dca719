// Small requests: one row by its key from the engine and from memory, by one client and by many, and beside a run.

import { readFile } from 'node:fs/promises'
import { get } from 'node:http'
import { DuckDBInstance } from '@duckdb/node-api'
import { limits } from '../../src/core/limits.ts'
import { parseManifest } from '../../src/core/snapshot.ts'
import type { Workspace } from '../support/workspace.ts'
import {
  type Benchmark,
  type BenchmarkOptions,
  type Figure,
  interleaved,
  median,
} from './figure.ts'
import { getRequest, type LoadResult, measureLoad } from './load.ts'
import {
  publishedTable,
  type Served,
  serveTable,
  TABLE_FILE,
  tableModel,
  untilRowFile,
} from './served.ts'

const CLIENTS = 16
/** Of the baseline in a round. */
const ENGINE_MS = 1_000
const perSecond = ({ answers, ms }: Pick<LoadResult, 'answers' | 'ms'>) => (answers / ms) * 1000
const shown = (rate: number) => `${Math.round(rate).toLocaleString('en-US')}/s`

export const lookupsBenchmark: Benchmark = {
  name: 'lookups',
  async *run(options) {
    const rows = options.quick ? 200_000 : 1_000_000
    await using space = await publishedTable(rows)
    yield* await measureIdle(space, rows, options)
    yield* await measureBesideRuns(space, rows, options)
  },
}

async function measureIdle(space: Workspace, rows: number, { quick }: BenchmarkOptions) {
  await using service = await serveTable(space.dir)
  // Every load begins with the same keys, and the engine is to be asked for them.
  await using withoutCache = await serveTable(space.dir, { cacheBytes: 0 })
  await untilRowFile(withoutCache.url, rows)
  const durationMs = quick ? 1_000 : 3_000
  const rounds = quick ? 1 : 3
  const lookups = (connections: number) => lookup(withoutCache, rows, connections, durationMs)
  const one = getRequest('/odata/mart_rows(7)')
  const unchanged = getRequest(
    '/odata/mart_rows(7)',
    `If-None-Match: ${await etagOf(service, '/odata/mart_rows(7)')}\r\n`,
  )
  const load = { port: service.port, connections: CLIENTS, durationMs, pipelined: 1 }
  const hits = async () => perSecond(await measureLoad({ ...load, request: one, status: 200 }))
  const same = async () =>
    perSecond(await measureLoad({ ...load, request: unchanged, status: 304 }))
  const many = async () => perSecond(await lookups(CLIENTS))
  const byOne = async () => perSecond(await lookups(1))
  const figure = async (
    name: string,
    atLeast: number,
    ours: () => Promise<number>,
    baseline: () => Promise<number>,
  ): Promise<Figure> => {
    const rates = await interleaved(rounds, ours, baseline)
    return {
      name,
      ratio: rates.ours / rates.baseline,
      bound: { at: 'least', ratio: atLeast },
      measured: `${shown(rates.ours)} against ${shown(rates.baseline)}; ${rows.toLocaleString('en-US')} rows`,
    }
  }
  return [
    await besideEngine(space, rows, byOne, rounds),
    await figure(`lookups of ${CLIENTS} connections / of one`, 3, many, byOne),
    await figure(`answers from memory / lookups, ${CLIENTS} connections`, 20, hits, many),
    await figure(`"unchanged" (304) / answers from memory`, 1.1, same, hits),
  ]
}

/** The same rows by a prepared statement on the published file, without a service around it. */
async function besideEngine(
  space: Workspace,
  rows: number,
  byOne: () => Promise<number>,
  rounds: number,
): Promise<Figure> {
  const manifest = await readFile(space.path('.eider/snapshots/manifest.json'), 'utf8')
  const { file } = parseManifest(manifest).relations[0]!
  const instance = await DuckDBInstance.create(space.path('.eider/snapshots', file), {
    access_mode: 'READ_ONLY',
  })
  const connection = await instance.connect()
  const statement = await connection.prepare('SELECT * FROM rows WHERE id = $1')
  const engine = async () => {
    const startedAt = performance.now()
    let answers = 0
    for (; performance.now() - startedAt < ENGINE_MS; answers++) {
      statement.bindInteger(1, (answers * 7919) % rows)
      await (await statement.run()).getRows()
    }
    return perSecond({ answers, ms: performance.now() - startedAt })
  }
  const rates = await interleaved(rounds, byOne, engine)
  connection.closeSync()
  instance.closeSync()
  return {
    name: "time of a lookup over HTTP / DuckDB's own prepared statement, one connection",
    ratio: rates.baseline / rates.ours,
    bound: { at: 'most', ratio: 1.5 },
    measured: `${(1000 / rates.ours).toFixed(2)} ms against ${(1000 / rates.baseline).toFixed(2)} ms; ${rows.toLocaleString('en-US')} rows`,
  }
}

/** As a request of the load sees it: the tag depends on the Host header. */
function etagOf({ port }: Served, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get({ port, path, host: '127.0.0.1', headers: { host: '127.0.0.1' } }, (response) => {
      response.resume().once('end', () => resolve(response.headers.etag ?? ''))
    }).once('error', reject)
  })
}

/** Each time of another row, so that the engine is asked. */
function lookup({ port }: Served, keys: number, connections: number, durationMs: number) {
  const request = getRequest('/odata/mart_rows({key})')
  const load = { port, connections, durationMs, request, keys }
  return measureLoad({ ...load, pipelined: 1, status: 200 })
}

/** The run builds and publishes a table of the same size, over and over, at its own low priority. */
async function measureBesideRuns(
  space: Workspace,
  rows: number,
  { quick }: BenchmarkOptions,
): Promise<Figure[]> {
  await using service = await serveTable(space.dir, { cacheBytes: 0 })
  const durationMs = quick ? 2_000 : 6_000
  const [idle, beside]: [LoadResult[], LoadResult[]] = [[], []]
  let shift = 0
  for (let round = 0; round < (quick ? 1 : 5); round++) {
    // Those of the round before were of another snapshot.
    await untilRowFile(service.url, rows)
    idle.push(await lookup(service, rows, 1, durationMs))
    let isOver = false
    const runs = (async () => {
      while (!isOver) {
        await space.write(TABLE_FILE, tableModel(rows, ++shift))
        await space.ok(['run', '--quiet'])
      }
    })()
    beside.push(await lookup(service, rows, 1, durationMs))
    isOver = true
    await runs
  }
  const rate = (results: readonly LoadResult[]) => median(results.map(perSecond))
  const spread = (values: readonly number[]) =>
    `${Math.min(...values).toFixed(2)} to ${Math.max(...values).toFixed(2)}`
  const rates = beside.map((result, i) => perSecond(result) / perSecond(idle[i]!))
  const tails = beside.map(({ p99Ms }, i) => p99Ms / idle[i]!.p99Ms)
  const slowest = (results: readonly LoadResult[]) => median(results.map(({ p99Ms }) => p99Ms))
  const conditions = `one connection; ${shift} runs of ${rows.toLocaleString('en-US')} rows, snapshots swapped ${Math.round(limits.snapshotPollMs / 1000)} s after each at most`
  return [
    {
      name: 'lookups during runs / without',
      ratio: rate(beside) / rate(idle),
      bound: { at: 'least', ratio: 0.9 },
      measured: `${shown(rate(beside))} against ${shown(rate(idle))}, rounds ${spread(rates)}; ${conditions}`,
    },
    {
      name: '99th percentile of a lookup during runs / without',
      ratio: slowest(beside) / slowest(idle),
      bound: { at: 'most', ratio: 2 },
      measured: `${slowest(beside).toFixed(2)} ms against ${slowest(idle).toFixed(2)} ms, rounds ${spread(tails)}; ${conditions}`,
    },
  ]
}
