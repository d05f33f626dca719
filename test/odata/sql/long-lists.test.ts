// A long list after `in` goes to the engine as one value: it must mean what a short one does.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../../src/core/limits.ts'
import { sql } from '../../../src/core/sql.ts'
import { InMemoryTables } from '../../support/in-memory-tables.ts'
import { kinds } from '../../support/odata-tables.ts'

/** Values that are there, and one that makes the list longer. */
const lists: readonly (readonly [path: string, values: string, filler: (n: number) => string])[] = [
  ['i', '100,-2147483648,2147483647.0,5e9', (n) => `${n + 200}`],
  ['b', '9223372036854775807,9007199254740993', (n) => `${n + 2000}`],
  ['n', '10.25,-10.25,99999999999999.9999,1.23456', (n) => `${n}.5`],
  ['d', '1.5,-INF,NaN', (n) => `${n}.25`],
  ['f', 'INF,0.1', (n) => `${n}.75`],
  [
    'u',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
    (n) => `${String(n).padStart(8, '0')}-0000-0000-0000-000000000000`,
  ],
  [
    'tod',
    '10:30:00,23:59:59.5',
    (n) => `01:${String(n % 60).padStart(2, '0')}:${String(Math.floor(n / 60)).padStart(2, '0')}`,
  ],
  ['dt', '2024-02-29,0001-01-01', (n) => `${1000 + n}-01-01`],
  ['ts', '2024-01-05T10:30:00Z,9999-12-31T23:59:59.999999Z', (n) => `${1000 + n}-01-01T00:00:00Z`],
  ['tz', '2024-01-05T12:30:00+02:00', (n) => `${1000 + n}-01-01T00:00:00Z`],
  ['du', "duration'PT90S',duration'-P1D'", (n) => `duration'PT${n}H'`],
  [
    'bin',
    "binary'Af8=',binary''",
    (n) => `binary'${Buffer.from([7, n % 256, n >> 8]).toString('base64')}'`,
  ],
  ['level', "'low'", (n) => `'x${n}'`],
  ['h', '-1,170141183460469231731687303715884105727', (n) => `${n}`],
]

test('numbers, dates and other values', async () => {
  await using fixture = await InMemoryTables.open(kinds)
  for (const [path, values, filler] of lists) {
    const set = ['i', 'b', 'n', 'd', 'f'].includes(path) ? 't_kinds' : 't_others'
    const long = `${values},${Array.from({ length: limits.writtenItems + 50 }, (_, n) => filler(n)).join(',')}`
    for (const negated of ['', 'not ']) {
      for (const nulls of ['', ',null']) {
        const ask = (list: string) => fixture.ids(set, `${negated}(${path} in (${list}${nulls}))`)
        const expected = await ask(values)
        assert.is(await ask(long), expected, `${negated}${path} in (${values}${nulls})`)
        if (negated === '') assert.ok(expected !== '', path)
      }
    }
  }
})

test('texts, whatever is in them', async () => {
  const rows = sql`SELECT * FROM (VALUES (1, ''), (2, 'a''b'), (3, 'x,y]'), (4, ' '), (5, NULL), (6, 'b' || chr(31)), (7, 'b'), (8, 'z' || chr(0)), (9, 'ü😀')) AS v(id, t)`
  await using fixture = await InMemoryTables.open([{ model: 't.texts', key: ['id'], rows }])
  const filler = Array.from({ length: limits.writtenItems + 1 }, (_, n) => `'no ${n}'`).join(',')
  const ids = (list: string) => fixture.ids('t_texts', `t in (${list},${filler})`)
  assert.is(await ids("'','a''b','x,y]',' ','ü😀','z\u0000'"), '1 2 3 4 8 9')
  assert.is(await ids("'b\u001f',''"), '1 6')
  assert.is(await ids("'b',null"), '5 7')
  assert.is(await fixture.ids('t_texts', `not (t in ('b',${filler}))`), '1 2 3 4 5 6 8 9')
  const ordered = await fixture.first(
    `t_texts?$filter=id in (${Array.from({ length: 300 }, (_, n) => 300 - n).join(',')})`,
  )
  assert.is(ordered, '1 2 3 4 5 6 7 8 9')
})

test.run()
