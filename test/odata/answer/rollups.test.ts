// Random questions, asked of a set by the names of its measures, of its rollups, and in SQL of the table.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { type Sql, sql } from '../../../src/core/sql.ts'
import { Database } from '../../../src/duckdb/database.ts'
import { writeFiles } from '../../support/golden.ts'
import { type Answer, serveSnapshots } from '../../support/odata-service.ts'
import { runProject } from '../../support/pipeline-project.ts'
import { bearer, readerToken } from '../../support/reader-token.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { workspaceOnTarget } from '../../support/workspace-on-target.ts'

const MODEL = `-- @expose order_id
-- @measure revenue: sum(amount) where state = 'paid'
-- @measure costs: sum(cost)
-- @measure share: revenue / costs
-- @measure orders: count(*)
-- @measure paid: count(amount) where state = 'paid'
-- @measure items: sum(qty)
-- @measure price: sum(amount) / items
-- @measure mean: avg(amount)
-- @measure first_day: min(day)
-- @measure states: count(DISTINCT state)
-- @dimension country, state
-- @time day
-- @rollup month, country, state
-- @rollup year, country
SELECT i AS order_id, nullif('c' || (i * 7 % 5), 'c3') AS country, 's' || (i % 3) AS other,
  CASE WHEN i % 4 = 0 THEN 'paid' WHEN i % 9 = 0 THEN NULL ELSE 'open' END AS state,
  CASE WHEN i % 11 > 0 THEN (i * 37 % 1000)::DECIMAL(18,2) / 4 END::DECIMAL(18,2) AS amount,
  (i % 3)::DECIMAL(18,2) AS cost, (i % 2)::INTEGER AS qty, DATE '2024-01-01' + (i * 3 % 900)::INTEGER AS day
FROM range(3000) r(i)
`

/** The same numbers, written by hand. */
const inSql: Readonly<Record<string, Sql>> = {
  revenue: sql`sum(CASE WHEN state = 'paid' THEN amount END)`,
  costs: sql`sum(cost)`,
  share: sql`sum(CASE WHEN state = 'paid' THEN amount END) / nullif(sum(cost), 0)`,
  orders: sql`count(*)`,
  paid: sql`count(CASE WHEN state = 'paid' THEN amount END)`,
  items: sql`sum(qty)`,
  price: sql`sum(amount) / nullif(sum(qty), 0)`,
  mean: sql`sum(amount) / nullif(count(amount), 0)`,
  first_day: sql`min(day)`,
}

interface Filter {
  readonly url: string
  readonly sql: Sql
}

const filters: readonly Filter[] = [
  { url: '', sql: sql`true` },
  { url: "filter(country ne 'c1')/", sql: sql`country IS DISTINCT FROM 'c1'` },
  {
    url: "filter(country eq null or country eq 'c2')/",
    sql: sql`country IS NULL OR country = 'c2'`,
  },
  { url: "filter(country eq 'none')/", sql: sql`country = 'none'` },
]

/** Rows as lines of texts, in no order. */
const linesOf = (rows: readonly Readonly<Record<string, unknown>>[]) =>
  rows
    .map((row) =>
      Object.values(row)
        .map((value) => (value ?? '-') as string)
        .join(),
    )
    .toSorted()

function answered({ status, text, json }: Answer, question: string) {
  assert.is(status, 200, `${question}: ${text}`)
  return linesOf((json as { value: Readonly<Record<string, unknown>>[] }).value)
}

