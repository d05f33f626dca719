// Lookups in the forms in which clients ask for them have the answers of the engine, the first of a form and the next ones.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import type { Asked } from '../../support/odata-service.ts'
import { both, metric, others, requireSame, table, untilMade } from '../../support/row-files.ts'
import type { Table } from '../../support/snapshot-files.ts'

const tables: readonly Table[] = [
  {
    model: 'shop.orders',
    key: ['id'],
    rows: sql`SELECT i::INTEGER AS id, CASE WHEN i % 5 < 4 THEN (i % 9)::INTEGER END AS customers_id,
      CASE WHEN i % 3 > 0 THEN 'c' || (i % 4) || '''/ü' END AS countries_id, ${others} FROM range(40) AS r(i)`,
  },
  {
    model: 'shop.customers',
    key: ['id'],
    rows: sql`SELECT i::BIGINT AS id, 'c' || (i % 4) || '''/ü' AS countries_id, 'n "' || i AS name,
      (i / 4)::DECIMAL(9,2) AS limited FROM range(7) AS r(i)`,
  },
  {
    model: 'shop.countries',
    key: ['id'],
    rows: sql`SELECT 'c' || i || '''/ü' AS id, i AS size FROM range(3) AS r(i)`,
  },
  {
    model: 'shop.parts',
    key: ['a', 'b'],
    rows: sql`SELECT (i % 7)::INTEGER AS a, (i % 6)::INTEGER AS b, ${others} FROM range(42) AS r(i) ORDER BY a, b`,
  },
  {
    model: 'shop.twice',
    key: ['k'],
    rows: sql`SELECT (i // 2)::INTEGER AS k, ${others} FROM range(40) AS r(i) ORDER BY k, i`,
  },
  {
    model: 'shop.long',
    key: ['k'],
    rows: sql`SELECT (i // 2)::INTEGER AS k, repeat('é', CASE WHEN i % 2 = 0 THEN 90000 ELSE 9 END) AS t FROM range(9) AS r(i)`,
  },
  table(
    'text',
    sql`CASE i WHEN 0 THEN '7' WHEN 1 THEN 'a b' WHEN 2 THEN 'O''Neil' WHEN 3 THEN 'a/b?c#d%e+f' WHEN 4 THEN 'é'
    WHEN 5 THEN '00000000-0000-4000-abcd-00000000000a' WHEN 6 THEN '00000000-0000-4000-ABCD-00000000000A' ELSE 't' || i END`,
    9,
  ),
  table('decimal', sql`((i - 5) / 4)::DECIMAL(10,2)`, 12),
  table('whole', sql`(i * 1000000000000000000::HUGEINT * 1000)::DECIMAL(38,0)`, 6),
  table('date', sql`DATE '1999-12-30' + i::INTEGER`, 6),
  table('moment', sql`TIMESTAMP '1999-12-31 23:59:58' + to_microseconds(i * 500000)`, 6),
  table('clock', sql`TIME '10:00:00' + to_microseconds(i * 250000)`, 6),
  table('uuid', sql`('00000000-0000-4000-ABCD-' || lpad(i::VARCHAR, 12, '0'))::UUID`, 12),
]

