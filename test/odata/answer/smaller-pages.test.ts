// Alone in its process: it measures memory.
//
// Pages that would take more memory than there is are made smaller: nothing is refused, and no row is left out.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../../src/core/limits.ts'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import { serve } from '../../support/odata-service.ts'
import type { Table } from '../../support/snapshot-files.ts'

interface Page {
  readonly status: number
  readonly rows: readonly Readonly<Record<string, unknown>>[]
}

/** All pages, the first one first. */
async function pagesOf(
  served: Awaited<ReturnType<typeof serve>>,
  target: string,
): Promise<readonly Page[]> {
  const pages: Page[] = []
  for (let next: string | undefined = target; next !== undefined;) {
    const { status, json } = await served.get(next)
    pages.push({ status, rows: json.value })
    const link: string | undefined = json['@odata.nextLink']
    next = link?.slice(served.url.length + 1)
  }
  return pages
}

test('$expand within $expand brings no more rows than one level may, on average', async () => {
  await using resources = new Resources()
  const [parents, perParent] = [300, 50]
  const tables: readonly Table[] = [
    {
      model: 'big.parents',
      key: ['parent_id'],
      rows: sql`SELECT i AS parent_id FROM range(${sql.value(parents)}) AS r(i)`,
    },
    {
      model: 'big.children',
      key: ['child_id'],
      rows: sql`SELECT i AS child_id, i % ${sql.value(parents)} AS parent_id FROM range(${sql.value(parents * perParent)}) AS r(i)`,
    },
  ]
  const served = await serve(resources, tables)
  const pages = await pagesOf(
    served,
    'big_parents?$expand=children($expand=parent($expand=children))',
  )
  const related = perParent * (1 + 1 + perParent)
  assert.ok(pages.length > 1)
  assert.is(pages[0]!.rows.length, Math.floor(limits.expandedRows / related))
  const ids = pages.flatMap(({ rows }) => rows.map((row) => row['parent_id']))
  assert.equal(
    ids,
    Array.from({ length: parents }, (_, id) => id),
  )
  const oneLevel = await served.get('big_parents?$expand=children')
  assert.is(oneLevel.json.value.length, parents)
})

/** One customer has nearly all orders, each of which holds all of them. */
const skewed: readonly Table[] = [
  {
    model: 'shop.customers',
    key: ['customer_id'],
    rows: sql`SELECT i AS customer_id FROM range(400) AS r(i)`,
  },
  {
    model: 'shop.orders',
    key: ['order_id'],
    rows: sql`SELECT i AS order_id, if(i < 400, i, 0) AS customer_id, repeat('x', 50) AS name FROM range(1600) AS r(i)`,
  },
]

test('what rows hold within each other is bounded by its bytes, however few rows there are on average', async () => {
  await using resources = new Resources()
  const served = await serve(resources, skewed, { memoryLimit: '2GB' })
  const within = (levels: number): string =>
    levels === 0 ? 'orders' : `orders($expand=customer($expand=${within(levels - 1)}))`
  const before = process.memoryUsage().rss
  let peak = before
  const looking = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 5)
  resources.defer(() => clearInterval(looking))
  const asked = `shop_customers?$expand=${within(2)}`
  const { status, json } = await served.get(asked)
  assert.equal([status, json.error.code], [400, 'expand-too-large'])
  assert.match(json.error.message, /more than 128 MiB of related rows.*fewer levels/)
  const one = await served.get(`shop_customers(0)?$expand=${within(2)}`)
  assert.equal([one.status, one.json.error.code], [400, 'expand-too-large'])
  assert.ok(peak - before < 2 ** 30, `${peak - before} bytes`)
  const others = await served.get(`${asked}&$filter=customer_id%20gt%200`)
  assert.is(others.json.value.length, 399)
})

test('rows that all hold the same wide one come in smaller pages', async () => {
  await using resources = new Resources()
  const wideParent: readonly Table[] = [
    {
      model: 'big.parents',
      key: ['parent_id'],
      rows: sql`SELECT 1 AS parent_id, repeat('x', 200000) AS text`,
    },
    {
      model: 'big.children',
      key: ['child_id'],
      rows: sql`SELECT i AS child_id, 1 AS parent_id FROM range(1000) AS r(i)`,
    },
  ]
  const served = await serve(resources, wideParent)
  const pages = await pagesOf(served, 'big_children?$expand=parent')
  assert.ok(pages.length > 1)
  const ids = pages.flatMap(({ rows }) => rows.map((row) => row['child_id']))
  assert.equal(
    ids,
    Array.from({ length: 1000 }, (_, id) => id),
  )
})

const texts = Array.from(
  { length: 20 },
  (_, i) => sql`repeat('x', 5000) || (i + ${sql.value(i)}) AS ${sql.ident(`c${i}`)}`,
)
/** 100 KB a row. */
const wide: Table = {
  model: 'big.wide',
  key: ['id'],
  rows: sql`SELECT i AS id, ${sql.join(texts)} FROM range(2000) AS r(i)`,
}

test('a page of wide rows that has no room in memory, and its next ones', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [wide], { memoryLimit: '700MB' })
  const pages = await pagesOf(served, 'big_wide')
  assert.equal(
    pages.map(({ status }) => status).filter((status) => status !== 200),
    [],
  )
  assert.ok(pages.length > 1, 'the page had room as it was')
  const ids = pages.flatMap(({ rows }) => rows.map((row) => row['id']))
  assert.equal(
    ids,
    Array.from({ length: 2000 }, (_, id) => id),
  )
})

test('with no room for any page, what to ask for instead is said', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [wide], { memoryLimit: '64MB' })
  const { status, json } = await served.get('big_wide')
  assert.equal([status, json.error.code], [503, 'overloaded'])
  assert.match(json.error.message, /not enough memory for this answer; ask for less with \$select/)
  assert.is((await served.get('big_wide?$select=id')).json.value.length, 2000)
})

test.run()
