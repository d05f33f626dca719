// rolluprecursive for a token with row filters: what it hides is not there, whether a leaf, a node with others below it, or a
// row that belongs to a node.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { type Sql, sql } from '../../../src/core/sql.ts'
import { encodedTarget } from '../../support/json-rows.ts'
import { serve } from '../../support/odata-service.ts'
import { bearer, readerToken } from '../../support/reader-token.ts'
import type { Table } from '../../support/snapshot-files.ts'

/** Ann over Bob and Cid, Bob over Dan and Dot, Dan over Eve. */
const people = sql`(SELECT * FROM (VALUES
  (1, NULL, 'Ann', true, 'x'), (2, 1, 'Bob', false, 'x'), (3, 1, 'Cid', true, 'x'), (4, 2, 'Dan', true, 'y'),
  (5, 4, 'Eve', true, NULL), (6, 2, 'Dot', false, 'x')
) AS v(id, manager_id, name, open, zone))`
const sales = sql`(SELECT * FROM (VALUES
  (1, 1, 10, true), (2, 2, 20, true), (3, 3, 30, false), (4, 3, 3, true), (5, 4, 40, true), (6, 5, 50, true),
  (7, 5, 500, false), (8, 6, 60, true)
) AS v(sale, person, amount, open))`

const tables = (where: Sql): readonly Table[] => [
  {
    model: 'hr.people',
    key: ['id'],
    hierarchies: [{ name: 'org', node: 'id', parent: 'manager_id' }],
    rows: sql`SELECT * FROM ${people} WHERE ${where}`,
  },
  {
    model: 'hr.sales',
    key: ['sale'],
    rows: sql`SELECT *, person AS second FROM ${sales} WHERE ${where}`,
  },
]

const OF_PEOPLE = 'rolluprecursive($root/hr_people,org,id)'
const OF_SALES = 'rolluprecursive($root/hr_people,org,person)'

/** Of each question, the rows for all and those for the token. */
const asked: readonly (readonly [string, string, string])[] = [
  [
    `hr_people?$apply=groupby((${OF_PEOPLE}),aggregate($count as n))&$orderby=id&$select=name,n`,
    'Ann 6, Bob 4, Cid 1, Dan 2, Eve 1, Dot 1',
    'Ann 2, Cid 1, Dan 2, Eve 1',
  ],
  [
    `hr_sales?$apply=groupby((${OF_SALES}),aggregate(amount with sum as s,$count as n))&$orderby=person`,
    '1 713 8, 2 670 5, 3 33 2, 4 590 3, 5 550 2, 6 60 1',
    '1 13 2, 3 3 1, 4 90 2, 5 50 1',
  ],
  [
    `hr_people?$apply=groupby((${OF_PEOPLE}),aggregate($count as n))/traverse($root/hr_people,org,id,preorder)&$select=name,n`,
    'Ann 6, Bob 4, Dan 2, Eve 1, Dot 1, Cid 1',
    'Ann 2, Cid 1, Dan 2, Eve 1',
  ],
  [
    `hr_people?$apply=groupby((zone),descendants($root/hr_people,org,id,filter(id eq 1 or id eq 4),keep start))&$select=name&$orderby=id`,
    'Ann, Bob, Cid, Dan, Dot',
    'Ann, Cid, Dan',
  ],
  [
    `hr_people?$apply=groupby((zone),ancestors($root/hr_people,org,id,filter(true)))&$select=name&$orderby=id`,
    'Ann, Bob',
    'Ann',
  ],
  [
    `hr_people?$apply=traverse($root/hr_people,org,id,preorder,filter(id in (2,4)))&$select=name`,
    'Bob, Dan, Eve, Dot, Dan, Eve',
    'Dan, Eve',
  ],
  [
    `hr_sales?$apply=compute(sale mod 2 as odd)/groupby((odd),groupby((${OF_SALES}),aggregate(amount with sum as s)))&$orderby=odd,person&$select=odd,person,s`,
    '0 1 133, 0 2 130, 0 3 3, 0 4 50, 0 5 50, 0 6 60, 1 1 580, 1 2 540, 1 3 30, 1 4 540, 1 5 500, 1 6 null',
    '0 1 3, 0 3 3, 0 4 50, 0 5 50, 1 1 10, 1 3 null, 1 4 40, 1 5 null',
  ],
  [
    `hr_sales?$apply=groupby((${OF_SALES},${OF_SALES.replace('person', 'second')}),aggregate($count as n))/aggregate(n with sum as pairs,$count as nodes)`,
    '63 36',
    '10 16',
  ],
  [
    `hr_sales?$apply=groupby((${OF_SALES}),filter(person eq Aggregation.rollupnode()/id)/aggregate(amount with sum as s))&$orderby=person`,
    '1 10, 2 20, 3 33, 4 40, 5 550, 6 60',
    '1 10, 3 3, 4 40, 5 50',
  ],
]

test('rolluprecursive neither counts nor shows what the filters of a token hide', async () => {
  await using resources = new Resources()
  const rows = { 'hr.people': 'open', 'hr.sales': 'open' }
  const linkSecret = '3'.repeat(64)
  const tokens = [readerToken('open', { rows }), readerToken('all', {})]
  const whole = await serve(resources, tables(sql`true`), { tokens, linkSecret })
  const few = await serve(resources, tables(sql`open`), { linkSecret })
  for (const [question, ofAll, ofToken] of asked) {
    const target = encodedTarget(question)
    const shown = async (token: string) => {
      const { json, text } = await whole.get(target, bearer(token))
      assert.ok(Array.isArray(json.value), `${question}: ${text}`)
      return (json.value as readonly object[])
        .map((row) =>
          Object.entries(row)
            .flatMap(([name, value]) => (name.startsWith('@') ? [] : [String(value)]))
            .join(' '),
        )
        .join(', ')
    }
    assert.is(await shown('all'), ofAll, question)
    assert.is(await shown('open'), ofToken, question)
    const [seen, right] = [await whole.get(target, bearer('open')), await few.get(target)]
    assert.is(seen.text.replaceAll(whole.url, ''), right.text.replaceAll(few.url, ''), question)
  }
})

test.run()
