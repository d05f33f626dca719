// Random questions of numbers, and what is known of the orders that they are about: measures in SQL that is written by hand,
// and rollups with what each of them can answer.

import type { TimeUnit } from '../../src/explorer/page/chart/time-units.ts'
import { type Sql, sql } from '../../src/core/sql.ts'

export const ORDERS = `-- @expose order_id
-- @measure revenue: sum(amount) where state = 'paid'
-- @measure costs: sum(cost)
-- @measure profit: sum(amount - cost) where state = 'paid'
-- @measure margin: profit / revenue
-- @measure orders: count(*)
-- @measure open_orders: count(*) where state = 'open'
-- @measure priced: count(amount)
-- @measure items: sum(qty)
-- @measure price: sum(amount) / items
-- @measure mean: avg(amount)
-- @measure least: min(amount)
-- @measure last_moment: max(ordered_at)
-- @measure customers: count(DISTINCT customer_id)
-- @dimension country, state, channel
-- @time ordered_at
-- @rollup month, country, state
-- @rollup day, channel
-- @rollup year, country
SELECT i AS order_id, (i * 31 % 57)::INTEGER AS customer_id,
  nullif('c' || (i * 7 % 6), 'c3') AS country,
  CASE WHEN i % 4 = 0 THEN 'paid' WHEN i % 9 = 0 THEN NULL WHEN i % 5 = 0 THEN '' ELSE 'open' END AS state,
  CASE i % 3 WHEN 0 THEN 'web' WHEN 1 THEN 'it''s' ELSE 'Ærø 50%' END AS channel,
  CASE WHEN i % 11 > 0 THEN (i * 37 % 1000 - 100)::DECIMAL(18,2) / 4 END::DECIMAL(18,4) AS amount,
  (i % 3)::DECIMAL(18,2) AS cost, nullif(i % 4, 3)::INTEGER AS qty,
  CASE WHEN i % 97 > 0 THEN TIMESTAMP '2023-11-05 22:30:00' + to_seconds(i * 26993 % 52000000) END AS ordered_at
FROM range(4000) r(i)
`

/** Each measure, written by hand. */
export const measures: Readonly<Record<string, Sql>> = {
  revenue: sql`sum(CASE WHEN state = 'paid' THEN amount END)`,
  costs: sql`sum(cost)`,
  profit: sql`sum(CASE WHEN state = 'paid' THEN amount - cost END)`,
  margin: sql`sum(CASE WHEN state = 'paid' THEN amount - cost END) / nullif(sum(CASE WHEN state = 'paid' THEN amount END), 0)`,
  orders: sql`count(*)`,
  open_orders: sql`count(CASE WHEN state = 'open' THEN 1 END)`,
  priced: sql`count(amount)`,
  items: sql`sum(qty)`,
  price: sql`sum(amount) / nullif(sum(qty), 0)`,
  mean: sql`sum(amount) / nullif(count(amount), 0)`,
  least: sql`min(amount)`,
  last_moment: sql`max(ordered_at)`,
  customers: sql`count(DISTINCT customer_id)`,
}
/** No parts of a rollup give it. */
const NEVER_ADDED = 'customers'

export const dimensions = ['country', 'state', 'channel']

/** Numbers of the units of time since 1970, as a chart has them. */
export const units: Readonly<Record<TimeUnit, Sql>> = {
  hour: sql`floor(epoch(ordered_at) / 3600)::BIGINT`,
  day: sql`(ordered_at::DATE - DATE '1970-01-01')::BIGINT`,
  week: sql`(date_trunc('week', ordered_at)::DATE - DATE '1970-01-05')::BIGINT // 7`,
  month: sql`(year(ordered_at) - 1970) * 12 + month(ordered_at) - 1`,
  quarter: sql`(year(ordered_at) - 1970) * 4 + quarter(ordered_at) - 1`,
  year: sql`year(ordered_at) - 1970`,
}

interface Rollup {
  readonly set: string
  readonly time: string
  readonly units: readonly TimeUnit[]
  readonly dimensions: readonly string[]
}

export const rollups: readonly Rollup[] = [
  {
    set: 'core_orders_by_month_country_state',
    time: 'month',
    units: ['month', 'quarter', 'year'],
    dimensions: ['country', 'state'],
  },
  {
    set: 'core_orders_by_day_channel',
    time: 'day',
    units: ['day', 'week', 'month', 'quarter', 'year'],
    dimensions: ['channel'],
  },
  { set: 'core_orders_by_year_country', time: 'year', units: ['year'], dimensions: ['country'] },
]

