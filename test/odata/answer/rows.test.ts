// What comes back for data: types, envelopes, pages, counts.

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { retainedManifestFile } from '../../../src/core/snapshot.ts'
import { sql } from '../../../src/core/sql.ts'
import { publish, type Table } from '../../support/snapshot-files.ts'
import { type Served, serve } from '../../support/odata-service.ts'

const allTypes: Table = {
  model: 'shop.alltypes',
  key: ['id'],
  description: 'One of each & "all"',
  rows: sql`
    SELECT 1 AS id, 'Zoë "q" \\ ' || chr(9) AS text, CAST(-5 AS TINYINT) AS tiny, CAST(-300 AS SMALLINT) AS small,
      CAST(2147483647 AS INTEGER) AS whole, 9007199254740993 AS big, CAST(1.7e308 AS DOUBLE) AS ratio,
      CAST(3.14 AS FLOAT) AS single, CAST(250.50 AS DECIMAL(18,4)) AS price, true AS flag,
      DATE '0044-03-15' AS day, TIMESTAMP '2026-01-01 08:30:00' AS moment
    UNION ALL SELECT 2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
    UNION ALL SELECT 3, '', 0, 0, 0, 0, CAST('nan' AS DOUBLE), CAST('-inf' AS FLOAT), 0, false, DATE '2026-12-31', TIMESTAMP '2026-01-01 00:00:00.25'`,
}

const numbers = (rows: number, model = 'shop.numbers'): Table => ({
  model,
  key: ['id'],
  rows: sql`SELECT i AS id, 'name of ' || i AS name FROM range(${sql.value(rows)}) AS r(i)`,
})

/** Every page from `target` on, by its next links. */
async function pagesFrom(served: Served, target: string, headers = {}) {
  const pages = []
  let next: string | undefined = target
  while (next !== undefined) {
    const page = await served.get(next, headers)
    assert.is(page.status, 200, page.text)
    pages.push(page.json)
    const link = page.json['@odata.nextLink']
    assert.ok(link === undefined || link.startsWith(`${served.url}/`), link)
    next = link?.slice(served.url.length + 1)
  }
  return pages
}

const idsOf = (pages: readonly { readonly value: readonly { readonly id: number }[] }[]) =>
  pages.flatMap(({ value }) => value.map(({ id }) => id))

test('every type, as stored and as NULL', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [allTypes])
  const answer = await served.get('shop_alltypes')
  assert.is(answer.status, 200)
  assert.ok(answer.text.includes('"big":9007199254740993,'))
  assert.ok(answer.text.includes('"price":250.5000,'))
  assert.ok(answer.text.includes('"single":3.14,'))
  const [first, second, third] = answer.json.value
  assert.equal(first, {
    id: 1,
    text: 'Zoë "q" \\ \t',
    tiny: -5,
    small: -300,
    whole: 2147483647,
    big: Number('9007199254740993'),
    ratio: 1.7e308,
    single: 3.14,
    price: 250.5,
    flag: true,
    day: '0044-03-15',
    moment: '2026-01-01T08:30:00Z',
  })
  const columns = Object.keys(first)
  assert.equal(Object.keys(second), columns)
  assert.equal(Object.values(second), [2, ...columns.slice(1).map(() => null)])
  assert.is(third.text, '')
  assert.is(third.ratio, 'NaN')
  assert.is(third.single, '-INF')
  assert.is(third.moment, '2026-01-01T00:00:00.25Z')
})

test('IEEE754Compatible makes strings of Int64, Decimal and counts', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [allTypes])
  const accept = 'application/json;IEEE754Compatible=true'
  const answer = await served.get('shop_alltypes?$count=true&$top=1', { accept })
  const { value, ...envelope } = answer.json
  assert.is(envelope['@odata.count'], '3')
  assert.is(value[0].big, '9007199254740993')
  assert.is(value[0].price, '250.5000')
  assert.is(value[0].whole, 2147483647)
  assert.is(
    answer.headers['content-type'],
    'application/json;odata.metadata=minimal;IEEE754Compatible=true',
  )
})

test('a collection, an entity, a count and the service document have their envelopes', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [allTypes, numbers(3)])
  const collection = await served.get('shop_numbers?$count=true&$select=id')
  const context = `${served.url}/$metadata`
  assert.is(
    collection.text,
    `{"@odata.context":"${context}#shop_numbers(id)","@odata.count":3,"value":[{"id":0},{"id":1},{"id":2}]}`,
  )
  const empty = await served.get('shop_numbers?$top=0&$count=true')
  assert.equal(empty.json, {
    '@odata.context': `${context}#shop_numbers`,
    '@odata.count': 3,
    value: [],
  })
  const entity = await served.get('shop_numbers(1)')
  assert.is(
    entity.text,
    `{"@odata.context":"${context}#shop_numbers/$entity","id":1,"name":"name of 1"}`,
  )
  const count = await served.get(
    "shop_numbers/$count?$filter=name ne 'name of 1'".replaceAll(' ', '%20'),
  )
  assert.is(count.text, '2')
  assert.match(count.headers['content-type']!, /^text\/plain/)
  const none = await served.get('shop_numbers?$top=1', {
    accept: 'application/json;odata.metadata=none',
  })
  assert.is(none.text, '{"value":[{"id":0,"name":"name of 0"}]}')
  for (const root of ['', '?$format=json']) {
    const document = await served.get(root)
    assert.equal(document.json, {
      '@odata.context': context,
      value: [
        {
          name: 'shop_alltypes',
          kind: 'EntitySet',
          url: 'shop_alltypes',
          title: 'One of each & "all"',
        },
        { name: 'shop_numbers', kind: 'EntitySet', url: 'shop_numbers' },
      ],
    })
  }
})

