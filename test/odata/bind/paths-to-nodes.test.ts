// Paths that lead to the nodes of a hierarchy by way of other entities: through several, and through collections, where a row
// has several nodes. What stands in the rows then (Data Aggregation 4.0, sections 6.1 and 6.2.2), and the same values by SQL.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { type Sql, sql } from '../../../src/core/sql.ts'
import { InMemoryTables } from '../../support/in-memory-tables.ts'
import { encodedTarget, jsonRows } from '../../support/json-rows.ts'
import { serve } from '../../support/odata-service.ts'
import { bearer, readerToken } from '../../support/reader-token.ts'
import { testsSharing } from '../../support/shared.ts'
import type { Table } from '../../support/snapshot-files.ts'

/** Ann over Bob and Cid, Bob over Dan, Dan over Eve; Fay alone. */
const tables: readonly Table[] = [
  {
    model: 'hr.people',
    key: ['person_id'],
    hierarchies: [{ name: 'org', node: 'person_id', parent: 'manager_id' }],
    rows: sql`SELECT * FROM (VALUES (1, NULL, 'Ann'), (2, 1, 'Bob'), (3, 1, 'Cid'), (4, 2, 'Dan'), (5, 4, 'Eve'), (6, 99, 'Fay'))
      AS v(person_id, manager_id, name)`,
  },
  {
    model: 'hr.customers',
    key: ['customer_id'],
    rows: sql`SELECT *, [1, 2] AS ids FROM (VALUES (1, 'A', 2), (2, 'B', NULL), (3, 'C', 4), (4, 'D', 1))
      AS v(customer_id, name, person_id)`,
  },
  {
    model: 'hr.orders',
    key: ['order_id'],
    rows: sql`SELECT * FROM (VALUES (10, 1, 2, 5), (11, 1, 4, 7), (12, 1, 4, 9), (13, 2, 3, 1), (14, NULL, NULL, 2), (15, 77, 5, 3),
      (16, 3, 1, 9), (17, 3, 98, 4)) AS v(order_id, customer_id, person_id, amount)`,
  },
  {
    model: 'hr.items',
    key: ['item_id'],
    rows: sql`SELECT * FROM (VALUES (1, 10, 1), (2, 10, 2), (3, 11, 3), (4, 13, 4), (5, 14, 5), (6, NULL, 6), (7, 16, 8))
      AS v(item_id, order_id, qty)`,
  },
]