interface Filter {
  /** `time`: the name of the column with the time. */
  readonly text: (time: string) => string
  readonly sql: Sql
  /** Columns that it reads; a rollup needs them as dimensions. */
  readonly on: readonly string[]
  /** The least unit of time at whose edges it cuts; null: none. */
  readonly unit: TimeUnit | null
}

export interface Question {
  readonly measures: readonly string[]
  readonly by: readonly string[]
  readonly unit: TimeUnit | null
  readonly filter: Filter | null
}

/** The beginning of a day as a value of the column with the time: rollups have days. */
export const moment = (time: string, day: string) =>
  time === 'ordered_at' ? `${day}T00:00:00Z` : day

type Random = () => number
const oneOf = <T>(random: Random, all: readonly T[]): T => all[Math.floor(random() * all.length)]!
const some = <T>(random: Random, all: readonly T[], most: number) => [
  ...new Set(Array.from({ length: 1 + Math.floor(random() * most) }, () => oneOf(random, all))),
]

const values: Readonly<Record<string, readonly string[]>> = {
  country: ['c0', 'c1', 'c5', 'nowhere'],
  state: ['paid', 'open', ''],
  channel: ['web', "it's", 'Ærø 50%'],
}

function condition(random: Random): Filter {
  const kind = random()
  if (kind < 0.5) {
    const column = oneOf(random, dimensions)
    const value = oneOf(random, values[column]!)
    const literal = `'${value.replaceAll("'", "''")}'`
    const [name, text] = [sql.ident(column), sql.value(value)]
    const forms: readonly (readonly [string, Sql])[] = [
      [`${column} eq ${literal}`, sql`${name} = ${text}`],
      [`${column} ne ${literal}`, sql`${name} IS DISTINCT FROM ${text}`],
      [`${column} eq null`, sql`${name} IS NULL`],
      [`${column} in (${literal},'web','c2')`, sql`${name} IN (${text}, 'web', 'c2')`],
      [`not startswith(${column},'c')`, sql`NOT starts_with(${name}, 'c')`],
    ]
    const [url, written] = oneOf(random, forms)
    return { text: () => url, sql: written, on: [column], unit: null }
  }
  if (kind < 0.8) {
    const month = 1 + Math.floor(random() * 12)
    const edge = random() < 0.5 ? '2024-01-01' : `2024-${String(month).padStart(2, '0')}-01`
    const isFrom = random() < 0.5
    return {
      text: (time) => `${time} ${isFrom ? 'ge' : 'lt'} ${moment(time, edge)}`,
      sql: isFrom
        ? sql`ordered_at >= CAST(${sql.value(edge)} AS TIMESTAMP)`
        : sql`ordered_at < CAST(${sql.value(edge)} AS TIMESTAMP)`,
      on: [],
      unit: edge.endsWith('01-01') ? 'year' : 'month',
    }
  }
  const least = Math.floor(random() * 200)
  return oneOf(random, [
    {
      text: () => `amount gt ${least}.5`,
      sql: sql`amount > CAST(${sql.value(`${least}.5`)} AS DECIMAL(18,4))`,
      on: ['amount'],
      unit: null,
    },
    { text: () => 'qty eq 2', sql: sql`qty = 2`, on: ['qty'], unit: null },
  ])
}

function both(a: Filter, b: Filter, isAnd: boolean): Filter {
  const finer = [a.unit, b.unit].includes('month') ? 'month' : (a.unit ?? b.unit)
  return {
    text: (time) => `(${a.text(time)}) ${isAnd ? 'and' : 'or'} (${b.text(time)})`,
    sql: isAnd ? sql`(${a.sql}) AND (${b.sql})` : sql`(${a.sql}) OR (${b.sql})`,
    on: [...a.on, ...b.on],
    unit: finer,
  }
}

export function randomQuestion(random: Random): Question {
  const kind = random()
  const filter =
    kind < 0.3
      ? null
      : kind < 0.7
        ? condition(random)
        : both(condition(random), condition(random), random() < 0.7)
  return {
    measures: some(random, Object.keys(measures), 3),
    by: random() < 0.35 ? [] : some(random, dimensions, 2),
    unit: random() < 0.45 ? null : oneOf(random, Object.keys(units) as TimeUnit[]),
    filter,
  }
}

/** Whether its rows can be added up to the answer. */
export function fits(rollup: Rollup, { measures: names, by, unit, filter }: Question): boolean {
  const read = [...by, ...(filter?.on ?? [])]
  const edges = [unit, filter?.unit ?? null].filter((one) => one !== null)
  return (
    !names.includes(NEVER_ADDED) &&
    read.every((name) => rollup.dimensions.includes(name)) &&
    edges.every((one) => rollup.units.includes(one))
  )
}
