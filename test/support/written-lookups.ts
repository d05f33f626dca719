// Sets with keys of all types, keys as clients write them and as they should not, and the forms of a lookup.

import { sql } from '../../src/core/sql.ts'
import { others, table } from './row-files.ts'
import type { Table } from './snapshot-files.ts'

export const keyedTables: readonly Table[] = [
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
export const writtenKeys: Readonly<Record<string, readonly string[]>> = {
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

export const lookupForms = (set: string, key: string): readonly string[] => {
  const name = named[set] ?? 'k'
  const isOne = !key.includes('=')
  return [
    `${set}(${key})`,
    ...(isOne
      ? [`${set}(${name}=${key})`, `${set}/${key}`, `${set}?$filter=${name}%20eq%20${key}`]
      : []),
  ]
}
