// Pages that begin at a position: every order, with nulls and ties, gives each row once and in one order.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import { type Served, serve } from '../../support/odata-service.ts'
import type { Table } from '../../support/snapshot-files.ts'

/** Ties and nulls in every column but the key; dates at the end of the calendar; characters that need escaping. */
const mixed: Table = {
  model: 'shop.mixed',
  key: ['a', 'b'],
  rows: sql`SELECT i // 7 AS a, 'k' || chr((97 + i * 3 % 7)::INTEGER) || CASE WHEN i % 2 = 0 THEN '''"\\' || chr(10) ELSE 'é' END AS b,
      CASE WHEN i % 3 = 0 THEN NULL ELSE i % 5 END AS tie,
      CASE WHEN i % 4 = 0 THEN NULL ELSE TIMESTAMP '2024-01-01 00:00:00.000001' + to_microseconds(i % 6) END AS moment,
      CASE WHEN i % 5 = 0 THEN NULL ELSE CAST((i % 9) * 1.0001 AS DECIMAL(38,10)) END AS price,
      CASE WHEN i % 6 = 0 THEN NULL ELSE i % 2 = 0 END AS flag,
      CASE WHEN i % 7 = 0 THEN NULL ELSE CAST((i % 4) / 3 AS DOUBLE) END AS ratio,
      CAST(i % 8 AS UTINYINT) AS small,
      CASE WHEN i % 3 = 1 THEN 'NULL' WHEN i % 3 = 2 THEN '' END AS text,
      CASE WHEN i % 5 = 0 THEN DATE 'infinity' ELSE DATE '2024-01-01' + CAST(i % 4 AS INTEGER) END AS day,
      uuid_of[1 + i % 3] AS guid
    FROM range(50) AS r(i), (SELECT [CAST('ffffffff-0000-0000-0000-000000000001' AS UUID), NULL,
      CAST('00000000-0000-0000-0000-000000000002' AS UUID)] AS uuid_of)
    ORDER BY a, b`,
}

const ORDERS = [
  '',
  'a desc',
  'b',
  'tie',
  'tie desc',
  'moment desc,tie',
  'price,flag desc',
  'flag desc,price desc',
  'small desc,b desc',
  'text',
  'text desc,guid',
  'guid desc,text desc',
  'a,b desc',
  'b desc,a desc',
  // Those whose pages are counted.
  'ratio',
  'day desc',
  'length(b) desc,tie',
  'tie add 1 desc',
]

interface Page {
  readonly value: readonly { readonly a: number; readonly b: string }[]
}

async function pagesFrom(served: Served, target: string): Promise<readonly Page[]> {
  const pages: Page[] = []
  for (let next: string | undefined = target; next !== undefined;) {
    const page = await served.get(next)
    assert.is(page.status, 200, page.text)
    pages.push(page.json)
    next = page.json['@odata.nextLink']?.slice(served.url.length + 1)
  }
  return pages
}

const keysOf = (pages: readonly Page[]) => pages.flatMap(({ value }) => value)

test('the pages of every order are its rows, each once', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [mixed])
  for (const order of ORDERS) {
    const orderby = order === '' ? '' : `&$orderby=${encodeURIComponent(order)}`
    for (const [more, size] of [
      ['', 4],
      [`&$filter=${encodeURIComponent("tie ne 2 or text eq ''")}&$skip=3&$top=31`, 7],
    ] as const) {
      const target = `shop_mixed?$select=a,b${orderby}${more}`
      const whole = await served.get(target)
      assert.is(whole.status, 200, whole.text)
      assert.equal(keysOf(await serveSize(served, target, size)), whole.json.value, target)
    }
  }
})

async function serveSize(served: Served, target: string, size: number): Promise<readonly Page[]> {
  const first = await served.get(target, { prefer: `maxpagesize=${size}` })
  const next = first.json['@odata.nextLink']
  const rest = next === undefined ? [] : await pagesFrom(served, next.slice(served.url.length + 1))
  for (const { value } of [first.json, ...rest]) assert.ok(value.length <= size)
  return [first.json, ...rest]
}

test('where the order is one of exact values, the link says where the next page begins', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [mixed])
  const fromOf = async (order: string) => {
    const answer = await served.get(`shop_mixed?$orderby=${encodeURIComponent(order)}`, {
      prefer: 'maxpagesize=10',
    })
    const token = new URL(answer.json['@odata.nextLink']).searchParams.get('$skiptoken')!
    return JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString())[3]
  }
  const whole = await served.get('shop_mixed')
  const eleventh = whole.json.value[10]
  assert.equal(await fromOf('a'), [String(eleventh.a), eleventh.b])
  assert.equal((await fromOf('tie')).length, 3)
  for (const counted of ['ratio', 'day', 'length(b)'])
    assert.is(await fromOf(counted), null, counted)
})

test('pages go on in streams and with expanded rows', async () => {
  await using resources = new Resources()
  const parents: Table = {
    model: 'shop.parents',
    key: ['parent_id'],
    rows: sql`SELECT i * 2 AS parent_id FROM range(30000) AS r(i)`,
  }
  const children: Table = {
    model: 'shop.children',
    key: ['child_id'],
    rows: sql`SELECT i AS child_id, i // 2 * 2 AS parent_id FROM range(40) AS r(i)`,
  }
  const served = await serve(resources, [parents, children])
  const streamed = await served.get('shop_parents', { prefer: 'maxpagesize=12000' })
  assert.is(streamed.json.value.length, 12_000)
  const rest = await pagesFrom(
    served,
    streamed.json['@odata.nextLink'].slice(served.url.length + 1),
  )
  const ids = [streamed.json, ...rest].flatMap(({ value }) =>
    value.map((row: { readonly parent_id: number }) => row.parent_id),
  )
  assert.equal(
    ids,
    Array.from({ length: 30_000 }, (_, i) => i * 2),
  )
  const expanded = await serveSize(served, 'shop_parents?$expand=children&$top=25', 4)
  const all = (await served.get('shop_parents?$expand=children&$top=25')).json.value
  assert.equal(
    expanded.flatMap(({ value }) => value),
    all,
  )
  assert.is(all[3].children.length, 2)
})

test('$count is computed once, and all pages see one time', async () => {
  await using resources = new Resources()
  let reads = 0
  const now = () => new Date(Date.UTC(2024, 0, 1, 0, 0, reads++))
  const served = await serve(resources, [mixed], { now })
  const filter = encodeURIComponent('second(now()) eq 0')
  const pages = await serveSize(served, `shop_mixed?$count=true&$filter=${filter}`, 20)
  assert.equal(
    pages.map(({ value }) => value.length),
    [20, 20, 10],
  )
  for (const page of pages) assert.is((page as never)['@odata.count'], 50)
})

test('an order by an ENUM key is that of its texts', async () => {
  await using resources = new Resources()
  const sizes: Table = {
    model: 'shop.sizes',
    key: ['size'],
    rows: sql`SELECT unnest(['small', 'medium', 'large']::ENUM('small', 'medium', 'large')[]) AS size`,
  }
  const served = await serve(resources, [sizes])
  const sizesOf = (pages: readonly Page[]) =>
    pages.flatMap(({ value }) => value.map((row) => (row as never)['size']))
  assert.equal(sizesOf(await serveSize(served, 'shop_sizes', 1)), ['small', 'medium', 'large'])
  assert.equal(sizesOf(await serveSize(served, 'shop_sizes?$orderby=size', 1)), [
    'large',
    'medium',
    'small',
  ])
})

test.run()
