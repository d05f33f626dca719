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

/** Rows of an answer without the contexts in them. */
async function plainRows(tables: InMemoryTables, target: string): Promise<unknown> {
  const rows = await jsonRows(tables, target)
  return JSON.parse(
    JSON.stringify(rows, (name, value: unknown) =>
      name.endsWith('@odata.context') ? undefined : value,
    ),
  ) as unknown
}

onShop('nest within groupby makes a row of each group', async (tables) => {
  const target =
    'shop_orders?$apply=groupby((customer_id),nest(groupby((status)) as s,aggregate($count as n) as t))'
  assert.is(contextOf(tables, target), 'shop_orders(customer_id,s(),t())')
  const expected =
    await tables.run(sql`SELECT customer_id, list(DISTINCT status ORDER BY status) AS s,
    count(*)::INTEGER AS n FROM shop_orders.main.rows GROUP BY 1 ORDER BY 1 NULLS FIRST`)
  const found = (await plainRows(tables, target)) as {
    readonly customer_id: number
    readonly s: readonly { readonly status: string | null }[]
    readonly t: readonly [{ readonly n: number }]
  }[]
  assert.equal(
    found.map(({ customer_id, s, t: [{ n }] }) => [customer_id, s.length, n]),
    expected.map(({ customer_id, n }) => [customer_id, Number(n) > 1 ? 2 : 1, n]),
  )
  assert.equal(
    await plainRows(
      tables,
      'shop_orders?$apply=groupby((customer/name),nest(identity as s))&$expand=s($select=order_id)',
    ),
    [
      { customer: { name: null }, s: [{ order_id: 13 }, { order_id: 14 }] },
      { customer: { name: 'Alice' }, s: [{ order_id: 10 }, { order_id: 11 }] },
      { customer: { name: 'Bob' }, s: [{ order_id: 12 }] },
    ],
  )
})

onShop('nest within join and nest', async (tables) => {
  const target =
    'shop_customers?$apply=filter(customer_id le 3)/join(orders as o,nest(groupby((status)) as s,aggregate($count as n) as c))&$select=customer_id'
  assert.is(contextOf(tables, target), 'shop_customers(customer_id,o(s(),c()))')
  assert.equal(await plainRows(tables, target), [
    { customer_id: 1, o: { s: [{ status: 'open' }, { status: 'paid' }], c: [{ n: 2 }] } },
    { customer_id: 2, o: { s: [{ status: 'paid' }], c: [{ n: 1 }] } },
    { customer_id: 3, o: { s: [], c: [{ n: 0 }] } },
  ])
  assert.equal(
    await plainRows(tables, 'shop_orders?$apply=nest(nest(groupby((status)) as s) as t)'),
    [{ t: [{ s: [{ status: null }, { status: 'open' }, { status: 'paid' }] }] }],
  )
})

onShop('addnested adds one entity where a property leads to one', async (tables) => {
  const target =
    'shop_orders?$apply=addnested(customer,compute(credit mul 2 as c) as x)&$select=order_id&$expand=x($select=name,c)'
  const context = { '@odata.context': '#shop_customers(name,c)/$entity' }
  assert.equal(await jsonRows(tables, target), [
    { order_id: 10, x: { ...context, name: 'Alice', c: 2001 } },
    { order_id: 11, x: { ...context, name: 'Alice', c: 2001 } },
    { order_id: 12, x: { ...context, name: 'Bob', c: 500.5 } },
    { order_id: 13 },
    { order_id: 14 },
  ])
})

