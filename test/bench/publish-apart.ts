// A run that changes a hundred rows of a large set: what publishing costs beside one that publishes nothing, and what it
// costs to read a set of which something lies apart beside one that was written whole. All in processor time.

import { mkdir } from 'node:fs/promises'
import { type Sql, sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { numberOf } from '../../src/duckdb/values.ts'
import { type Workspace, workspace } from '../support/workspace.ts'
import { type Benchmark, type Figure, median } from './figure.ts'
import { takenByEider } from './processor-time.ts'
import { type Served, serveTable } from './served.ts'

const CHANGES = 100
const ROUNDS = 9

const model = (expose: string) => `-- @kind: merge
-- @unique_key: id${expose}

SELECT * FROM read_parquet('data/rows.parquet')
`

const settings = (percent: number) => `name: bench\nodata:\n  apart_percent: ${percent}\n`

export const publishApartBenchmark: Benchmark = {
  name: 'publish-apart',
  async *run({ quick, rows = quick ? 400_000 : 4_000_000 }) {
    await using exposed = await rowsProject('\n-- @expose id')
    await using silent = await rowsProject('')
    for (const space of [exposed, silent]) {
      await writeSource(space, sql`SELECT i FROM range(${sql.value(rows)}) AS r(i)`, 0)
      await space.ok(['run', '--quiet'], { timeoutMs: 600_000 })
    }
    const run = async (space: Workspace, round: number) => {
      await writeSource(space, changedAnew(rows, CHANGES, round), round)
      return takenByEider(['run', '--quiet'], space.dir).processorMs
    }
    const [ours, baseline]: [number[], number[]] = [[], []]
    for (let round = 1; round <= ROUNDS; round++) {
      baseline.push(await run(silent, round))
      ours.push(await run(exposed, round))
    }
    const said = `${Math.round(median(ours))} ms against ${Math.round(median(baseline))} ms; ${rows.toLocaleString('en-US')} rows of 4 columns, ${CHANGES} changed`
    yield {
      name: 'a run that changes 100 rows of an exposed set / of one that is not',
      ratio: median(ours) / median(baseline),
      bound: { at: 'most', ratio: 1.5 },
      measured: said,
    }
    const apart = await readings(exposed, rows)
    await exposed.write('eider.yml', settings(0))
    const wholeMs = await run(exposed, ROUNDS + 1)
    yield {
      name: 'the same when the set is written whole',
      ratio: wholeMs / median(baseline),
      bound: null,
      measured: `${Math.round(wholeMs)} ms against ${Math.round(median(baseline))} ms`,
    }
    const whole = await readings(exposed, rows)
    for (const [name, ms] of apart) yield figureOf(name, ms, whole.get(name)!)
  },
}

function figureOf(name: string, ms: number, wholeMs: number): Figure {
  return {
    name: `${name} of a set with the changes of ${ROUNDS} runs apart / of one written whole`,
    ratio: ms / wholeMs,
    bound: { at: 'most', ratio: 1.3 },
    measured: `${ms.toFixed(1)} ms against ${wholeMs.toFixed(1)} ms for a request`,
  }
}

/** Numbers of that many rows, others in each round. */
export const changedAnew = (rows: number, changes: number, round: number): Sql => sql`
  SELECT DISTINCT CAST(hash(i * 7 + ${sql.value(round)}) % ${sql.value(rows)} AS BIGINT) AS i
  FROM range(${sql.value(changes)}) AS r(i)`

export const rowsProject = (expose: string): Promise<Workspace> =>
  workspace({ 'eider.yml': settings(2), 'models/mart/rows.sql': model(expose) })

/** Leaves rows with such `i`. */
export async function writeSource(space: Workspace, numbers: Sql, round: number): Promise<void> {
  await mkdir(space.path('data'), { recursive: true })
  await using database = await Database.open({ path: ':memory:' })
  await using connection = await database.connect()
  const path = sql.value(space.path('data', 'rows.parquet'))
  const rows = sql`
    SELECT CAST(i AS BIGINT) AS id, CAST(hash(i + ${sql.value(round)}) % 1000 AS INTEGER) AS qty, 'name ' || i AS name,
      i % 7 = 0 AS flag FROM (${numbers})`
  await connection.run(sql`COPY (${rows}) TO ${path}`)
  const found = await connection.row(sql`SELECT count(*) AS n FROM read_parquet(${path})`)
  if (numberOf(found?.['n']) === 0) throw new Error('nothing has changed')
}

/** Processor time of the service for one request of each form. */
async function readings(space: Workspace, rows: number): Promise<ReadonlyMap<string, number>> {
  await using service = await serveTable(space.dir, { cacheBytes: 0 })
  const forms: readonly (readonly [string, number, (n: number) => string])[] = [
    ['a lookup', 40, (n) => `mart_rows(${(n * 7919) % rows})`],
    ['a page of 10,000 rows', 10, (n) => `mart_rows?$filter=id ge ${(n * 7919) % (rows / 2)}`],
    ['a filter', 10, (n) => `mart_rows?$filter=qty eq ${n} and flag eq true&$top=100`],
    [
      'GROUP BY',
      10,
      (n) =>
        `mart_rows?$apply=filter(qty ge ${n})/groupby((flag),aggregate(qty with sum as total))`,
    ],
    ['an export as CSV', 1, () => `mart_rows?$format=csv`],
  ]
  const found = new Map<string, number>()
  for (const [name, times, of] of forms) {
    await read(service, of(0))
    const took: number[] = []
    for (let round = 0; round < 3; round++) {
      const before = await service.cost()
      for (let n = 1; n <= times; n++) await read(service, of(n))
      const after = await service.cost()
      took.push((after.processorMs - before.processorMs) / times)
    }
    found.set(name, median(took))
  }
  return found
}

async function read({ url }: Served, request: string): Promise<void> {
  const response = await fetch(`${url}/${request.replaceAll(' ', '%20')}`)
  const body = await response.arrayBuffer()
  if (response.status !== 200)
    throw new Error(`${response.status}: ${Buffer.from(body).toString()}`)
}