test('a set by its measures, its rollups and SQL give the same numbers to the digit', async () => {
  await using resources = new Resources()
  const { dir, paths } = resources.use(await workspaceOnTarget({ name: 'questions' }))
  await writeFiles(dir, [{ path: 'models/core/orders.sql', content: Buffer.from(MODEL) }])
  await runProject(paths)
  const served = await serveSnapshots(resources, paths.snapshots)
  const database = resources.use(await Database.open({ path: paths.database, readOnly: true }))
  const connection = resources.use(await database.connect())
  const random = seededRandom(1)
  const oneOf = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)]!
  const names = Object.keys(inSql)
  let asked = 0
  for (let n = 0; n < 60; n++) {
    const measures = [...new Set([oneOf(names), oneOf(names), oneOf(names)])]
    const filter = oneOf(filters)
    const groups = random() < 0.3 ? [] : random() < 0.5 ? ['country'] : ['country', 'year']
    const totals = `aggregate(${measures.join()})`
    const apply = (year: string) => {
      const keys = groups.map((name) => (name === 'year' ? 'y' : name)).join()
      const computed = groups.includes('year') ? `compute(year(${year}) as y)/` : ''
      return `${filter.url}${computed}${keys === '' ? totals : `groupby((${keys}),${totals})`}`
    }
    const of = async (set: string, time: string) => {
      const question = `${set}?$apply=${apply(time)}`
      return answered(await served.get(encodeURI(question)), question)
    }
    const keys = groups.map((name) => (name === 'year' ? sql`year(day)` : sql.ident(name)))
    const values = [...keys, ...measures.map((name) => inSql[name]!)]
    const by = keys.length === 0 ? sql.empty : sql` GROUP BY ${sql.join(keys)}`
    const texts = values.map((value, i) => sql`to_json(${value}) AS ${sql.ident(`c${i}`)}`)
    const rows = await connection.rows(
      sql`SELECT ${sql.join(texts)} FROM core.orders WHERE ${filter.sql}${by}`,
    )
    const right = linesOf(
      rows.map((row) =>
        Object.fromEntries(
          Object.entries(row).map(([name, text]) => [
            name,
            JSON.parse((text as string | null) ?? 'null'),
          ]),
        ),
      ),
    )
    const about = `${filter.url} ${groups.join()} ${measures.join()}`
    assert.equal(await of('core_orders', 'day'), right, about)
    assert.equal(await of('core_orders_by_month_country_state', 'month'), right, about)
    assert.equal(await of('core_orders_by_year_country', 'year'), right, about)
    asked++
  }
  assert.is(asked, 60)
  const refused = async (question: string, words: RegExp) => {
    const { status, text } = await served.get(
      encodeURI(`core_orders_by_year_country?$apply=${question}`),
    )
    assert.is(status, 400, question)
    assert.match(text, words)
  }
  await refused('aggregate(states)', /cannot be added up.*ask core_orders for it/)
  await refused('aggregate(states with sum as n)', /cannot be added up/)
  await refused('aggregate(mean with average as n)', /aggregate\(mean\) computes it of its parts/)
})

test('a token sees no numbers of rows that its filter hides', async () => {
  await using resources = new Resources()
  const { dir, paths } = resources.use(await workspaceOnTarget({ name: 'hidden' }))
  await writeFiles(dir, [{ path: 'models/core/orders.sql', content: Buffer.from(MODEL) }])
  await runProject(paths)
  const served = await serveSnapshots(resources, paths.snapshots, {
    tokens: [
      readerToken('few', {
        sets: ['core_orders', 'core_orders_by_year_country'],
        rows: { core_orders: `country = 'c1'` },
      }),
      readerToken('both', { rows: { 'core_orders*': `country = 'c1'` } }),
      readerToken('all', {}),
    ],
  })
  const counted = async (token: string) => {
    const question = 'core_orders_by_year_country?$apply=aggregate(orders)'
    const { status, json } = await served.get(question, bearer(token))
    return status === 200 ? json.value[0].orders : status
  }
  assert.is(await counted('few'), 404)
  assert.is(await counted('both'), 600)
  assert.is(await counted('all'), 3000)
  const { text } = await served.get('', bearer('few'))
  assert.match(text, '"core_orders"')
  assert.not.match(text, 'core_orders_by')
})

test.run()