onShop('$expand takes options for collections', async (tables) => {
  const of = (item: string) =>
    plainRows(
      tables,
      `shop_customers?$apply=filter(customer_id le 2)/addnested(orders,addnested(customer,identity as y) as x)&$select=customer_id&$expand=${item}`,
    )
  assert.equal(
    await of(
      'x($top=1;$orderby=order_id desc;$count=true;$filter=order_id gt 5;$select=order_id;$expand=y($select=name))',
    ),
    [
      { customer_id: 1, 'x@odata.count': 2, x: [{ order_id: 11, y: { name: 'Alice' } }] },
      { customer_id: 2, 'x@odata.count': 1, x: [{ order_id: 12, y: { name: 'Bob' } }] },
    ],
  )
  assert.equal(await of('x/$count'), [
    { customer_id: 1, 'x@odata.count': 2 },
    { customer_id: 2, 'x@odata.count': 1 },
  ])
  assert.equal(await of('x/$ref'), [
    { customer_id: 1, x: [{ '@odata.id': 'shop_orders(10)' }, { '@odata.id': 'shop_orders(11)' }] },
    { customer_id: 2, x: [{ '@odata.id': 'shop_orders(12)' }] },
  ])
  // What is asked for by name has only what is asked for in it.
  assert.equal(await of('x($compute=amount add 1 as b;$select=b)'), [
    { customer_id: 1, x: [{ b: 101.5 }, { b: 21 }] },
    { customer_id: 2, x: [{ b: null }] },
  ])
})

/** What customers have of orders above 5, as SQL says it. */
const LARGE = sql`SELECT customer_id, count(order_id) AS n, sum(amount) AS s, coalesce(bool_or(amount > 50), false) AS has
  FROM shop_customers.main.rows LEFT JOIN (FROM shop_orders.main.rows WHERE amount > 5) USING (customer_id)
  GROUP BY customer_id ORDER BY customer_id`

onShop('expressions name what addnested has added', async (tables) => {
  const added = 'shop_customers?$apply=addnested(orders,filter(amount gt 5) as x)'
  const expected = await tables.run(LARGE)
  const totals = 'x/$count as n,x/aggregate(amount with sum) as s,x/any(o:o/amount gt 50) as has'
  const keys = async (more: string) =>
    (await jsonRows(tables, `${added}${more}&$select=customer_id&$expand=orders`)).map(
      (row) => (row as { readonly customer_id: number }).customer_id,
    )
  const values = (rows: readonly object[]) => rows.map((row) => Object.values(row).map(String))
  const computed = `${added}/compute(${totals})&$select=customer_id,n,s,has&$expand=orders/$count`
  const found = (await jsonRows(tables, computed)) as readonly Record<string, unknown>[]
  assert.equal(
    values(found.map(({ customer_id, n, s, has }) => ({ customer_id, n, s, has }))),
    values(
      expected.map(({ customer_id, n, s, has }) => ({ customer_id, n, s: s && Number(s), has })),
    ),
  )
  const withOne = expected.filter(({ n }) => Number(n) > 0).map(({ customer_id }) => customer_id)
  assert.ok(withOne.length > 0)
  assert.equal(await keys('/filter(x/$count gt 0)'), withOne)
  assert.equal(await keys('&$filter=x/any()'), withOne)
  assert.equal((await keys('&$orderby=x/$count desc,customer_id'))[0], withOne[0])
  assert.equal(await keys('/filter(x/any(o:o/amount gt 50) and x/all(o:o/amount gt 5))'), [1])
})

onShop('totals are of what addnested has added, in groups too', async (tables) => {
  const filtered = 'addnested(orders,filter(amount gt 5) as x)'
  const total = (groups: string) =>
    `shop_customers?$apply=${filtered}/groupby((${groups}),aggregate(x/amount with sum as s,x/$count as n))`
  const expected = await tables.run(sql`SELECT city, sum(amount) AS s, count(order_id) AS n
    FROM shop_customers.main.rows LEFT JOIN (FROM shop_orders.main.rows WHERE amount > 5) USING (customer_id)
    GROUP BY city ORDER BY city NULLS FIRST`)
  assert.equal(
    await jsonRows(tables, total('city')),
    expected.map(({ city, s, n }) => ({ city, s: s && Number(s), n: Number(n) })),
  )
  // Rows that groupby made have no key: each of them counts once.
  const groups = 'addnested(orders,groupby((status),aggregate($count as n)) as x)'
  assert.equal(
    await jsonRows(tables, `shop_customers?$apply=${groups}/aggregate(x/n with sum as n)`),
    [{ n: 3 }],
  )
  const one = 'addnested(customer,compute(credit mul 2 as limit) as c)'
  assert.is(await tables.first(`shop_orders?$apply=${one}/filter(c/limit gt 1000)`), '10 11')
  assert.is(await tables.first(`shop_orders?$apply=${one}/filter(c eq null)`), '13 14')
})