/** Each is asked for keys of one kind after the other, so that all but the first are of a form that is known. */
const keys: Readonly<Record<string, readonly string[]>> = {
  shop_orders: [
    '7',
    '8',
    '9',
    '15',
    '4',
    '39',
    '99',
    '-1',
    '007',
    '8.0',
    '12345678901234567890',
    "'7'",
    '%208',
    '1e0',
  ],
  shop_parts: [
    'a=1,b=3',
    'a=3,b=1',
    'b=3,a=1',
    'b=1,a=3',
    'a=1,%20b=2',
    '1,3',
    'a=1',
    'a=1,b=1',
    'b=2,a=2',
    'a=1,a=1',
  ],
  shop_twice: ['7', '8'],
  shop_text: [
    "'t7'",
    "'t8'",
    "'7'",
    "'a%20b'",
    "'O''Neil'",
    "'O%27%27Neil'",
    "'O%27Neil'",
    "'a%2Fb%3Fc%23d%25e%2Bf'",
    "'a%2fb%3fc%23d%25e+f'",
    "'%C3%A9'",
    "'%c3%a9'",
    "'%C3'",
    "'%'",
    "'%zz'",
    "'t%37'",
    "''",
    '7',
    "'00000000-0000-4000-abcd-00000000000a'",
    "'00000000-0000-4000-ABCD-00000000000A'",
    '00000000-0000-4000-ABCD-00000000000A',
  ],
  shop_decimal: ['0.25', '0.50', '0.5', '-0.25', '-.25', '1.00', '1', '0.250', '00.25', '1e0'],
  shop_whole: [
    '0',
    '1000000000000000000000',
    '2000000000000000000000',
    '2000000000000000000000.0',
    '1e21',
  ],
  shop_date: [
    '1999-12-30',
    '1999-12-31',
    '2000-01-01',
    '2000-02-30',
    '1999-12-31T00:00:00Z',
    "'1999-12-31'",
  ],
  shop_moment: [
    '1999-12-31T23:59:58Z',
    '1999-12-31T23:59:59Z',
    '1999-12-31T23:59:58.5Z',
    '1999-12-31T23:59:58.500Z',
    '1999-12-31T23:59:60Z',
    '1999-12-31t23:59:58z',
    '1999-12-31T24:00:00Z',
    '2000-01-01T00:59:59%2B01:00',
    '1999-12-31',
    '1999-12-31T23:59Z',
  ],
  shop_clock: ['10:00:00', '10:00:00.25', '10:00:00.250', '24:00:00', '10:00', '10:00:00Z'],
  shop_uuid: [
    '00000000-0000-4000-abcd-000000000001',
    '00000000-0000-4000-abcd-000000000002',
    '00000000-0000-4000-ABCD-000000000003',
    "'00000000-0000-4000-abcd-000000000002'",
  ],
}

const named: Readonly<Record<string, string>> = { shop_orders: 'id' }

const formsOf = (set: string, key: string): readonly string[] => {
  const name = named[set] ?? 'k'
  const isOne = !key.includes('=')
  return [
    `${set}(${key})`,
    ...(isOne
      ? [`${set}(${name}=${key})`, `${set}/${key}`, `${set}?$filter=${name}%20eq%20${key}`]
      : []),
  ]
}

const headers: readonly Asked['headers'][] = [
  { Accept: 'application/json;odata.metadata=full' },
  { Accept: 'application/json;odata.metadata=minimal;IEEE754Compatible=true' },
  {
    Accept: 'application/json;odata.metadata=full;IEEE754Compatible=true',
    Prefer: 'omit-values=nulls',
  },
  { Prefer: 'omit-values=nulls' },
]

test('keys of all kinds, broken ones too, are answered as by the engine, in parentheses, as segments and in filters', async () => {
  await using resources = new Resources()
  const services = await both(resources, tables, { keyAsSegment: true })
  const first = Object.entries(keys).map(([set, [key]]) => `${set}(${key})`)
  await untilMade(services.ours, first)
  const before = await metric(services.ours, 'row_file_lookups_total')
  for (const [set, all] of Object.entries(keys))
    for (const key of all)
      for (const target of formsOf(set, key)) await requireSame(services, { target })
  for (const [set, all] of Object.entries(keys))
    for (const key of all.slice(0, 3))
      for (const each of headers)
        await requireSame(services, { target: `${set}(${key})`, headers: each! })
  assert.ok((await metric(services.ours, 'row_file_lookups_total')) > before + 120)
})

