// A target that is a lake beside one that is a file, with PostgreSQL and a store on this machine: a flush, a run with
// nothing to do, a pull beside a publication, a service on what was pulled, and a lake that has grown. Skipped where parts are missing.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { limits } from '../../src/core/limits.ts'
import { loadProject } from '../../src/project/load.ts'
import { openStore } from '../../src/store/open.ts'
import { missingParts, versitygw } from '../support/lake/parts.ts'
import { type TestLake, withLake } from '../support/lake/with-lake.ts'
import { eiderProcess, type Workspace, workspace } from '../support/workspace.ts'
import { type Benchmark, type BenchmarkOptions, type Figure, interleaved } from './figure.ts'
import { filledBuffer } from './flush.ts'
import { flushAll } from './flush-run.ts'
import { growthFigures } from './lake-growth.ts'
import { getRequest, type LoadResult, measureLoad } from './load.ts'
import { serveTable, TABLE_FILE, tableModel, untilRowFile } from './served.ts'
import { smallModels } from './small-models.ts'

/** A busy machine is no failure. */
const TIMEOUT_MS = 600_000

export const lakeBenchmark: Benchmark = {
  name: 'lake',
  missing: () => missingParts().filter((line) => !line.startsWith(versitygw)),
  async *run(options) {
    yield await flush(options)
    yield* await idle(options)
    yield* firstRun(options)
    yield* publication(options)
    yield* growthFigures(options)
  },
}

/** Past the proxies, which are in this process and would take part. */
const settingsOf = ({ settings, servers, user, database }: TestLake): string => {
  const direct = {
    ...settings,
    catalog: `postgres://${user}@127.0.0.1:${servers.postgresPort}/${database}`,
    s3_endpoint: `http://127.0.0.1:${servers.storePort}`,
  }
  const lines = Object.entries(direct).map(([name, value]) => `  ${name}: '${value}'\n`)
  return `name: bench\nlake:\n${lines.join('')}`
}

const figure = (
  name: string,
  times: { readonly ours: number; readonly baseline: number },
  atMost: number,
  what = '',
): Figure => ({
  name,
  ratio: times.ours / times.baseline,
  bound: { at: 'most', ratio: atMost },
  measured: `${times.ours.toFixed(1)} ms against ${times.baseline.toFixed(1)} ms${what}`,
})

/** From the first claim to the last ack. */
async function flush({ quick }: BenchmarkOptions): Promise<Figure> {
  const events = quick ? 200_000 : 1_000_000
  const measure = async (files: Readonly<Record<string, string>>, env = {}) => {
    await using space = await filledBuffer(events, limits.segmentBytes, files)
    const { flushed, ms } = await flushAll(space.dir, env)
    if (flushed !== events) throw new Error(`flushed ${flushed} of ${events} events`)
    return ms
  }
  const times = await interleaved(
    quick ? 1 : 3,
    async () => {
      await using lake = await withLake()
      return await measure({ 'eider.yml': settingsOf(lake) }, lake.env)
    },
    () => measure({}),
  )
  const count = events.toLocaleString('en-US')
  return figure(`flush of ${count} events, lake / file`, times, 1.3)
}

async function idle({ quick }: BenchmarkOptions): Promise<readonly Figure[]> {
  const models = 10
  await using lake = await withLake()
  await using file = await workspace(smallModels(models))
  await using other = await workspace({ ...smallModels(models), 'eider.yml': settingsOf(lake) })
  await file.ok(['run', '--quiet'], { timeoutMs: TIMEOUT_MS })
  await other.ok(['run', '--quiet'], { env: lake.env, timeoutMs: TIMEOUT_MS })
  const times = await interleaved(
    quick ? 3 : 11,
    () => timeRun(other, lake.env),
    () => timeRun(file, {}),
  )
  const most = 60 + 2 * models
  const messages = await messagesOfRun(lake, other)
  return [
    figure(`a run of ${models} models with nothing to do, lake / file`, times, 4),
    {
      name: `messages to PostgreSQL of a run of ${models} models with nothing to do / ${most}`,
      ratio: messages / most,
      bound: { at: 'most', ratio: 1 },
      measured: `${messages} messages`,
    },
  ]
}

/** Models that share commits: what is sent for each of them, and for the commits. */
async function* firstRun({ quick }: BenchmarkOptions): AsyncGenerator<Figure> {
  const models = quick ? 200 : 1_000
  const most = 6 * models
  const mostRequests = (2 * models) / 5
  await using lake = await withLake()
  await using space = await workspace({ ...smallModels(models), 'eider.yml': settingsOf(lake) })
  const messages = await messagesOfRun(lake, space)
  const what = `of a run that builds ${models.toLocaleString('en-US')} small models`
  yield {
    name: `messages to PostgreSQL ${what} / ${most.toLocaleString('en-US')}`,
    ratio: messages / most,
    bound: { at: 'most', ratio: quick ? 2 : 1 },
    measured: `${messages.toLocaleString('en-US')} messages, ${lake.catalog.commits} commits`,
  }
  const { length } = lake.store.requests
  const puts = lake.store.requests.filter(({ method }) => method === 'PUT').length
  yield {
    name: `requests to the store ${what} / ${mostRequests.toLocaleString('en-US')}`,
    ratio: length / mostRequests,
    bound: { at: 'most', ratio: 1 },
    measured: `${length.toLocaleString('en-US')} requests, ${puts.toLocaleString('en-US')} of them PUT`,
  }
}

