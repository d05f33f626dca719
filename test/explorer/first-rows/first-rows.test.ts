// The rows that a page of rows has in its HTML: whose they are, and when they are left to the script.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import { explored } from '../../support/explored.ts'
import { type Answer, ask, type Asked } from '../../support/odata-service.ts'
import { bearer, readerToken } from '../../support/reader-token.ts'
import type { Table } from '../../support/snapshot-files.ts'

const tables: readonly Table[] = [
  {
    model: 'shop.orders',
    key: ['id'],
    rows: sql`SELECT i::INTEGER AS id, CASE WHEN i % 2 = 0 THEN 'NO' ELSE 'SE' END AS country,
      9007199254740993 + i AS big FROM range(1, 251) t(i)`,
  },
  { model: 'hr.salaries', key: ['id'], rows: sql`SELECT 1 AS id, 4711 AS pay` },
  {
    model: 'shop.texts',
    key: ['id'],
    rows: sql`SELECT i AS id, repeat('x', 100000) AS text FROM range(9) t(i)`,
  },
]

type At = (path: string, asked?: Asked) => Promise<Answer>

async function explore(
  resources: Resources,
  options?: Parameters<typeof explored>[1],
): Promise<At> {
  const { url } = resources.use(await explored(tables, options))
  return (path, asked = {}) => ask(url.replace(/\/odata$/, '') + path, asked)
}

/** What the script is given: the request, and its answer. */
function dataOf({ text }: Answer) {
  const [, request, snapshot, json = ''] =
    /<script\s+type="application\/json"\s+id="first-rows-data"\s+data-request="([^"]*)"\s+data-snapshot="([^"]*)"\s*>(.*?)<\/script>/s.exec(
      text,
    ) ?? []
  return request === undefined ? null : { request, snapshot, body: JSON.parse(json) }
}

const cellsOf = ({ text }: Answer) =>
  Array.from(text.matchAll(/<td class="[^"]*">(.*?)<\/td>/gs), ([, cell = '']) =>
    cell.replace(/<[^>]*>/g, ''),
  )

test('a page of rows has the answer to the request that it shows', async () => {
  await using resources = new Resources()
  const at = await explore(resources)
  const page = await at("/sets/shop_orders?$filter=country%20eq%20'NO'&$orderby=id%20desc&pin=1")
  const data = dataOf(page)!
  const request = data.request.replaceAll('&amp;', '&')
  assert.not.match(request, 'pin')
  const answer = await at(`/odata/${request}`, {
    headers: {
      accept: 'application/json;odata.metadata=minimal;IEEE754Compatible=true',
      prefer: 'odata.maxpagesize=100',
    },
  })
  assert.equal(data.body, answer.json)
  assert.is(data.snapshot, answer.headers['eider-snapshot'])
  assert.is(data.body['@odata.count'], '125')
  assert.is(data.body.value.length, 100)
  assert.equal(cellsOf(page).slice(0, 6), [
    '250',
    'NO',
    '9007199254741243',
    '248',
    'NO',
    '9007199254741241',
  ])
  assert.match(page.text, 'Σ 125 rows')
  assert.match(page.text, /value="http:[^"]*\/odata\/shop_orders\?/)
  assert.is(page.headers['cache-control'], 'no-store')
  assert.is(page.headers['etag'], undefined)
  for (const path of ['/sets/shop_orders', '/sets/shop_orders/'])
    assert.is((await at(path)).headers['cache-control'], 'no-store', path)
  assert.match(page.headers['content-security-policy']!, "script-src 'self'")
  assert.not.match(page.text, / style=| on\w+=/)
})

test('other views, unknown sets, wrong requests and HEAD have no rows', async () => {
  await using resources = new Resources()
  const at = await explore(resources)
  for (const path of [
    '/',
    '/sets/shop_orders/columns',
    '/sets/shop_orders/chart',
    '/sets/shop_orders(1)',
    '/sets/nope',
    '/sets/shop_orders?$filter=nope%20eq%201',
    '/sets/shop_orders?$apply=nope',
    '/sets/shop_orders?$skiptoken=x',
  ]) {
    const page = await at(path)
    assert.is(dataOf(page), null, path)
    assert.not.match(page.text, '<table', path)
  }
  const head = await at('/sets/shop_orders', { method: 'HEAD' })
  assert.is(head.headers['cache-control'], 'no-cache')
})

test('rows that are long are left to the script', async () => {
  await using resources = new Resources()
  const at = await explore(resources)
  const page = await at('/sets/shop_texts')
  assert.is(page.status, 200)
  assert.is(dataOf(page), null)
  assert.ok(page.text.length < 5_000)
  assert.ok(dataOf(await at('/sets/shop_texts?$select=id')))
})

test('rows that come late are left to the script, and the page does not wait for them', async () => {
  await using resources = new Resources()
  const at = await explore(resources, { firstRowsMs: 0 })
  const page = await at('/sets/shop_orders')
  assert.is(page.status, 200)
  assert.is(dataOf(page), null)
  assert.is(page.headers['cache-control'], 'no-cache')
})

test('a token sees its own rows in the page, and no token none', async () => {
  await using resources = new Resources()
  const tokens = [
    readerToken('no', { sets: ['shop_*'], rows: { 'shop.orders': "country = 'NO'" } }),
    readerToken('se', { sets: ['shop_*'], rows: { 'shop.orders': "country = 'SE'" } }),
    readerToken('all', {}),
  ]
  const at = await explore(resources, { tokens })
  const none = await at('/sets/shop_orders')
  assert.is(none.status, 401)
  assert.not.match(none.text, /NO|SE/)
  // In turn, so that what is kept of one is never another's.
  for (const name of ['no', 'se', 'all', 'no']) {
    const page = await at('/sets/shop_orders', { headers: bearer(name) })
    const data = dataOf(page)!
    assert.is(data.body['@odata.count'], name === 'all' ? '250' : '125', name)
    const countries = new Set<string>(
      data.body.value.map(({ country }: { country: string }) => country),
    )
    assert.equal([...countries].toSorted(), name === 'all' ? ['NO', 'SE'] : [name.toUpperCase()])
    const salaries = await at('/sets/hr_salaries', { headers: bearer(name) })
    assert.is(salaries.status, name === 'all' ? 200 : 404, name)
    assert.is(salaries.text.includes('4711'), name === 'all', name)
  }
})

test.run()
