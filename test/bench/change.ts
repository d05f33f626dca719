// Tables that a run keeps up to date: what a run costs in which one row of a thousand, or of a hundred, has changed, beside
// one that makes the table anew. That of the work is the processor time of the command beyond what it takes with nothing
// to do.

import { rm } from 'node:fs/promises'
import { type Sql, sql } from '../../src/core/sql.ts'
import { workspace } from '../support/workspace.ts'
import { type Benchmark, type Figure, median } from './figure.ts'
import { againstRebuild, ORDERS, type Rebuilt, takenByModel, writeRows } from './changed-rows.ts'
import { takenByEider } from './processor-time.ts'

/** Of each customer; they lie all over the table. */
const ORDERS_EACH = 20

export const changeBenchmark: Benchmark = {
  name: 'change',
  async *run({ quick, rows = quick ? 2_000_000 : 20_000_000 }) {
    const customers = rows / ORDERS_EACH
    await using space = await workspace(files(customers))
    await writeRows(space, 'orders', orders({ from: 0, count: rows, customers }))
    await space.ok(['run', '--quiet'], { timeoutMs: 600_000 })
    // From here on the source has only what is new; its files are hashed by each command.
    await rm(space.path('data/orders.parquet'))
    let [from, batch] = [rows, 0]
    for (const [share, text] of [
      [0.001, '0.1 %'],
      [0.01, '1 %'],
    ] as const) {
      const took: Record<Name, Rebuilt> = {
        'mart.customers': { few: [], all: [] },
        'mart.open_orders': { few: [], all: [] },
        'mart.days': { few: [], all: [] },
      }
      for (let round = 0; round < (quick ? 2 : 5); round++) {
        batch++
        await writeRows(
          space,
          'new',
          orders({ from, count: rows * share, customers, share, batch }),
        )
        from += rows * share
        await space.ok(['run', 'raw.orders', '--quiet'], { timeoutMs: 600_000 })
        for (const name of NAMES) took[name].few.push(await takenByModel(space, name))
        for (const name of NAMES)
          took[name].all.push(await takenByModel(space, name, ['--full-refresh']))
      }
      const nothing = [1, 2, 3].map(() => takenByEider(['run'], space.dir).processorMs)
      for (const name of NAMES)
        yield* figures(name, `${text} of ${inWords(rows)} rows`, took[name], median(nothing))
    }
  },
}

const NAMES = ['mart.customers', 'mart.open_orders', 'mart.days'] as const
type Name = (typeof NAMES)[number]

const WHAT: Readonly<Record<Name, string>> = {
  'mart.customers': 'a join and GROUP BY',
  'mart.open_orders': 'a filter',
  'mart.days': 'a GROUP BY of the day, of rows that are new',
}

const inWords = (rows: number) => rows.toLocaleString('en-US')

function* figures(name: Name, share: string, took: Rebuilt, nothingMs: number): Iterable<Figure> {
  const what = `${WHAT[name]} after changes of ${share} / rebuild`
  const command = againstRebuild(`${what}: processor time of the command`, took, 'processorMs', 0.5)
  const without = (taken: Rebuilt['few']) =>
    taken.map((one) => ({ ...one, processorMs: one.processorMs - nothingMs }))
  const work = { few: without(took.few), all: without(took.all) }
  yield againstRebuild(`${what}: processor time of the work`, work, 'processorMs', 0.05)
  yield {
    ...command,
    measured: `${command.measured}, ${Math.round(nothingMs)} ms with nothing to do`,
  }
}

const files = (customers: number) => ({
  ...ORDERS,
  'models/core/customers.sql': `-- @kind: table
SELECT i::INTEGER AS customer_id, 'Customer ' || i AS name, ['NO', 'SE', 'DK', 'FI'][1 + i % 4] AS country
FROM range(${customers}) AS r(i)
`,
  'models/mart/customers.sql': `-- @kind: table
SELECT o.customer_id, c.name, c.country, count(*) AS orders, sum(o.amount) AS revenue, max(o.ordered_at) AS last_order
FROM raw.orders AS o
JOIN core.customers AS c ON c.customer_id = o.customer_id
GROUP BY o.customer_id, c.name, c.country
`,
  'models/mart/open_orders.sql': `-- @kind: table
SELECT order_id, customer_id, ordered_at, amount, upper(note) AS note
FROM raw.orders
WHERE state = 'open'
`,
  'models/mart/days.sql': `-- @kind: table
SELECT ordered_at::DATE AS day, state, count(*) AS orders, sum(amount) AS revenue
FROM raw.orders
GROUP BY ALL
`,
})

/** Of a share of the customers, each batch of others, in an order that has nothing to do with them. */
const orders = ({
  from,
  count,
  customers,
  share = 1,
  batch = 0,
}: {
  readonly from: number
  readonly count: number
  readonly customers: number
  readonly share?: number
  readonly batch?: number
}): Sql => sql`
  SELECT ${number(from)} + i AS order_id, (i * 7919 % ${number(customers * share)} * ${number(1 / share)} + ${number(batch)})::INTEGER AS customer_id,
    TIMESTAMP '2016-01-01' + to_seconds((${number(from)} + i)::DOUBLE) AS ordered_at,
    (i * 104729 % 20000 / 100)::DECIMAL(10,2) AS amount,
    ['open', 'paid', 'sent', 'back'][1 + i % 4] AS state, 'note of order ' || i AS note
  FROM range(${number(count)}) AS r(i)`

const number = (value: number): Sql => sql.value(value)
