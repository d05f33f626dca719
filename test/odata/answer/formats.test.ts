// metadata=full, omit-values, CSV: what they add to rows, leave out of them, or make of them.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import { serve } from '../../support/odata-service.ts'
import type { Table } from '../../support/snapshot-files.ts'
import { shop } from '../../support/related-tables.ts'

const FULL = { accept: 'application/json;odata.metadata=full' }
const FULL_4_0 = { ...FULL, 'odata-maxversion': '4.0' }

test('metadata=full: types, ids and links of each row, also of expanded ones', async () => {
  await using resources = new Resources()
  const served = await serve(resources, shop)
  const answer = await served.get('shop_orders?$top=1&$expand=items($top=1)', FULL)
  assert.is(answer.headers['content-type'], 'application/json;odata.metadata=full')
  const [order] = answer.json.value
  assert.equal(Object.keys(order), [
    '@odata.type',
    '@odata.id',
    'customer@odata.associationLink',
    'customer@odata.navigationLink',
    'order_id@odata.type',
    'order_id',
    'customer_id@odata.type',
    'customer_id',
    'status',
    'amount@odata.type',
    'amount',
    'items@odata.associationLink',
    'items@odata.navigationLink',
    'items',
  ])
  const both = 'shop_orders?$top=1&$expand=items($count=true;$expand=order),customer'
  const [nested] = (await served.get(both, FULL)).json.value
  const last = (entity: object, names: number) => Object.keys(entity).slice(-names).join(' ')
  const links = (name: string) => `${name}@odata.associationLink ${name}@odata.navigationLink`
  assert.is(
    last(nested, 7),
    `${links('items')} items@odata.count items ${links('customer')} customer`,
  )
  assert.is(last(nested.items[0], 3), `${links('order')} order`)
  assert.is(order['@odata.type'], '#eider.shop_orders')
  assert.is(order['@odata.id'], 'shop_orders(10)')
  assert.is(order['amount@odata.type'], 'Decimal')
  assert.is(order['items@odata.associationLink'], 'shop_orders(10)/items/$ref')
  for (const link of ['@odata.id', 'items@odata.navigationLink', 'items@odata.associationLink'])
    assert.is((await served.get(order[link])).status, 200, link)
  assert.is(order.items[0]['@odata.id'], 'shop_items(order_id=10,line=1)')
  assert.is(order.items[0]['@odata.type'], '#eider.shop_items')
  assert.is((await served.get(order.items[0]['@odata.id'])).json.product, 'a')

  const old = await served.get('shop_orders(10)?$select=amount,items', FULL_4_0)
  assert.equal(old.json, {
    '@odata.context': `${served.url}/$metadata#shop_orders(amount,items)/$entity`,
    '@odata.type': '#eider.shop_orders',
    '@odata.id': 'shop_orders(10)',
    'items@odata.associationLink': 'shop_orders(10)/items/$ref',
    'items@odata.navigationLink': 'shop_orders(10)/items',
    'amount@odata.type': '#Decimal',
    amount: 100.5,
  })
  const value = await served.get('shop_orders(10)/amount', FULL_4_0)
  assert.equal(value.json, {
    '@odata.context': `${served.url}/$metadata#shop_orders(10)/amount`,
    '@odata.type': '#Decimal',
    value: 100.5,
  })
  assert.is((await served.get('shop_orders(13)/status', FULL)).status, 204)
})

test('metadata=full: rows that are no entities have no id, and pages go on', async () => {
  await using resources = new Resources()
  const noKey: Table = { model: 'shop.log', rows: sql`SELECT 'x' AS text, 1 AS n` }
  const served = await serve(resources, [...shop, noKey])
  const target =
    'shop_orders?$apply=groupby((customer/city),aggregate(amount%20with%20sum%20as%20total))'
  const [group] = (await served.get(target, FULL)).json.value
  assert.equal(group, {
    '@odata.id': null,
    customer: { city: null },
    'total@odata.type': 'Decimal',
    total: 20,
  })
  assert.equal((await served.get('shop_log', FULL)).json.value, [
    {
      '@odata.type': '#eider.shop_log',
      '@odata.id': null,
      text: 'x',
      'n@odata.type': 'Int32',
      n: 1,
    },
  ])
  const references = await served.get('shop_orders/$ref?$top=1', FULL)
  assert.equal(references.json.value, [{ '@odata.id': 'shop_orders(10)' }])
  const first = await served.get('shop_customers', { ...FULL, prefer: 'maxpagesize=2' })
  const next = first.json['@odata.nextLink'].slice(served.url.length + 1)
  assert.is((await served.get(next, FULL)).json.value[0]['@odata.id'], 'shop_customers(3)')
  const long = await served.get('shop_customers?$format=application/json;odata.metadata=full')
  assert.is(long.json.value[0]['points@odata.type'], 'Int64')
})

