// Five models that make the engine work: a copy, a window, two groupings, and a join of three tables.

import { DuckDBInstance } from '@duckdb/node-api'
import { workspace } from '../../support/workspace.ts'
import type { Took } from '../processor-time.ts'
import { compareTables } from './compare-tables.ts'
import { eiderProject } from './eider-project.ts'
import { inTurn, type PeerFigure, type PeerOptions } from './peer.ts'
import type { PipelineModel, PipelinePeer, PipelineProject } from './pipeline-peer.ts'

const queries = {
  orders: `SELECT id, customer, product, amount, ordered_at, ordered_at::DATE AS day, upper(note) AS note
FROM files.orders
WHERE amount > 0`,
  ranked: `SELECT id,
  row_number() OVER (PARTITION BY customer ORDER BY ordered_at, id) AS nth,
  sum(amount) OVER (PARTITION BY customer ORDER BY ordered_at, id) AS spent
FROM heavy.orders`,
  customers: `SELECT customer, count(*) AS orders, sum(amount) AS amount, count(DISTINCT product) AS products,
  min(ordered_at) AS first_at, max(ordered_at) AS last_at
FROM heavy.orders
GROUP BY customer`,
  days: `SELECT product, day, count(*) AS orders, sum(amount) AS amount, count(DISTINCT customer) AS customers
FROM heavy.orders
GROUP BY product, day`,
  shares: `SELECT o.id, o.customer, o.amount, r.nth, r.spent, c.amount AS total, c.products
FROM heavy.orders AS o
JOIN heavy.ranked AS r ON r.id = o.id
JOIN heavy.customers AS c ON c.customer = o.customer`,
}

const models = Object.entries(queries).map(([table, query]): PipelineModel => ({
  schema: 'heavy',
  table,
  query,
}))

export async function heavyModels(peer: PipelinePeer, { quick }: PeerOptions): Promise<PeerFigure> {
  const rows = quick ? 500_000 : 5_000_000
  await using files = await workspace()
  const orders = files.path('orders.parquet')
  await writeOrders(orders, rows)
  await using ours = new FreshProject(() => eiderProject({ orders }))
  await using theirs = new FreshProject(() => peer.open({ orders }))
  const build = (project: FreshProject) => () => project.build()
  const costs = await inTurn(quick ? 1 : 3, build(ours), build(theirs))
  await compareTables([ours.project!, theirs.project!], models)
  const work = `build of ${models.length} heavy models, ${rows.toLocaleString('en-US')} rows`
  return { work, ...costs, unit: 'ms', goal: null }
}

/** Builds in a directory of its own each time. */
class FreshProject implements AsyncDisposable {
  project: PipelineProject | undefined
  readonly #open: () => Promise<PipelineProject>

  constructor(open: () => Promise<PipelineProject>) {
    this.#open = open
  }

  async build(): Promise<Took> {
    await this[Symbol.asyncDispose]()
    this.project = await this.#open()
    for (const model of models) await this.project.write(model)
    return this.project.build()
  }

  async [Symbol.asyncDispose]() {
    await this.project?.[Symbol.asyncDispose]()
  }
}

async function writeOrders(path: string, rows: number): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  await connection.run(`COPY (
    SELECT i AS id, (hash(i) % 200_000)::INTEGER AS customer, (hash(i + 1) % 5_000)::INTEGER AS product,
      (hash(i + 2) % 100_000 / 100)::DECIMAL(12,2) AS amount, TIMESTAMP '2024-01-01' + to_seconds(i * 3) AS ordered_at,
      'a note on order ' || i AS note
    FROM range(${rows}) AS r(i)
  ) TO '${path}' (FORMAT parquet)`)
  connection.closeSync()
  instance.closeSync()
}