/** Through the proxies, which count. */
async function messagesOfRun(lake: TestLake, space: Workspace): Promise<number> {
  lake.catalog.forget()
  lake.store.forget()
  const { catalog = '', s3_endpoint: endpoint = '' } = lake.settings
  await timeRun(space, { ...lake.env, LAKE_CATALOG: catalog, LAKE_S3_ENDPOINT: endpoint })
  return lake.catalog.queries.length
}

async function timeRun({ dir }: Workspace, env: Readonly<Record<string, string>>): Promise<number> {
  const startedMs = performance.now()
  const { command, args, env: all } = eiderProcess(['run'], env)
  const child = spawn(command, args, { cwd: dir, env: all, stdio: 'ignore' })
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`a run ended with ${code}`)
  return performance.now() - startedMs
}

/** Of one set: how long a machine takes to have it, and how a service answers from it. */
async function* publication(options: BenchmarkOptions): AsyncGenerator<Figure> {
  const rows = options.quick ? 200_000 : 1_000_000
  const text = rows.toLocaleString('en-US')
  const model = { [TABLE_FILE]: tableModel(rows) }
  await using lake = await withLake()
  await using file = await workspace({ 'eider.yml': 'name: bench\n', ...model })
  await using runner = await workspace({ 'eider.yml': settingsOf(lake), ...model })
  await using service = await workspace({ 'eider.yml': settingsOf(lake), ...model })
  const { env } = lake
  await file.ok(['run', '--quiet'], { timeoutMs: TIMEOUT_MS })
  await runner.ok(['run', '--quiet'], { env, timeoutMs: TIMEOUT_MS })
  let shift = 0
  const change = async (space: Workspace) => {
    await space.write(TABLE_FILE, tableModel(rows, ++shift))
    return await space.ok(['run', '--json'], { env, timeoutMs: TIMEOUT_MS })
  }
  const pulls = await pullsOf(service, env)
  const times = await interleaved(
    options.quick ? 2 : 5,
    async () => {
      await change(runner)
      return await pulls.pull()
    },
    async () => publishedIn((await change(file)).stdout),
  )
  await pulls.end()
  yield figure(`pull of a changed set / publishing it on one machine`, times, 1.5, `; ${text} rows`)
  yield await lookups(service, file, rows, options)
  yield await besidePull(service, rows, options, {
    publish: () => change(runner),
    pull: () => service.ok(['pull'], { env, timeoutMs: TIMEOUT_MS }),
  })
}

/** As `eider pull --every` does it, with an engine that is open. */
async function pullsOf(space: Workspace, env: Readonly<Record<string, string>>) {
  const { paths } = await loadProject(space.dir, { env, flags: {} })
  const puller = await openStore(paths).openPuller!()
  const options = {
    retention: { snapshots: 1, ms: 0 },
    takeUpMs: 0,
    signal: new AbortController().signal,
  }
  await puller.pull(options)
  return {
    async pull() {
      const startedMs = performance.now()
      const { changed } = await puller.pull(options)
      if (!changed) throw new Error('nothing was pulled')
      return performance.now() - startedMs
    },
    end: () => puller[Symbol.asyncDispose](),
  }
}

function publishedIn(stdout: string): number {
  const line = stdout.split('\n').find((text) => text.includes('"event":"published"'))
  if (line === undefined) throw new Error('nothing was published')
  return (JSON.parse(line) as { readonly ms: number }).ms
}

const load = (port: number, rows: number, durationMs: number): Promise<LoadResult> =>
  measureLoad({
    port,
    durationMs,
    keys: rows,
    request: getRequest('/odata/mart_rows({key})'),
    connections: 1,
    pipelined: 1,
    status: 200,
  })

async function lookups(
  pulled: Workspace,
  file: Workspace,
  rows: number,
  { quick }: BenchmarkOptions,
): Promise<Figure> {
  await using ours = await serveTable(pulled.dir, { cacheBytes: 0 })
  await using theirs = await serveTable(file.dir, { cacheBytes: 0 })
  for (const { url } of [ours, theirs]) await untilRowFile(url, rows)
  const durationMs = quick ? 1_000 : 3_000
  const timeOf = async (port: number) => {
    const { ms, answers } = await load(port, rows, durationMs)
    return ms / answers
  }
  const times = await interleaved(
    quick ? 3 : 7,
    () => timeOf(ours.port),
    () => timeOf(theirs.port),
  )
  return figure('a lookup of a service on a pulled lake / on one machine', times, 1.05)
}

interface Changes {
  readonly publish: () => Promise<unknown>
  readonly pull: () => Promise<unknown>
}

async function besidePull(
  space: Workspace,
  rows: number,
  { quick }: BenchmarkOptions,
  { publish, pull }: Changes,
): Promise<Figure> {
  await using service = await serveTable(space.dir, { cacheBytes: 0 })
  const durationMs = quick ? 2_000 : 6_000
  const p99 = async () => (await load(service.port, rows, durationMs)).p99Ms
  const times = await interleaved(
    quick ? 2 : 5,
    async () => {
      await publish()
      const [beside] = await Promise.all([p99(), pull()])
      return beside
    },
    p99,
  )
  const name = '99th percentile of a lookup while `pull` makes a set / alone'
  return figure(name, times, 2, `; ${rows.toLocaleString('en-US')} rows`)
}
