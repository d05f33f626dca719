import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Sql, sql } from '../../../src/core/sql.ts'
import { withControlInformation } from '../../../src/odata/bind/control-information.ts'
import { entityTextsSql } from '../../../src/odata/sql/expand.ts'
import { InMemoryTables } from '../../support/in-memory-tables.ts'
import { encodedTarget, jsonRows } from '../../support/json-rows.ts'
import { testsSharing } from '../../support/shared.ts'

const onShop = testsSharing(() => InMemoryTables.open())

onShop('join has a row for each pair, and the other side where it is expanded', async (tables) => {
  const found = await jsonRows(
    tables,
    'shop_customers?$apply=join(orders as o)&$select=name&$expand=o($select=order_id,status)',
  )
  assert.equal(found, [
    { name: 'Alice', o: { order_id: 10, status: 'open' } },
    { name: 'Alice', o: { order_id: 11, status: 'paid' } },
    { name: 'Bob', o: { order_id: 12, status: 'paid' } },
  ])
  assert.equal(
    (await jsonRows(tables, 'shop_customers?$apply=join(orders as o)&$select=name')).length,
    3,
  )
  const { contextFragment } = tables.query(
    encodedTarget('shop_customers?$apply=join(orders as o)&$select=name&$expand=o'),
  )
  assert.is(contextFragment, 'shop_customers(name,o())')
})

onShop('outerjoin keeps rows that lead to nothing, with null beside them', async (tables) => {
  const found = await jsonRows(
    tables,
    'shop_customers?$apply=outerjoin(orders as o)&$select=customer_id&$expand=o($select=order_id)',
  )
  assert.equal(found, [
    { customer_id: 1, o: { order_id: 10 } },
    { customer_id: 1, o: { order_id: 11 } },
    { customer_id: 2, o: { order_id: 12 } },
    { customer_id: 3, o: null },
    { customer_id: 4, o: null },
    { customer_id: 5, o: null },
  ])
  assert.equal(
    await jsonRows(tables, 'shop_customers?$apply=outerjoin(orders as o)/groupby((o/status))'),
    [{ o: null }, { o: { status: 'open' } }, { o: { status: 'paid' } }],
  )
  assert.equal(
    await jsonRows(
      tables,
      'shop_customers?$apply=outerjoin(orders as o)/groupby((o/customer/name))',
    ),
    [{ o: null }, { o: { customer: { name: 'Alice' } } }, { o: { customer: { name: 'Bob' } } }],
  )
})

onShop('$expand takes options for the other side', async (tables) => {
  const of = (item: string) =>
    jsonRows(
      tables,
      `shop_customers?$apply=filter(customer_id le 3)/outerjoin(orders as o)&$select=customer_id&$expand=${item}`,
    )
  assert.equal(
    await of(
      'o($select=order_id,d;$compute=amount mul 2 as d;$expand=items($select=line),customer($select=name))',
    ),
    [
      {
        customer_id: 1,
        o: { order_id: 10, d: 201, items: [{ line: 1 }, { line: 2 }], customer: { name: 'Alice' } },
      },
      {
        customer_id: 1,
        o: { order_id: 11, d: 40, items: [{ line: 1 }], customer: { name: 'Alice' } },
      },
      {
        customer_id: 2,
        o: { order_id: 12, d: null, items: [{ line: 1 }], customer: { name: 'Bob' } },
      },
      { customer_id: 3, o: null },
    ],
  )
  assert.equal(await of('o/$ref'), [
    { customer_id: 1, o: { '@odata.id': 'shop_orders(10)' } },
    { customer_id: 1, o: { '@odata.id': 'shop_orders(11)' } },
    { customer_id: 2, o: { '@odata.id': 'shop_orders(12)' } },
    { customer_id: 3, o: null },
  ])
})

onShop(
  'the null is there with metadata=full, where types come before the values',
  async (tables) => {
    const target =
      'shop_customers?$apply=filter(customer_id eq 3)/outerjoin(orders as o)&$select=name&$expand=o'
    const query = withControlInformation(tables.query(encodedTarget(target)), '4.01')
    const window = { offset: 0, limit: null }
    const [row] = await tables.run(
      entityTextsSql(query, window, { metadata: 'full', ieee754: false }),
    )
    assert.is(Object.values(row!)[0], `,{"@odata.id":null,"name":"O'Neil","o":null}`)
  },
)