test('no row with the key is 404', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [numbers(3)])
  const answer = await served.get('shop_numbers(77)')
  assert.is(answer.status, 404)
  assert.is(answer.json.error.code, 'entity-not-found')
})

test('the pages of a set are its rows, each once, with every option kept', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [numbers(25)], { pageSize: 10 })
  const all = await pagesFrom(served, 'shop_numbers?$count=true')
  assert.equal(
    all.map(({ value }) => value.length),
    [10, 10, 5],
  )
  assert.equal(
    idsOf(all),
    Array.from({ length: 25 }, (_, i) => i),
  )
  assert.equal(
    all.map((page) => page['@odata.count']),
    [25, 25, 25],
  )

  const exact = await pagesFrom(served, 'shop_numbers?$filter=id%20lt%2020')
  assert.equal(
    exact.map(({ value }) => value.length),
    [10, 10],
  )

  const some = await pagesFrom(served, 'shop_numbers?$select=id&$orderby=id%20desc&$skip=3&$top=12')
  assert.equal(
    idsOf(some),
    Array.from({ length: 12 }, (_, i) => 21 - i),
  )
  assert.equal(
    some.map(({ value }) => value.length),
    [10, 2],
  )
  assert.equal(Object.keys(some[1].value[0]), ['id'])
  const whole = await pagesFrom(served, 'shop_numbers?$top=10')
  assert.is(whole.length, 1)
})

test('Prefer: maxpagesize makes pages smaller or larger, and later pages keep it', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [numbers(25)], { pageSize: 10 })
  const first = await served.get('shop_numbers', { prefer: 'odata.maxpagesize=4' })
  assert.is(first.headers['preference-applied'], 'odata.maxpagesize=4')
  assert.is(first.json.value.length, 4)
  const pages = await pagesFrom(served, first.json['@odata.nextLink'].slice(served.url.length + 1))
  assert.equal(
    pages.map(({ value }) => value.length),
    [4, 4, 4, 4, 4, 1],
  )
  const larger = await served.get('shop_numbers', { prefer: 'maxpagesize=100' })
  assert.is(larger.json.value.length, 25)
  assert.is(larger.json['@odata.nextLink'], undefined)
})

test('a next link stays on its snapshot, and is 410 when that is gone', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [numbers(5)], { pageSize: 3 })
  const first = await served.get('shop_numbers')
  const next = first.json['@odata.nextLink'].slice(served.url.length + 1)
  const publishAndWait = async (id: string) => {
    await publish(served.dir, id, [{ ...numbers(1), rows: sql`SELECT 99 AS id` }])
    for (let current = ''; current !== id;)
      current = (await served.get('')).headers['eider-snapshot'] ?? ''
  }
  await publishAndWait('second')
  const old = await served.get(next)
  assert.is(old.headers['eider-snapshot'], 'first')
  assert.equal(
    old.json.value.map(({ id }: { id: number }) => id),
    [3, 4],
  )
  assert.equal((await served.get('shop_numbers')).json.value, [{ id: 99 }])
  for (const id of ['third', 'fourth', 'fifth', 'sixth']) await publishAndWait(id)
  // The service has closed it by now, and opens it again while a run keeps it.
  assert.is((await served.get(next)).json.value.length, 2)
  for (const id of ['third', 'fourth', 'fifth', 'sixth']) await publishAndWait(id)
  await rm(join(served.dir, retainedManifestFile('first')))
  const gone = await served.get(next)
  assert.is(gone.status, 410)
  assert.is(gone.json.error.target, '$skiptoken')
  assert.is((await served.get('shop_numbers?$skiptoken=x')).status, 400)
})

test('a large page is streamed whole', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [numbers(100_000)])
  const answer = await served.get('shop_numbers', { prefer: 'maxpagesize=60000' })
  assert.is(answer.headers['content-length'], undefined)
  assert.is(answer.json.value.length, 60_000)
  assert.is(answer.json.value[59_999].name, 'name of 59999')
  const rest = await served.get(answer.json['@odata.nextLink'].slice(served.url.length + 1))
  assert.equal(
    idsOf([answer.json, rest.json]),
    Array.from({ length: 100_000 }, (_, i) => i),
  )
})

test.run()