test('omit-values=nulls leaves properties out that are null, and says so', async () => {
  await using resources = new Resources()
  const empty: Table = {
    model: 'shop.empty',
    rows: sql`SELECT NULL::INTEGER AS a, NULL::VARCHAR AS b`,
  }
  const served = await serve(resources, [...shop, empty])
  const headers = { prefer: 'odata.omit-values=nulls, maxpagesize=2' }
  const answer = await served.get(
    'shop_orders?$filter=order_id%20ge%2012&$expand=customer,items',
    headers,
  )
  assert.is(answer.headers['preference-applied'], 'odata.omit-values=nulls, maxpagesize=2')
  assert.equal(answer.json.value, [
    {
      order_id: 12,
      customer_id: 2,
      status: 'paid',
      customer: { customer_id: 2, name: "O'Neil" },
      items: [{ order_id: 12, line: 1, product: 'b/c' }],
    },
    { order_id: 13, amount: 0, customer: null, items: [] },
  ])
  const entity = await served.get('shop_customers(2)', headers)
  assert.is(entity.headers['preference-applied'], 'odata.omit-values=nulls')
  assert.equal(Object.keys(entity.json), ['@odata.context', 'customer_id', 'name'])
  assert.equal((await served.get('shop_empty', headers)).json.value, [{}])
  const etags = await Promise.all([{}, headers].map((asked) => served.get('shop_orders', asked)))
  assert.is.not(etags[0]!.headers['etag'], etags[1]!.headers['etag'])
  const nested = await served.get('shop_orders?$apply=groupby((customer/city))', headers)
  assert.is(nested.headers['preference-applied'], 'maxpagesize=2')
})

const odd: Table = {
  model: 'shop.odd',
  key: ['id'],
  rows: sql`SELECT * FROM (VALUES
      (1, 'a "b", c', CAST(1.50 AS DECIMAL(9,2)), TIMESTAMP '2024-01-01 10:00:00.5', CAST('nan' AS DOUBLE), true, '\\x01\\xFF'::BLOB),
      (2, NULL, NULL, NULL, NULL, NULL, NULL),
      (3, '', -1, NULL, -2.5, false, ''::BLOB),
      (4, '=1+1' || chr(13) || chr(10) || 'é', 0, NULL, 1e300, NULL, NULL)
    ) AS v(id, text, price, moment, ratio, flag, bytes)`,
}

test('CSV has a line of names, text in quotes, nothing for null', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [odd, ...shop], { pageSize: 2 })
  const answer = await served.get('shop_odd?$format=csv')
  assert.is(answer.headers['content-type'], 'text/csv;charset=utf-8;header=present')
  assert.match(
    answer.headers['content-disposition']!,
    /^attachment; filename\*=UTF-8''shop_odd%2C%20\d{4}-\d\d-\d\d\.csv$/,
  )
  assert.is(
    answer.text,
    [
      '"id","text","price","moment","ratio","flag","bytes"',
      '1,"a ""b"", c",1.50,2024-01-01T10:00:00.5Z,NaN,true,"Af8"',
      '2,,,,,,',
      '3,"",-1.00,,-2.5,false,""',
      '4,"=1+1',
      'é",0.00,,1e300,,',
      '',
    ].join('\r\n'),
  )
  const chosen = await served.get('shop_odd?$select=text&$filter=id%20lt%203&$orderby=id%20desc', {
    accept: 'text/csv',
  })
  assert.is(chosen.text, '"text"\r\n\r\n"a ""b"", c"\r\n')
  const alone = await served.get('shop_odd?$select=price&$filter=id%20lt%203&$format=csv')
  assert.is(alone.text, '"price"\r\n1.50\r\n""\r\n')
  const grouped = await served.get(
    'shop_orders?$apply=groupby((customer/city,status),aggregate($count%20as%20n))&$top=2&$format=csv',
  )
  assert.is(grouped.text.split('\r\n')[0], '"customer/city","status","n"')
  assert.is(grouped.text.split('\r\n').length, 4)
  assert.match((await served.get('shop_odd(3)?$format=csv')).text, /^"id".*\r\n3,.*\r\n$/)
  const head = await served.send({ target: 'shop_odd?$format=csv', method: 'HEAD' })
  assert.is(head.text, '')
  assert.is(head.headers['content-type'], 'text/csv;charset=utf-8;header=present')
})