onShop('the sequence of a join works on the rows of each side alone', async (tables) => {
  const rows = (sequence: string) =>
    jsonRows(
      tables,
      `shop_customers?$apply=join(orders as o,${sequence})&$select=customer_id,o/order_id`,
    )
  assert.equal(await rows('orderby(order_id desc)/top(1)'), [
    { customer_id: 1, o: { order_id: 11 } },
    { customer_id: 2, o: { order_id: 12 } },
  ])
  assert.equal(await rows('filter(amount ge $these/aggregate(amount with max))'), [
    { customer_id: 1, o: { order_id: 10 } },
  ])
  assert.equal(
    await jsonRows(
      tables,
      'shop_customers?$apply=outerjoin(orders as o,groupby((status),aggregate($count as n)))&$select=customer_id,o',
    ),
    [
      { customer_id: 1, o: { status: 'open', n: 1 } },
      { customer_id: 1, o: { status: 'paid', n: 1 } },
      { customer_id: 2, o: { status: 'paid', n: 1 } },
      { customer_id: 3, o: null },
      { customer_id: 4, o: null },
      { customer_id: 5, o: null },
    ],
  )
  const sorted = 'join(orders as o,orderby(order_id desc))'
  assert.equal(
    await jsonRows(tables, `shop_customers?$apply=${sorted}&$select=customer_id,o/order_id`),
    [
      { customer_id: 1, o: { order_id: 11 } },
      { customer_id: 1, o: { order_id: 10 } },
      { customer_id: 2, o: { order_id: 12 } },
    ],
  )
})

/** Requests with the SQL that a person would write for them: the same values in the same order. */
const same: readonly (readonly [apply: string, statement: Sql])[] = [
  [
    'join(orders as o)/groupby((o/status),aggregate(o/amount with sum as s,$count as n))',
    sql`SELECT o.status, sum(o.amount), count(*) FROM c JOIN o USING (customer_id) GROUP BY 1 ORDER BY 1`,
  ],
  [
    'outerjoin(orders as o)/groupby((city),aggregate(o/order_id with count as n))',
    sql`SELECT city, count(order_id) FROM c LEFT JOIN o USING (customer_id) GROUP BY 1 ORDER BY 1 NULLS FIRST`,
  ],
  [
    'join(orders as o)/filter(o/amount gt 10 and o/customer/name eq name)/aggregate($count as n)',
    sql`SELECT count(*) FROM c JOIN o USING (customer_id) WHERE amount > 10`,
  ],
  [
    'join(orders as o)/join(orders as p)/filter(o/order_id lt p/order_id)/aggregate($count as n)',
    sql`SELECT count(*) FROM c JOIN o USING (customer_id) JOIN o p USING (customer_id) WHERE o.order_id < p.order_id`,
  ],
  [
    'join(orders as o,join(items as i))/aggregate(o/i/qty with sum as s)',
    sql`SELECT sum(qty) FROM c JOIN o USING (customer_id) JOIN i USING (order_id)`,
  ],
  [
    'join(orders as o,aggregate(amount with sum as s,$count as n))/aggregate(o/s with sum as total,o/n with sum as rows,$count as parents)',
    sql`SELECT sum(s), sum(n), count(*) FROM (SELECT customer_id, sum(amount) AS s, count(order_id) AS n
      FROM c LEFT JOIN o USING (customer_id) GROUP BY ALL)`,
  ],
  [
    'join(orders as o,aggregate($count as n)/filter(n eq 0))/groupby((name))',
    sql`SELECT DISTINCT name FROM c ANTI JOIN o USING (customer_id) ORDER BY 1 NULLS FIRST`,
  ],
  [
    'join(orders as o,aggregate(amount with max as most))/groupby((vip),aggregate(o/most with max as m))',
    sql`SELECT vip, max(amount) FROM c LEFT JOIN o USING (customer_id) GROUP BY 1 ORDER BY 1 NULLS FIRST`,
  ],
  [
    'join(orders as o,concat(aggregate($count as n),filter(amount gt 20)/aggregate($count as n)))/groupby((o/n),aggregate($count as times))',
    sql`SELECT n, count(*) FROM (SELECT count(order_id) AS n FROM c LEFT JOIN o USING (customer_id) GROUP BY c.customer_id
      UNION ALL SELECT count(order_id) FROM c LEFT JOIN (FROM o WHERE amount > 20) o USING (customer_id) GROUP BY c.customer_id)
      GROUP BY 1 ORDER BY 1`,
  ],
  [
    'join(orders as o,join(items as i,aggregate(qty with sum as q))/aggregate(i/q with max as most))/aggregate(o/most with sum as s,$count as n)',
    sql`SELECT sum(most), count(*) FROM (SELECT c.customer_id, max(q) AS most FROM c LEFT JOIN
      (SELECT o.order_id, o.customer_id, sum(qty) AS q FROM o LEFT JOIN i USING (order_id) GROUP BY ALL) USING (customer_id) GROUP BY 1)`,
  ],
  [
    'groupby((vip),join(orders as o)/topcount(1,o/amount)/aggregate(o/amount with max as m))',
    sql`SELECT vip, max(amount) FROM c JOIN o USING (customer_id) GROUP BY 1 ORDER BY 1`,
  ],
]

