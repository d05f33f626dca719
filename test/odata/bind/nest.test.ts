import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../src/core/sql.ts'
import { InMemoryTables } from '../../support/in-memory-tables.ts'
import { encodedTarget, jsonRows } from '../../support/json-rows.ts'
import { testsSharing } from '../../support/shared.ts'

const onShop = testsSharing(() => InMemoryTables.open())

const orders = (sequence: string) =>
  `shop_customers?$apply=filter(customer_id le 3)/addnested(orders,${sequence} as x)&$select=customer_id`

const contextOf = (tables: InMemoryTables, target: string) =>
  tables.query(encodedTarget(target)).contextFragment

onShop('addnested adds what a sequence makes of the related rows of each row', async (tables) => {
  const target = orders('filter(amount gt 5)/groupby((order_id))')
  assert.is(contextOf(tables, target), 'shop_customers(customer_id,x())')
  const context = { 'x@odata.context': '#shop_orders(order_id)' }
  assert.equal(await jsonRows(tables, target), [
    { customer_id: 1, ...context, x: [{ order_id: 10 }, { order_id: 11 }] },
    { customer_id: 2, ...context, x: [] },
    { customer_id: 3, ...context, x: [] },
  ])
})

onShop('a total has a row for rows that lead to nothing', async (tables) => {
  const context = { 'x@odata.context': '#shop_orders(s,n)' }
  assert.equal(await jsonRows(tables, orders('aggregate(amount with sum as s,$count as n)')), [
    { customer_id: 1, ...context, x: [{ s: 120.5, n: 2 }] },
    { customer_id: 2, ...context, x: [{ s: null, n: 1 }] },
    { customer_id: 3, ...context, x: [{ s: null, n: 0 }] },
  ])
})

onShop(
  'what follows a total drops rows with it, and does not find those of no rows',
  async (tables) => {
    const context = { 'x@odata.context': '#shop_orders(n)' }
    assert.equal(await jsonRows(tables, orders('aggregate($count as n)/filter(n eq 0)')), [
      { customer_id: 1, ...context, x: [] },
      { customer_id: 2, ...context, x: [] },
      { customer_id: 3, ...context, x: [{ n: 0 }] },
    ])
    assert.equal(await jsonRows(tables, orders('aggregate($count as n)/filter(n gt 1)')), [
      { customer_id: 1, ...context, x: [{ n: 2 }] },
      { customer_id: 2, ...context, x: [] },
      { customer_id: 3, ...context, x: [] },
    ])
  },
)

onShop('whole entities, sorted and cut, with collections in them', async (tables) => {
  const sequence = 'addnested(items,groupby((product)) as p)/orderby(order_id desc)/top(1)'
  const [alice] = (await jsonRows(tables, orders(sequence))) as { readonly x: readonly object[] }[]
  assert.equal(alice!.x, [
    {
      order_id: 11,
      customer_id: 1,
      status: 'paid',
      amount: 20,
      flags: 4,
      ordered_at: '2024-02-29T23:59:59.123456Z',
      'p@odata.context': '#shop_items(product)',
      p: [{ product: 'a' }],
    },
  ])
})

onShop('$expand names the collections that are written', async (tables) => {
  const both =
    'shop_customers?$apply=addnested(orders,groupby((status)) as a,top(1) as b)&$select=name&$top=1'
  const names = async (more: string) =>
    Object.keys((await jsonRows(tables, both + more))[0] as object)
      .filter((name) => !name.includes('@'))
      .join(' ')
  assert.is(await names(''), 'name a b')
  assert.is(await names('&$expand=b'), 'name b')
  assert.is(await names('&$expand=orders,a'), 'name orders a')
  assert.is(contextOf(tables, `${both}&$expand=b`), 'shop_customers(name,b())')
})

onShop('nest makes one row of all, also of none', async (tables) => {
  const nest = 'nest(groupby((status),aggregate($count as n)) as s,aggregate($count as n) as t)'
  const target = `shop_orders?$apply=${nest}`
  assert.is(contextOf(tables, target), 'shop_orders(s(),t())')
  const contexts = {
    's@odata.context': '#shop_orders(status,n)',
    't@odata.context': '#shop_orders(n)',
  }
  const s = [
    { status: null, n: 1 },
    { status: 'open', n: 2 },
    { status: 'paid', n: 2 },
  ]
  assert.equal(await jsonRows(tables, target), [{ ...contexts, s, t: [{ n: 5 }] }])
  assert.equal(await jsonRows(tables, `shop_orders?$apply=filter(order_id lt 0)/${nest}`), [
    { ...contexts, s: [], t: [{ n: 0 }] },
  ])
  assert.is(await tables.count(`shop_orders/$count?$apply=${encodeURIComponent(nest)}`), 1)
})

onShop('rows in rows are those that SQL finds', async (tables) => {
  const found = (await jsonRows(
    tables,
    'shop_customers?$apply=addnested(orders,topcount(1,order_id) as last)&$select=customer_id',
  )) as { readonly customer_id: number; readonly last: { readonly order_id: number }[] }[]
  const expected = await tables.run(
    sql`SELECT customer_id, max(order_id) AS last FROM shop_customers.main.rows LEFT JOIN shop_orders.main.rows USING (customer_id) GROUP BY ALL ORDER BY ALL`,
  )
  assert.equal(
    found.map(({ customer_id, last }) => [customer_id, last[0]?.order_id ?? null]),
    expected.map((row) => [row['customer_id'], row['last']]),
  )
})

onShop('mistakes in nest and addnested are told with their place', (tables) => {
  const refused = (apply: string) => {
    const { status, message } = tables.refusal(encodedTarget(`shop_customers?$apply=${apply}`))
    return `${status} ${message}`
  }
  for (const [apply, answer] of [
    [
      'addnested(ordes,top(1) as x)',
      '400 $apply: shop_customers has no navigation property "ordes" (at character 11); did you mean "orders"?',
    ],
    ['addnested(orders,top(1) as name)', '400 $apply: the name "name" is taken (at character 28)'],
    [
      'addnested(orders,top(1) as x,top(2) as x)',
      '400 $apply: the name "x" is taken (at character 40)',
    ],
    ['addnested(orders,top(1) as x)/compute(1 as x)', '400 the name "x" is taken'],
    ['nest(top(1) as x,top(2) as x)', '400 $apply: the name "x" is taken (at character 28)'],
    [
      'groupby((city),nest(top(1) as x))',
      '501 $apply: nest within groupby or join is not supported',
    ],
    [
      'concat(identity,addnested(orders,top(1) as x))',
      '501 $apply: a collection that nest or addnested makes, within concat or rollup, is not supported',
    ],
    [
      'addnested(orders,top(1) as x)&$expand=x($top=1)',
      '501 $expand: an option in $expand of x, which addnested or nest makes, is not supported',
    ],
  ] as const)
    assert.is(refused(apply), answer, apply)
  assert.is(
    tables.refusal(encodedTarget('shop_orders?$apply=addnested(customer,identity as c)')).status,
    501,
  )
})

test.run()