test('values in CSV are those in JSON, without quotes and without null', async () => {
  await using resources = new Resources()
  const plain: Table = {
    model: 'shop.plain',
    key: ['id'],
    rows: sql`SELECT i AS id, CASE WHEN i > 0 THEN uuid() END AS guid, TIME '10:00:00.5' AS clock,
      INTERVAL (-i) SECOND AS span, (10::HUGEINT ** 37)::HUGEINT AS huge, i::TINYINT AS tiny,
      CAST([NULL, '-inf', 'nan', 'inf', '0.1'][i + 1] AS FLOAT) AS single, i / 8 AS double,
      0.25::DECIMAL(4,4) AS share, i = 1 AS flag, DATE '0001-01-01' AS first,
      CASE WHEN i <> 2 THEN TIMESTAMP '9999-12-31 23:59:59.999999' END AS last FROM range(5) AS r(i)`,
  }
  const served = await serve(resources, [plain])
  const query = `$compute=last sub duration'PT1S' as before,date(last) as day,time(last) as time`
  const target = `shop_plain?${encodeURI(query)}`
  const json = (await served.get(target)).text
  const rows = json.slice(json.indexOf('[')).match(/\{[^}]*\}/g)!
  const expected = rows.map((row) =>
    Array.from(row.matchAll(/":("?)([^",}]*)\1/g), ([, , text]) => text!.replace('null', '')),
  )
  const csv = (await served.get(`${target}&$format=csv`)).text.split('\r\n')
  assert.equal(
    expected.map((cells) => cells.join(',')),
    csv.slice(1, -1),
  )
  for (const [i, name] of csv[0]!.replaceAll('"', '').split(',').entries()) {
    const alone = await served.get(`${target}&$select=${name}&$format=csv`)
    const lines = expected.map((cells) => (cells[i] === '' ? '""' : cells[i]!))
    assert.is(alone.text, [`"${name}"`, ...lines, ''].join('\r\n'))
  }
})

test('CSV is refused where it has no place for what is asked', async () => {
  await using resources = new Resources()
  const served = await serve(resources, shop)
  for (const [target, status] of [
    ['shop_orders?$expand=items', 400],
    ['shop_orders?$count=true', 400],
    ['shop_orders(77)?', 404],
    ['shop_customers(77)/orders?', 404],
    ['?', 406],
    ['shop_orders(10)/amount?', 406],
    ['$metadata?', 406],
  ] as const)
    assert.is((await served.get(`${target}&$format=csv`)).status, status, target)
  const batch = await served.send({
    target: '$batch',
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      requests: [{ id: '1', method: 'GET', url: 'shop_orders?$format=csv' }],
    }),
  })
  assert.is(batch.json.responses[0].status, 406)
})

test('a large CSV is streamed whole', async () => {
  await using resources = new Resources()
  const many: Table = {
    model: 'shop.many',
    key: ['id'],
    rows: sql`SELECT i AS id, CASE WHEN i % 3 = 0 THEN '' WHEN i % 3 = 1 THEN 'text "' || i || '",' || chr(10) END AS text
      FROM range(60000) AS r(i)`,
  }
  const served = await serve(resources, [many])
  const answer = await served.get('shop_many?$format=csv', { prefer: 'maxpagesize=10' })
  assert.is(answer.headers['content-length'], undefined)
  assert.is(answer.headers['preference-applied'], undefined)
  assert.is(answer.aborted, false)
  const rows = answer.text.split('\r\n').slice(1, -1)
  const expected = (id: number) => [`${id},""`, `${id},"text ""${id}"",\n"`, `${id},`][id % 3]
  assert.is(rows.length, 60_000)
  assert.ok(rows.every((row, id) => row === expected(id)))
})

test('a CSV that breaks off never looks whole', async () => {
  await using resources = new Resources()
  const failing: Table = {
    model: 'shop.failing',
    isView: true,
    rows: sql`SELECT i AS id, CASE WHEN i = 500000 THEN CAST(CAST('secret' || i AS INTEGER) AS VARCHAR)
      ELSE 'some text' END AS name FROM range(1000000) AS r(i)`,
  }
  const served = await serve(resources, [failing])
  const answer = await served.get('shop_failing?$format=csv')
  assert.is(answer.status, 200)
  assert.ok(answer.aborted)
  assert.not.ok(answer.text.includes('secret'))
})

test.run()
