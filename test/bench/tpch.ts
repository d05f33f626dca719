// The 22 queries of TPC-H as tables, after one of a thousand orders and its lines have changed: what a run of each costs
// beside one that makes it again from nothing, and in which way it goes. Without ORDER BY and LIMIT at the end, which are
// for the reader of a table. Processor time of the command beyond what it takes with nothing to do. Skipped where the
// extension is missing.

import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { type Sql, sql } from '../../src/core/sql.ts'
import { type Connection, Database } from '../../src/duckdb/database.ts'
import { numberOf, textOf } from '../../src/duckdb/values.ts'
import { extensionFile, places } from '../support/lake/parts.ts'
import { type Workspace, workspace } from '../support/workspace.ts'
import { takenByModel } from './changed-rows.ts'
import { type Benchmark, type Figure, median } from './figure.ts'
import { takenByEider } from './processor-time.ts'

const KEYS: Readonly<Record<string, string>> = {
  region: 'r_regionkey',
  nation: 'n_nationkey',
  supplier: 's_suppkey',
  customer: 'c_custkey',
  part: 'p_partkey',
  partsupp: 'ps_partkey, ps_suppkey',
  orders: 'o_orderkey',
  lineitem: 'l_orderkey, l_linenumber',
}

/** One of a thousand orders, others in each round, and their lines. */
const CHANGED: Readonly<Record<string, (round: Sql) => Sql>> = {
  orders: (round) => sql`
    SELECT * REPLACE (o_totalprice + 1 AS o_totalprice, o_orderdate + 1 AS o_orderdate)
    FROM orders WHERE o_orderkey // 4 % 1000 = ${round}`,
  lineitem: (round) => sql`
    SELECT * REPLACE (l_quantity + 1 AS l_quantity, l_extendedprice + 1 AS l_extendedprice, l_shipdate + 1 AS l_shipdate)
    FROM lineitem WHERE l_orderkey // 4 % 1000 = ${round}`,
}

const TIMEOUT = { timeoutMs: 900_000 }

export const tpchBenchmark: Benchmark = {
  name: 'tpch',
  missing: () =>
    existsSync(extensionFile('tpch'))
      ? []
      : ['the extension tpch is missing: run `npm run lake-parts`'],
  async *run({ quick }) {
    await using database = await Database.open({
      path: ':memory:',
      extensions: { directory: places.extensions, names: ['tpch'] },
    })
    await using connection = await database.connect()
    await connection.run(sql`CALL dbgen(sf = ${sql.value(quick ? 0.1 : 1)})`)
    const queries = await queriesOf(connection)
    await using space = await workspace(filesOf(queries))
    for (const table of Object.keys(KEYS))
      await write(connection, space, table, sql`FROM ${sql.ident(table)}`)
    await space.ok(['run', '--quiet'], TIMEOUT)
    const ways = await waysOf(space)
    // From here on the sources have only what is new; their files are hashed by each command.
    for (const table of Object.keys(KEYS))
      await write(connection, space, table, sql`FROM ${sql.ident(table)} LIMIT 0`)
    const took = new Map(
      queries.map(({ name }) => [name, { few: [] as number[], all: [] as number[] }]),
    )
    for (let round = 0; round < (quick ? 1 : 3); round++) {
      for (const [table, rows] of Object.entries(CHANGED))
        await write(connection, space, table, rows(sql.value(round)))
      await space.ok(['run', 'raw.orders', 'raw.lineitem', '--quiet'], TIMEOUT)
      for (const { name } of queries)
        took.get(name)!.few.push((await takenByModel(space, name)).processorMs)
      for (const { name } of queries)
        took.get(name)!.all.push((await takenByModel(space, name, ['--full-refresh'])).processorMs)
    }
    const nothing = median(
      [1, 2, 3].map(() => takenByEider(['run', 'mart.q02'], space.dir).processorMs),
    )
    yield* figuresOf(took, ways, nothing)
  },
}

type Taken = ReadonlyMap<
  string,
  { readonly few: readonly number[]; readonly all: readonly number[] }
>

function* figuresOf(
  took: Taken,
  ways: ReadonlyMap<string, string>,
  nothing: number,
): Iterable<Figure> {
  const sum = { few: 0, all: 0 }
  for (const [name, taken] of took) {
    const few = Math.max(0, median(taken.few) - nothing)
    const all = median(taken.all) - nothing
    sum.few += few
    sum.all += all
    yield figure(`query ${Number(name.slice(-2))} of TPC-H`, few, all, ways.get(name)!, null)
  }
  const share = `${took.size} queries, ${Math.round(nothing)} ms with nothing to do`
  yield figure('all queries of TPC-H', sum.few, sum.all, share, { at: 'most', ratio: 0.15 })
}

const figure = (
  what: string,
  few: number,
  all: number,
  more: string,
  bound: Figure['bound'],
): Figure => ({
  name: `${what} after changes of 0.1 % of orders and lines / rebuild`,
  ratio: few / all,
  bound,
  measured: `${Math.round(few)} ms against ${Math.round(all)} ms of processors; ${more}`,
})

interface Query {
  readonly name: string
  readonly text: string
}

async function queriesOf(connection: Connection): Promise<readonly Query[]> {
  const rows = await connection.rows(
    sql`SELECT query_nr, query FROM tpch_queries() ORDER BY query_nr`,
  )
  const table = new RegExp(`(FROM|JOIN|,)(\\s+)(${Object.keys(KEYS).join('|')})\\b`, 'gi')
  return rows.map(({ query_nr: number, query }) => {
    const text = textOf(query).replace(/;\s*$/, '')
    const end = text.lastIndexOf('ORDER BY')
    return {
      name: `mart.q${String(numberOf(number)).padStart(2, '0')}`,
      text: text.slice(0, end < 0 ? undefined : end).replaceAll(table, '$1$2raw.$3'),
    }
  })
}

function filesOf(queries: readonly Query[]): Readonly<Record<string, string>> {
  const tables = Object.entries(KEYS)
  const sources = tables.map(([name]) => `      ${name}:\n        file: data/${name}.parquet\n`)
  return {
    'eider.yml': `name: bench\nsources:\n  files:\n    tables:\n${sources.join('')}`,
    'data/.keep': '',
    ...Object.fromEntries(
      tables.map(([name, key]) => [
        `models/raw/${name}.sql`,
        `-- @kind: merge\n-- @unique_key: ${key}\nFROM files.${name}\n`,
      ]),
    ),
    ...Object.fromEntries(
      queries.map(({ name, text }) => [
        `models/${name.replace('.', '/')}.sql`,
        `-- @kind: table\n${text}\n`,
      ]),
    ),
  }
}

async function write(
  connection: Connection,
  space: Workspace,
  name: string,
  rows: Sql,
): Promise<void> {
  const path = space.path(`data/${name}.parquet`)
  await rm(path, { force: true })
  await connection.run(sql`COPY (${rows}) TO ${sql.value(path)}`)
}

async function waysOf(space: Workspace): Promise<ReadonlyMap<string, string>> {
  const { stdout } = await space.ok(['ls', '--json'])
  const rows = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly model?: string; readonly way?: string | null })
  return new Map(rows.flatMap(({ model, way }) => (model && way ? [[model, way]] : [])))
}
