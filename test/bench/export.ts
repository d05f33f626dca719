// The whole of a table over HTTP, against the engine writing the same rows as JSON into nothing; when its first byte
// comes, what memory it takes, and how long it keeps others from being answered.

import { readFile } from 'node:fs/promises'
import { parseManifest } from '../../src/core/snapshot.ts'
import { type Sql, sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import type { Workspace } from '../support/workspace.ts'
import { type Benchmark, type Figure, interleaved, median } from './figure.ts'
import { measureLongRows } from './long-rows.ts'
import { type Download, download, downloadAll, publishedTable, serveTable } from './served.ts'

const GROWTH_BYTES = 250e6
const BLOCK_MS = 25
/** Of a whole answer: a stream ends with a chunk of nothing, and a file of Parquet with these letters. */
const endOf = { csv: /\r\n0\r\n\r\n$/, parquet: /PAR1$/ }
const mb = (bytes: number) => `${Math.round(bytes / 1e6)} MB`

export const exportBenchmark: Benchmark = {
  name: 'export',
  async *run({ quick }) {
    const rows = quick ? 200_000 : 1_000_000
    await using space = await publishedTable(rows)
    const speed = await measureSpeed(space, rows, quick ? 3 : 7)
    const growth = await measureCost(space, rows)
    const figures = [
      ...speed,
      await countBroken(space, rows, quick ? 5 : 20),
      {
        name: `memory that an export of ${rows.toLocaleString('en-US')} rows takes / ${mb(GROWTH_BYTES)}`,
        ratio: growth.bytes / GROWTH_BYTES,
        bound: { at: 'most', ratio: 1 },
        measured: `${mb(growth.bytes)} more than before, resident`,
      },
      {
        name: `longest block of the event loop during an export / ${BLOCK_MS} ms`,
        ratio: growth.blockMs / BLOCK_MS,
        bound: { at: 'most', ratio: 1 },
        measured: `${growth.blockMs.toFixed(1)} ms`,
      },
      ...(await measureLongRows()),
    ] as const
    yield* quick ? figures : [...figures, await measureLarge(growth.bytes, 5 * rows)]
  },
}

async function measureSpeed(space: Workspace, rows: number, rounds: number): Promise<Figure[]> {
  await using service = await serveTable(space.dir, { pageSize: rows })
  const manifest = parseManifest(
    await readFile(space.path('.eider/snapshots/manifest.json'), 'utf8'),
  )
  const file = space.path('.eider/snapshots', manifest.relations[0]!.file)
  await using database = await Database.open({ path: file, readOnly: true, threads: 1 })
  await using connection = await database.connect()
  const timed = async (copying: Sql) => {
    const startedAt = performance.now()
    await connection.run(copying)
    return performance.now() - startedAt
  }
  const copy = () => timed(sql`COPY (SELECT * FROM rows) TO '/dev/null' (FORMAT json)`)
  const downloads: Download[] = []
  const overHttp = async () => {
    const made = await download(`${service.url}/mart_rows`)
    downloads.push(made)
    return made.ms
  }
  const format = async (
    name: keyof typeof endOf,
    atMost: number,
    copying: Sql,
  ): Promise<Figure> => {
    const url = `${service.url}/mart_rows?$format=${name}`
    const fileMs = async () => (await download(url, endOf[name])).ms
    await fileMs()
    const times = await interleaved(rounds, fileMs, () => timed(copying))
    return {
      name: `export as ${name} over HTTP / DuckDB's own COPY, one thread`,
      ratio: times.ours / times.baseline,
      bound: { at: 'most', ratio: atMost },
      measured: `${Math.round(times.ours)} ms against ${Math.round(times.baseline)} ms; ${rows.toLocaleString('en-US')} rows`,
    }
  }
  await copy()
  await overHttp()
  const ms = await interleaved(rounds, overHttp, copy)
  const firstByteMs = median(downloads.map((made) => made.firstByteMs))
  const wholeMs = median(downloads.map((made) => made.ms))
  const bytes = downloads[0]!.bytes
  return [
    {
      name: "export over HTTP / DuckDB's own COPY to JSON, one thread",
      ratio: ms.ours / ms.baseline,
      bound: { at: 'most', ratio: 1 },
      measured: `${Math.round(ms.ours)} ms against ${Math.round(ms.baseline)} ms; ${rows.toLocaleString('en-US')} rows, ${(bytes / 2 ** 20).toFixed(0)} MiB`,
    },
    {
      name: 'first byte of an export / the whole of it',
      ratio: firstByteMs / wholeMs,
      bound: { at: 'most', ratio: 0.05 },
      measured: `${firstByteMs.toFixed(1)} ms of ${Math.round(wholeMs)} ms`,
    },
    await format('csv', 1, sql`COPY (SELECT * FROM rows) TO '/dev/null' (FORMAT csv)`),
    await format('parquet', 1.1, sql`COPY (SELECT * FROM rows) TO '/dev/null' (FORMAT parquet)`),
  ]
}

/** Queries that divide by zero somewhere behind the first tenth of their rows: no answer may look whole. */
async function countBroken(space: Workspace, rows: number, queries: number): Promise<Figure> {
  await using service = await serveTable(space.dir, { pageSize: rows })
  let broken = 0
  for (let i = 0; i < queries; i++) {
    const row = Math.floor(rows * (0.1 + (0.9 * i) / queries))
    const asked = `${service.url}/mart_rows?$compute=1%20div%20(id%20sub%20${row})%20as%20part`
    await download(asked).catch((error: Error) => {
      if (/^HTTP\/1\.1 200 OK|ECONNRESET/.test(error.message)) broken++
    })
  }
  return {
    name: 'answers that are cut off when their query fails midway / all such answers',
    ratio: broken / queries,
    bound: { at: 'least', ratio: 1 },
    measured: `${broken} of ${queries}`,
  }
}

/** In a service that has answered small requests only. */
async function measureCost(space: Workspace, rows: number) {
  await using service = await serveTable(space.dir, { pageSize: rows })
  for (let i = 0; i < 3; i++) await download(`${service.url}/mart_rows?$top=100`)
  const before = await service.cost()
  await downloadAll(`${service.url}/mart_rows`)
  const after = await service.cost()
  return { bytes: after.peakBytes - before.bytes, blockMs: after.longestBlockMs }
}

async function measureLarge(growthBytes: number, rows: number): Promise<Figure> {
  await using space = await publishedTable(rows)
  const { bytes } = await measureCost(space, rows)
  return {
    name: 'memory that an export of five times the rows takes / that of the rows',
    ratio: bytes / growthBytes,
    bound: { at: 'most', ratio: 3 },
    measured: `${mb(bytes)} against ${mb(growthBytes)}; ${rows.toLocaleString('en-US')} rows`,
  }
}
