// A table of sums for each day of ten years, and one of all rows: what a run costs that makes some of their days anew, and
// what it costs that each range of days is remembered; and what it costs to erase one person of a large table.

import { rm, stat } from 'node:fs/promises'
import { type Sql, sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { type Workspace, workspace } from '../support/workspace.ts'
import { type Benchmark, type Figure, median } from './figure.ts'
import { againstRebuild, ORDERS, type Rebuilt, takenByModel, writeRows } from './changed-rows.ts'
import { takenByEider } from './processor-time.ts'

const DAYS = 3_652

export const periodsBenchmark: Benchmark = {
  name: 'periods',
  async *run({ quick, rows = quick ? 2_000_000 : 20_000_000 }) {
    await using space = await workspace(files)
    await writeRows(space, 'orders', orders(0, rows, 0, DAYS))
    await space.ok(['run', '--quiet'], { timeoutMs: 600_000 })
    // From here on the source has only what is new; its files are hashed by each command.
    await rm(space.path('data/orders.parquet'))
    yield* await threeDays(space, 'mart.daily', rows, quick ? 2 : 5)
    yield* await remembered(space, quick ? 2 : 5)
    yield await onePerson(space, rows, quick ? 2 : 3)
    await space.write('models/mart/cleaned.sql', CLEANED)
    await space.ok(['run', 'mart.cleaned', '--quiet'], { timeoutMs: 600_000 })
    yield* await threeDays(space, 'mart.cleaned', rows + 1_000_000, quick ? 2 : 5)
  },
}

const files = {
  ...ORDERS,
  'models/mart/daily.sql': `-- @kind: period
-- @period: day of day lookback 1 day
-- @expose day, region
SELECT ordered_at::DATE AS day, region, count(*)::INTEGER AS orders, sum(amount)::DECIMAL(18,2) AS revenue
FROM raw.orders
GROUP BY ALL
`,
}

/** Each order, as most tables of a period are. */
const CLEANED = `-- @kind: period
-- @period: day of ordered_at lookback 1 day
SELECT order_id, customer_id, upper(region) AS region, ordered_at, amount::DECIMAL(12,2) AS amount,
  CASE WHEN amount >= 100 THEN 'large' ELSE 'small' END AS size
FROM raw.orders
`

/** `count` orders from this number on, of this day and those after it, in the order of their times. */
const orders = (from: number, count: number, day: number, days: number): Sql => sql`
  SELECT ${number(from)} + i AS order_id, (i * 7919 % 100000)::INTEGER AS customer_id,
    ['north', 'south', 'east', 'west'][1 + i % 4] AS region,
    TIMESTAMP '2016-01-01' + to_days(${number(day)}::INTEGER)
      + to_seconds(i * ${number(days)}::DOUBLE * 86400 / ${number(count)}) AS ordered_at,
    (i * 104729 % 20000 / 100)::DECIMAL(10,2) AS amount
  FROM range(${number(count)}) AS r(i)`

const number = (value: number): Sql => sql.value(value)

/** `first`: the number of the first order that is new. */
async function threeDays(
  space: Workspace,
  model: string,
  first: number,
  rounds: number,
): Promise<readonly Figure[]> {
  const took: Rebuilt = { few: [], all: [] }
  for (let round = 0; round < rounds; round++) {
    await writeRows(space, 'late', orders(first + round * 3_000, 3_000, 1_000 + round * 100, 3))
    await space.ok(['run', 'raw.orders', '--quiet'], { timeoutMs: 600_000 })
    took.few.push(await takenByModel(space, model))
    took.all.push(await takenByModel(space, model, ['--full-refresh']))
  }
  const what = `3 of ${DAYS.toLocaleString('en-US')} days of ${model} / full rebuild`
  return [
    againstRebuild(`${what}: the model`, took, 'builtMs', 0.05),
    againstRebuild(`${what}: the command`, took, 'ms', 0.5),
    againstRebuild(`${what}: processor time of the command`, took, 'processorMs', 0.5),
  ]
}

/** Ranges of days that do not adjoin, so that none is merged with another one; after each other, as nothing takes them away. */
async function remembered(space: Workspace, rounds: number): Promise<readonly Figure[]> {
  const idle = async () => {
    await space.ok(['run', 'mart.daily', '--quiet'])
    const times: number[] = []
    for (let round = 0; round < rounds; round++)
      times.push(takenByEider(['run', 'mart.daily'], space.dir).processorMs)
    return median(times)
  }
  const without = await idle()
  const figures: Figure[] = []
  for (const ranges of [DAYS, 100_000]) {
    await remember(space, ranges)
    const ours = await idle()
    figures.push({
      name: `processor time of a run with nothing to do, ${ranges.toLocaleString('en-US')} ranges remembered / without`,
      ratio: ours / without,
      bound: { at: 'most', ratio: 1.05 },
      measured: `${Math.round(ours)} ms against ${Math.round(without)} ms`,
    })
  }
  await change(space, sql`DELETE FROM _eider.slices WHERE range_start IS NOT NULL`)
  return figures
}

/** Like the newest one that is there, for each other day before the first row. */
const remember = (space: Workspace, ranges: number): Promise<void> =>
  change(
    space,
    sql`INSERT INTO _eider.slices
    SELECT s.seq + 1 + i, s.model, (DATE '2010-01-01' - (2 * i)::INTEGER)::VARCHAR,
      (DATE '2010-01-02' - (2 * i)::INTEGER)::VARCHAR, s.definition, s.run_id, s.built_at
    FROM (FROM _eider.slices WHERE lower(model) = 'mart.daily' AND definition IS NOT NULL ORDER BY seq DESC LIMIT 1) s,
      range(${number(ranges)}) AS r(i)`,
  )

async function change(space: Workspace, statement: Sql): Promise<void> {
  await using database = await Database.open({ path: space.path('.eider/warehouse.duckdb') })
  await using connection = await database.connect()
  await connection.run(statement)
}

/** Against DuckDB's own way to write a file of tables once more, which leaves nothing of rows that are deleted. */
async function onePerson(space: Workspace, rows: number, rounds: number): Promise<Figure> {
  const took = { ours: [] as number[], baseline: [] as number[] }
  const [from, to] = [space.path('.eider/warehouse.duckdb'), space.path('copy.duckdb')]
  for (let round = 0; round < rounds; round++) {
    const before = process.cpuUsage()
    await using database = await Database.open({ path: ':memory:' })
    await using connection = await database.connect()
    await connection.run(sql`ATTACH ${sql.value(from)} AS old (READ_ONLY)`)
    await connection.run(sql`ATTACH ${sql.value(to)} AS new`)
    await connection.run(sql`COPY FROM DATABASE old TO new`)
    await connection.run(sql`DETACH new`)
    await connection.run(sql`DETACH old`)
    const { user, system } = process.cpuUsage(before)
    took.baseline.push((user + system) / 1_000)
    await rm(to)
    const person = `customer_id = ${round}`
    took.ours.push(takenByEider(['erase', 'raw.orders', person], space.dir).processorMs)
  }
  const [ours, baseline] = [median(took.ours), median(took.baseline)]
  const { size } = await stat(from)
  return {
    name: `erase of a person in ${rows.toLocaleString('en-US')} rows / copy of the database: processor time`,
    ratio: ours / baseline,
    bound: { at: 'most', ratio: 2 },
    measured: `${Math.round(ours)} ms against ${Math.round(baseline)} ms, ${Math.round(size / 1e6)} MB`,
  }
}