for (const [apply, statement] of same)
  onShop(`as in SQL: ${apply}`, async (tables) => {
    const names = sql`WITH c AS (FROM shop_customers.main.rows), o AS (FROM shop_orders.main.rows), i AS (FROM shop_items.main.rows)`
    const expected = await tables.run(sql`${names} ${statement}`)
    const found = await tables.rows(encodedTarget(`shop_customers?$apply=${apply}`))
    const values = (rows: readonly object[]) =>
      rows.map((row) =>
        Object.entries(row).flatMap(([name, value]) =>
          name.endsWith(' mark')
            ? []
            : [
                value === null
                  ? null
                  : Number.isNaN(Number(value))
                    ? (value as string)
                    : Number(value),
              ],
        ),
      )
    assert.equal(values(found), values(expected))
  })

onShop('groupby takes the entity that a join has put beside the rows', async (tables) => {
  const grouped = (how: string) =>
    `shop_customers?$apply=${how}(orders as o)/groupby((o),aggregate($count as n))`
  const rows = await jsonRows(tables, `${grouped('outerjoin')}&$expand=o($select=order_id,amount)`)
  const expected =
    await tables.run(sql`SELECT o.order_id AS id, first(amount) AS amount, count(*) AS n
    FROM shop_customers.main.rows LEFT JOIN shop_orders.main.rows AS o USING (customer_id) GROUP BY 1 ORDER BY 1 NULLS FIRST`)
  assert.equal(
    rows,
    expected.map(({ id, amount, n }) => ({
      n: Number(n),
      o: id === null ? null : { order_id: id, amount: amount && Number(amount) },
    })),
  )
  const query = tables.query(encodedTarget(grouped('join')))
  assert.is(query.contextFragment, 'shop_customers(n,o())')
  const first = (await jsonRows(tables, `${grouped('join')}&$top=1`)) as readonly {
    readonly o: object
  }[]
  assert.equal(Object.keys(first[0]!.o).slice(0, 3), ['order_id', 'customer_id', 'status'])
  assert.is(
    await tables.first(
      'shop_customers?$apply=join(orders as o)/groupby((city,o))/filter(o/amount gt 50)',
    ),
    'Berlin',
  )
})

onShop('mistakes in a join are told with their place', (tables) => {
  const refused = (apply: string) => {
    const { status, message } = tables.refusal(encodedTarget(`shop_customers?$apply=${apply}`))
    return `${status} ${message}`
  }
  for (const [apply, answer] of [
    [
      'join(ordes as o)',
      '400 $apply: shop_customers has no navigation property "ordes" (at character 6); did you mean "orders"?',
    ],
    ['join(orders as name)', '400 $apply: the name "name" is taken (at character 16)'],
    [
      'join(orders/customer as c)',
      '501 $apply: join of more than one navigation property at once is not supported',
    ],
    ['join(city as c)', '501 $apply: join of a value, such as the list city, is not supported'],
    [
      'join(orders as o,compute(amount add 1 as z))/groupby((o))',
      '501 $apply: an entity that join adds, with a key of several columns or with computed values, in groupby is not supported',
    ],
    [
      'join(orders as o)&$expand=o($top=1)',
      '400 $expand: o is a single entity, which takes no $top',
    ],
    [
      'join(orders as o)&$expand=o($select=nope)',
      '400 $expand: shop_orders has no property "nope" (at character 11)',
    ],
  ] as const)
    assert.is(refused(apply), answer, apply)
  assert.match(
    tables.refusal(encodedTarget('shop_orders?$apply=join(customer as c)')).message,
    /customer leads to one .*customer\/…/,
  )
})

test.run()
