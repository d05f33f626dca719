// What a question of numbers costs next to the SQL that a person would write for it: the rows below each node of a
// hierarchy, a measure of many rows, and the same numbers from a rollup.

import { type Sql, sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { InMemoryTables } from '../support/in-memory-tables.ts'
import { encodedTarget } from '../support/json-rows.ts'
import { processorMsOf } from '../support/processor-time.ts'
import { workspace } from '../support/workspace.ts'
import { type Benchmark, type Figure, interleaved } from './figure.ts'
import { fileOf } from './served.ts'

export const meaningBenchmark: Benchmark = {
  name: 'meaning',
  async *run({ quick, rows = quick ? 2_000_000 : 20_000_000 }) {
    const rounds = quick ? 3 : 7
    yield* rolledUp(quick ? 200_000 : 1_000_000, rounds)
    yield* measures(rows, rounds)
  },
}

/** Ten nodes below each, so seven levels of a million. */
async function* rolledUp(nodes: number, rounds: number): AsyncGenerator<Figure> {
  const model = 'bench.nodes'
  const hierarchies = [{ name: 'org', node: 'id', parent: 'parent_id' }]
  await using tables = await InMemoryTables.open([
    {
      model,
      key: ['id'],
      hierarchies,
      rows: sql`SELECT i AS id, CASE WHEN i > 0 THEN i // 10 END AS parent_id, i % 97 AS amount
        FROM range(${sql.value(nodes)}) AS r(i)`,
    },
  ])
  const target = encodedTarget(
    'bench_nodes?$apply=groupby((rolluprecursive($root/bench_nodes,org,id)),aggregate(amount with sum as total))&$select=id,total&$orderby=total desc&$top=5',
  )
  const table = sql`bench_nodes.main.rows`
  const byHand = (
    union: Sql,
  ) => sql`WITH RECURSIVE pairs AS (SELECT id AS node, id AS above FROM ${table}
      ${union} SELECT n.id, above FROM pairs JOIN ${table} AS n ON n.parent_id = node)
    SELECT above, sum(amount) AS total FROM pairs JOIN ${table} AS n ON n.id = node GROUP BY 1 ORDER BY 2 DESC LIMIT 5`
  const unions = { 'UNION ALL': sql`UNION ALL`, UNION: sql`UNION` }
  for (const [name, union] of Object.entries(unions)) {
    const ms = await interleaved(
      rounds,
      () => processorMs(() => tables.rows(target)),
      () => processorMs(() => tables.run(byHand(union))),
    )
    yield {
      name: `rolluprecursive / a recursive query with ${name}, of processor time`,
      ratio: ms.ours / ms.baseline,
      bound: name === 'UNION ALL' ? { at: 'most', ratio: 2 } : null,
      measured: `${nodes} nodes: ${ms.ours.toFixed(0)} ms against ${ms.baseline.toFixed(0)}, medians of ${rounds}`,
    }
  }
}

function ownProcessorMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

async function processorMs(work: () => Promise<unknown>): Promise<number> {
  const before = ownProcessorMs()
  await work()
  return ownProcessorMs() - before
}

const comparedWith = (
  name: string,
  { ours, baseline }: { readonly ours: number; readonly baseline: number },
  rows: number,
  rounds: number,
): Figure => ({
  name,
  ratio: ours / baseline,
  bound: { at: 'most', ratio: 1.2 },
  measured: `${rows} rows: ${ours.toFixed(0)} ms against ${baseline.toFixed(0)}, medians of ${rounds}`,
})

/** The system counts in steps of 10 ms. */
const TIMES = 8

async function eachOf(work: () => Promise<unknown>, clock: () => Promise<number>): Promise<number> {
  const before = await clock()
  for (let i = 0; i < TIMES; i++) await work()
  return ((await clock()) - before) / TIMES
}

const sales = (rows: number) => `-- @expose id
-- @measure revenue: sum(amount)
-- @time day
-- @rollup month
SELECT i AS id, DATE '2020-01-01' + (i % 2000)::INTEGER AS day, date_trunc('month', day)::DATE AS first_day,
  (i % 9973 / 100)::DECIMAL(18,2) AS amount
FROM range(${rows}) AS r(i)`

async function* measures(rows: number, rounds: number): AsyncGenerator<Figure> {
  await using space = await workspace({
    'eider.yml': 'name: bench\n',
    'models/mart/sales.sql': sales(rows),
  })
  await space.ok(['run', '--quiet'], { timeoutMs: 900_000 })
  await using service = await space.start(['serve', '--port', '0', '--quiet'])
  const path = await fileOf(space, 'mart.sales')
  await using database = await Database.open({ path, readOnly: true })
  await using connection = await database.connect()
  const ask = async (target: string) => {
    const startedAt = performance.now()
    const answer = await fetch(`${service.url}/${encodedTarget(target)}`)
    await answer.text()
    if (answer.status !== 200) throw new Error(`${target} is ${answer.status}`)
    return performance.now() - startedAt
  }
  // Each request is new, so that no answer is known.
  let asked = 1000
  const own = () => ask(`mart_sales?$apply=groupby((first_day),aggregate(revenue))&$top=${++asked}`)
  const byHand = async () => {
    const startedAt = performance.now()
    await connection.rows(
      sql`SELECT first_day, sum(amount) FROM main.rows GROUP BY 1 ORDER BY 1 LIMIT 1000`,
    )
    return performance.now() - startedAt
  }
  const name = 'a measure by month over HTTP / the query of DuckDB'
  const byClock = await interleaved(rounds, own, byHand)
  yield comparedWith(name, byClock, rows, rounds)
  const byProcessor = await interleaved(
    rounds,
    () => eachOf(own, () => processorMsOf(service.pid)),
    () => eachOf(byHand, () => Promise.resolve(ownProcessorMs())),
  )
  yield comparedWith(`${name}, of processor time`, byProcessor, rows, rounds)
  const rollup = await interleaved(
    rounds * 3,
    () => ask(`mart_sales_by_month?$top=${++asked}`),
    () => Promise.resolve(10),
  )
  yield {
    name: 'the same from a rollup / 10 ms',
    ratio: rollup.ours / rollup.baseline,
    bound: { at: 'most', ratio: 1 },
    measured: `${rollup.ours.toFixed(1)} ms, median of ${rounds * 3}`,
  }
}