onShop('what is within what was added has names too', async (tables) => {
  const inner = 'addnested(items,filter(line eq 2) as i)'
  const keys = `shop_customers?$apply=addnested(orders,${inner} as x)`
  assert.is(await tables.first(`${keys}/filter(x/any(o:o/i/any(l:l/line eq 2)))`), '1')
  assert.is(await tables.first(`${keys}/filter(x/any(o:o/i/any(l:l/line eq 1)))`), '')
  const beside = `shop_customers?$apply=outerjoin(orders as o,${inner})`
  assert.is(await tables.first(`${beside}/filter(o/i/$count eq 1)`), '1')
})

onShop('each part of a concat has its own collections', async (tables) => {
  const parts =
    'concat(addnested(orders,groupby((order_id)) as x),addnested(orders,aggregate($count as n) as x),identity)'
  const target = `shop_customers?$apply=filter(customer_id eq 1)/${parts}&$select=customer_id`
  assert.is(contextOf(tables, target), 'shop_customers(customer_id,x())')
  assert.equal(await jsonRows(tables, target), [
    {
      customer_id: 1,
      'x@odata.context': '#shop_orders(order_id)',
      x: [{ order_id: 10 }, { order_id: 11 }],
    },
    { customer_id: 1, 'x@odata.context': '#shop_orders(n)', x: [{ n: 2 }] },
    { customer_id: 1 },
  ])
  assert.equal(await jsonRows(tables, `${target}&$expand=x($top=1)`), [
    { customer_id: 1, 'x@odata.context': '#shop_orders(order_id)', x: [{ order_id: 10 }] },
    { customer_id: 1, 'x@odata.context': '#shop_orders(n)', x: [{ n: 2 }] },
    { customer_id: 1 },
  ])
})

onShop('rollup has the collections of each level', async (tables) => {
  const nest = 'nest(groupby((order_id)) as s)'
  const target = `shop_orders?$apply=filter(customer_id eq 1)/groupby((rollup(customer_id,status)),${nest})`
  const rows = (await plainRows(tables, target)) as readonly { readonly s: readonly object[] }[]
  assert.equal(rows, [
    { customer_id: 1, status: 'open', s: [{ order_id: 10 }] },
    { customer_id: 1, status: 'paid', s: [{ order_id: 11 }] },
    { customer_id: 1, s: [{ order_id: 10 }, { order_id: 11 }] },
  ])
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
    [
      'addnested(orders,top(1) as x)/filter(x/amount gt 1)',
      '400 $apply: x is a collection: any, all or $count can follow (at character 38)',
    ],
    [
      'addnested(orders,top(1) as x)/filter(x/any(o:o/nope gt 1))',
      '400 $apply: shop_orders has no property "nope" (at character 46); here $apply has left order_id, customer_id, status, amount, flags, ordered_at',
    ],
    [
      `addnested(orders,top(1) as x)/filter(${Array.from({ length: 30 }, () => 'x/any()').join(' or ')})`,
      '400 $apply: a request may follow at most 50 navigation properties and collections',
    ],
    ['nest(top(1) as x,top(2) as x)', '400 $apply: the name "x" is taken (at character 28)'],
    [
      'addnested(orders,groupby((status)) as x)&$expand=x/$ref',
      '400 $expand: x has no entities that could be referenced',
    ],
    [
      'addnested(orders,top(1) as x)&$expand=x($levels=2)',
      '501 $expand: $levels in $expand of x is not supported',
    ],
  ] as const)
    assert.is(refused(apply), answer, apply)
  const ofOne = (apply: string) => tables.refusal(encodedTarget(`shop_orders?$apply=${apply}`))
  assert.is(
    ofOne('addnested(customer,top(1) as c)').message,
    '$apply: customer leads to one entity, of which addnested takes identity, compute and addnested, not top',
  )
  assert.is(ofOne('addnested(customer,identity as c)&$expand=c($top=1)').status, 400)
})

test.run()