/** What follows the key of an order, and how often a row of a file is read for it. */
const ends: readonly (readonly [end: string, reads: number])[] = [
  ['/customers', 2],
  ['/customers/name', 2],
  ['/customers/limited/$value', 2],
  ['/customers/countries', 3],
  ['/customers?$select=name,limited', 2],
  ['?$expand=customers', 2],
  ['?$expand=customers($select=name),countries&$select=id,note', 3],
  ['?$expand=customers($expand=countries)', 3],
  ['?$expand=customers($expand=orders)', 0],
  ['/countries', 2],
  ['/note', 1],
  ['/note/$value', 1],
  ['/price', 1],
  ['/price/$value', 1],
  ['/moment/$value', 1],
  ['/object', 1],
  ['/list', 1],
  ['/$ref', 1],
  ['/customers/$ref', 2],
  ["?$compute='a'%20as%20x", 1],
]

test('what a row has and leads to is answered as by the engine', async () => {
  await using resources = new Resources()
  const services = await both(resources, tables)
  await untilMade(services.ours, [
    'shop_orders(7)',
    'shop_customers(1)',
    "shop_countries('c1%27%27%2F%C3%BC')",
  ])
  for (const [end, reads] of ends) {
    const before = await metric(services.ours, 'row_file_lookups_total')
    // The order 1 has everything that any of these asks for.
    await requireSame(services, { target: `shop_orders(1)${end}` })
    assert.is((await metric(services.ours, 'row_file_lookups_total')) - before, reads, end)
    for (let id = 0; id < 10; id++)
      await requireSame(services, { target: `shop_orders(${id})${end}` })
    for (const each of headers)
      for (const id of [2, 4, 9, 99])
        await requireSame(services, { target: `shop_orders(${id})${end}`, headers: each! })
  }
})

const filters: readonly string[] = [
  'id%20in%20(1,2,3)',
  'id%20in%20(3,1,2,1)',
  'id%20in%20(1,99)',
  'id%20in%20(99)',
  'id%20in%20(1,null)',
  'id%20eq%201%20or%20id%20eq%203',
  'id%20eq%201%20or%20qty%20eq%203',
  'id%20eq%201%20and%20id%20eq%203',
  'id%20eq%201%20and%20flag%20eq%20false',
  '1%20eq%20id',
  'id%20eq%205%20or%205%20eq%20id',
  'id%20ne%201',
  'id%20eq%20null',
  "id%20eq%20'1'",
  'id%20eq%201.5',
  'id%20eq%20@p&@p=7',
  `id%20in%20(${Array.from({ length: 120 }, (_, i) => i % 40).join(',')})`,
]
const options: readonly string[] = [
  '',
  '&$top=1',
  '&$top=0',
  '&$skip=1',
  '&$count=true',
  '&$orderby=id%20desc',
  '&$orderby=note',
  '&$select=note,id',
  '&$expand=customers',
  '&$format=csv',
]

test('a page of rows with certain keys is that of the engine', async () => {
  await using resources = new Resources()
  const services = await both(resources, tables)
  await untilMade(services.ours, [
    'shop_orders(7)',
    'shop_customers(1)',
    'shop_twice(1)',
    'shop_long(1)',
  ])
  const before = await metric(services.ours, 'row_file_lookups_total')
  for (const filter of filters)
    for (const option of options)
      await requireSame(services, { target: `shop_orders?$filter=${filter}${option}` })
  for (const Prefer of [
    'odata.maxpagesize=1',
    'odata.maxpagesize=2',
    'odata.track-changes',
    'omit-values=nulls',
  ])
    for (const filter of filters.slice(0, 6))
      for (const target of [`shop_orders?$filter=${filter}`, `shop_orders?$filter=id%20eq%203`])
        await requireSame(services, { target, headers: { Prefer } })
  for (const set of ['shop_twice', 'shop_long'])
    for (const filter of ['k%20eq%202', 'k%20eq%203', 'k%20in%20(3,1)', 'k%20eq%204'])
      for (const option of ['', '&$top=1', '&$top=2', '&$orderby=k%20desc', '&$count=true'])
        await requireSame(services, { target: `${set}?$filter=${filter}${option}` })
  assert.ok((await metric(services.ours, 'row_file_lookups_total')) > before + 100)
})

test.run()