const H = '$root/hr_people,org'
const written = (target: string) => target.replaceAll(/(?<=\()H(?=,)/g, H)

const onPeople = testsSharing(() => InMemoryTables.open(tables))

/** `pairs`: each node with itself and with each above it. `c`: each customer with each person of an order. */
const NAMES = sql`WITH RECURSIVE p AS (FROM hr_people.main.rows), pairs AS (SELECT person_id AS node, person_id AS above FROM p
    UNION SELECT node, manager_id FROM pairs JOIN p ON person_id = above WHERE manager_id IN (SELECT person_id FROM p)),
  c AS (SELECT DISTINCT customer_id, o.person_id FROM hr_customers.main.rows c JOIN hr_orders.main.rows o USING (customer_id))`

const same: Readonly<Record<string, Sql>> = {
  'hr_customers?$apply=descendants(H,orders/person_id,filter(customer_id eq 3),keep start)&$select=customer_id': sql`
    SELECT DISTINCT customer_id FROM c JOIN pairs ON node = person_id WHERE above IN (SELECT person_id FROM c WHERE customer_id = 3) ORDER BY 1`,
  'hr_customers?$apply=descendants(H,orders/person_id,filter(customer_id eq 3))&$select=customer_id': sql`
    SELECT DISTINCT customer_id FROM c JOIN pairs ON node = person_id
    WHERE node <> above AND above IN (SELECT person_id FROM c WHERE customer_id = 3) ORDER BY 1`,
  'hr_customers?$apply=ancestors(H,orders/person_id,filter(customer_id eq 1),1)&$select=customer_id': sql`
    SELECT DISTINCT customer_id FROM c JOIN p ON p.manager_id = c.person_id
    WHERE p.person_id IN (SELECT person_id FROM c WHERE customer_id = 1) ORDER BY 1`,
  'hr_people?$apply=groupby((manager_id),descendants(H,orders/person_id,filter(true),keep start))&$select=person_id': sql`
    SELECT person_id FROM p WHERE person_id IN (SELECT person_id FROM hr_orders.main.rows) ORDER BY 1`,
  'hr_customers?$apply=ancestors(H,orders/items/order/person_id,filter(customer_id eq 1),keep start)&$select=customer_id': sql`
    SELECT DISTINCT customer_id FROM c JOIN hr_orders.main.rows o USING (customer_id) JOIN hr_items.main.rows USING (order_id)
    JOIN pairs ON above = o.person_id WHERE node IN (SELECT person_id FROM c WHERE customer_id = 1) ORDER BY 1`,
  // A customer with several orders below a node is one of its rows once.
  'hr_customers?$apply=groupby((rolluprecursive(H,orders/person_id)),aggregate($count as n,customer_id with sum as s))': sql`
    SELECT count(DISTINCT customer_id), (SELECT sum(customer_id) FROM (SELECT DISTINCT customer_id FROM c JOIN pairs ON node = person_id
      WHERE above = p.person_id)) FROM p LEFT JOIN (c JOIN pairs ON node = c.person_id) ON above = p.person_id GROUP BY p.person_id ORDER BY p.person_id`,
  "hr_customers?$apply=groupby((name,rolluprecursive(H,orders/person_id)),aggregate($count as n))&$filter=n gt 0 and name eq 'A'": sql`
    SELECT 'A', count(DISTINCT customer_id) FROM c JOIN pairs ON node = person_id WHERE customer_id = 1 GROUP BY above ORDER BY above`,
  'hr_customers?$apply=traverse(H,orders/person_id,preorder)/descendants(H,orders/person_id,filter(customer_id eq 3),keep start)/groupby((customer_id))&$orderby=customer_id': sql`
    SELECT DISTINCT customer_id FROM c JOIN pairs ON node = person_id WHERE above IN (SELECT person_id FROM c WHERE customer_id = 3) ORDER BY 1`,
  'hr_customers?$apply=traverse(H,orders/person_id,preorder)&$select=customer_id': sql`
    SELECT customer_id FROM c JOIN p USING (person_id)
    ORDER BY CASE person_id WHEN 1 THEN 1 WHEN 2 THEN 2 WHEN 4 THEN 3 WHEN 5 THEN 4 WHEN 3 THEN 5 ELSE 6 END, 1`,
}

for (const [target, statement] of Object.entries(same))
  onPeople(`as in SQL: ${target}`, async (tables) => {
    const expected = await tables.run(sql`${NAMES} ${statement}`)
    const found = await tables.rows(encodedTarget(written(target)))
    // What the collections in the rows are found by comes last.
    const asked = Object.keys(expected[0] ?? {}).length
    const values = (rows: readonly object[]) =>
      rows.map((row) => Object.values(row).slice(0, asked).map(String))
    assert.ok(expected.length > 0)
    assert.equal(values(found), values(expected))
  })

const shown: Readonly<Record<string, readonly unknown[]>> = {
  'hr_customers?$apply=traverse(H,orders/person_id,preorder)&$select=name': [
    { name: 'C', orders: [{ person_id: 1 }] },
    { name: 'A', orders: [{ person_id: 2 }] },
    { name: 'A', orders: [{ person_id: 4 }] },
    { name: 'B', orders: [{ person_id: 3 }] },
  ],
  'hr_customers?$apply=traverse(H,orders/person/person_id,postorder)/top(1)&$select=name': [
    { name: 'A', orders: [{ person: { person_id: 4, manager_id: 2, name: 'Dan' } }] },
  ],
  'hr_customers?$apply=traverse(H,orders/person_id,preorder)/filter(orders/any(o:o/person_id eq 4))&$select=name&$expand=orders/$count':
    [{ name: 'A', 'orders@odata.count': 1 }],
  'hr_customers?$apply=groupby((rolluprecursive(H,orders/person_id)),aggregate($count as n))/filter(n gt 1)':
    [{ n: 3, orders: [{ person_id: 1 }] }],
  // The entity that the path leads to, in the objects around it.
  'hr_orders?$apply=traverse(H,person/person_id,preorder)/top(1)&$select=order_id': [
    { order_id: 16, person: { person_id: 1, manager_id: null, name: 'Ann' } },
  ],
  'hr_items?$apply=traverse(H,order/person/person_id,postorder)/top(1)&$select=item_id': [
    { item_id: 3, order: { person: { person_id: 4, manager_id: 2, name: 'Dan' } } },
  ],
  'hr_items?$apply=groupby((rolluprecursive(H,order/person/person_id)),aggregate(qty with sum as n))&$filter=n gt 10&$expand=order($expand=person($select=name))':
    [{ n: 18, order: { person: { name: 'Ann' } } }],
  'hr_items?$apply=traverse(H,order/person_id,preorder)/top(1)&$select=item_id,order': [
    { item_id: 7, order: { person_id: 1 } },
  ],
  // Where it is asked for, it is whole.
  'hr_items?$apply=traverse(H,order/person_id,preorder)/top(1)&$select=item_id&$expand=order($select=amount,order_id)':
    [{ item_id: 7, order: { amount: 9, order_id: 16 } }],
  // By which way a node was reached is told where the node is.
  'hr_orders?$apply=traverse(H,person/person_id,preorder,filter(person_id eq 2))/skip(1)/top(2)&$select=order_id':
    [11, 12].map((order_id) => ({
      order_id,
      person: { '@Aggregation.UpPath#org': ['2'], person_id: 4, manager_id: 2, name: 'Dan' },
    })),
  'hr_items?$apply=traverse(H,order/person_id,preorder,filter(person_id eq 2))/skip(2)/top(1)&$select=item_id,order':
    [{ item_id: 3, order: { 'person_id@Aggregation.UpPath#org': ['2'], person_id: 4 } }],
  'hr_orders?$apply=groupby((rolluprecursive(H,person/person_id,traverse(H,person_id,preorder,filter(person_id eq 4)))),aggregate($count as n))&$expand=person($select=person_id)':
    [
      { n: 3, person: { '@Aggregation.UpPath#org': [], person_id: 4 } },
      { n: 1, person: { '@Aggregation.UpPath#org': ['4'], person_id: 5 } },
    ],
  'hr_orders?$apply=groupby((rolluprecursive(H,person_id,traverse(H,person_id,preorder,filter(person_id eq 4)))),aggregate($count as n))':
    [
      { 'person_id@Aggregation.UpPath#org': [], person_id: 4, n: 3 },
      { 'person_id@Aggregation.UpPath#org': ['4'], person_id: 5, n: 1 },
    ],
}

for (const [target, expected] of Object.entries(shown))
  onPeople(target, async (tables) => {
    const rows = (await jsonRows(tables, written(target))) as Record<string, unknown>[]
    for (const row of rows) delete row['orders@odata.context']
    assert.equal(rows, expected)
  })

onPeople('what a path to nodes cannot be is told', (tables) => {
  for (const [apply, answer] of [
    [
      'descendants(H,orders,identity)',
      '400 $apply: orders is a collection of entities: name the property that is the node (at character 33)',
    ],
    [
      'descendants(H,ids,identity)',
      '501 $apply: a list of values as the nodes of a row is not supported',
    ],
    [
      'traverse(H,orders/items/order_id,preorder)',
      '501 $apply: a path to nodes through a collection in another one, or after an entity, in traverse is not supported',
    ],
    [
      'traverse(H,orders/person_id,preorder,filter(person_id eq 2))',
      '501 $apply: a choice of where trees begin, with a path to nodes through a collection, is not supported',
    ],
  ] as const) {
    const target = encodedTarget(written(`hr_customers?$apply=${apply}`))
    const { status, message } = tables.refusal(target)
    assert.is(`${status} ${message}`, answer)
  }
})

test('what a token does not see leads to no node, and is none', async () => {
  await using resources = new Resources()
  const rows = { 'hr.people': 'person_id <> 2', 'hr.orders': 'order_id <> 11' }
  const linkSecret = '3'.repeat(64)
  const whole = await serve(resources, tables, {
    tokens: [readerToken('some', { rows })],
    linkSecret,
  })
  const left = tables.map((table) => {
    const condition = { 'hr.people': sql`person_id <> 2`, 'hr.orders': sql`order_id <> 11` }[
      table.model
    ]
    return { ...table, rows: sql`SELECT * FROM (${table.rows}) WHERE ${condition ?? sql`true`}` }
  })
  const few = await serve(resources, left, { linkSecret })
  const asked = [...Object.keys(same), ...Object.keys(shown)]
  for (const target of asked.map((each) => encodedTarget(written(each)))) {
    const [seen, right] = [await whole.get(target, bearer('some')), await few.get(target)]
    assert.is(right.status, 200, right.text)
    assert.is(seen.text.replaceAll(whole.url, ''), right.text.replaceAll(few.url, ''), target)
  }
})

test('a format without nested rows has the rows that are entities anyway', async () => {
  await using resources = new Resources()
  const served = await serve(resources, tables)
  const ask = (apply: string, format: string) =>
    served.get(encodedTarget(written(`hr_orders?$apply=${apply}&$format=${format}`)))
  const ordered = 'traverse(H,person/person_id,preorder)/top(1)&$select=order_id,amount'
  assert.is((await ask(ordered, 'csv')).text, '"order_id","amount"\r\n16,9\r\n')
  for (const format of ['parquet', 'arrow', 'xlsx'])
    assert.is((await ask(ordered, format)).status, 200, format)
  assert.is((await ask(`${ordered}&$expand=person`, 'csv')).status, 400)
  assert.is((await ask('groupby((person))', 'csv')).status, 400)
})

test.run()
