import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import { serve } from '../../support/odata-service.ts'
import { shop as smallShop } from '../../support/related-tables.ts'

const shop = [
  {
    model: 'shop.customers',
    key: ['customer_id'],
    rows: sql`SELECT * FROM (VALUES (1, 'Berlin'), (2, 'Paris')) AS v(customer_id, city)`,
  },
  {
    model: 'shop.orders',
    key: ['order_id'],
    rows: sql`SELECT i AS order_id, 1 + i % 2 AS customer_id, CAST(i AS BIGINT) AS amount FROM range(25000) AS r(i)`,
  },
]

const groups =
  'shop_orders?$apply=groupby((customer/city),aggregate(amount%20with%20sum%20as%20total))'

test('values behind navigation are nested objects', async () => {
  await using resources = new Resources()
  const served = await serve(resources, shop)
  const { status, text } = await served.get(`${groups}&$count=true`)
  assert.is(status, 200)
  const context = `"@odata.context":"${served.url}/$metadata#shop_orders(customer(city),total)"`
  const berlin = '{"customer":{"city":"Berlin"},"total":156237500'
  const paris = '{"customer":{"city":"Paris"},"total":156250000'
  assert.is(text, `{${context},"@odata.count":2,"value":[${berlin}},${paris}}]}`)
})

test('pages of groups neither overlap nor leave gaps', async () => {
  await using resources = new Resources()
  const served = await serve(resources, shop)
  const seen: number[] = []
  let next: string | undefined = 'shop_orders?$apply=groupby((amount),aggregate($count%20as%20n))'
  while (next !== undefined) {
    const { text } = await served.get(next, { Prefer: 'maxpagesize=7000' })
    const page = JSON.parse(text) as {
      value: { amount: number }[]
      '@odata.nextLink'?: string
    }
    seen.push(...page.value.map(({ amount }) => amount))
    next = page['@odata.nextLink']?.slice(served.url.length + 1)
  }
  assert.equal(
    seen,
    Array.from({ length: 25_000 }, (_, i) => i),
  )
})

test('a stream of transformed rows is whole', async () => {
  await using resources = new Resources()
  const served = await serve(resources, shop, { pageSize: 100_000 })
  const { text } = await served.get(
    'shop_orders?$apply=concat(identity,aggregate($count%20as%20n))',
  )
  const { value } = JSON.parse(text) as { value: { n: number | null; amount: number | null }[] }
  assert.is(value.length, 25_001)
  assert.equal(value.at(-1), { n: 25_000 })
})

test('values that rows of concat and rollup lack are left out', async () => {
  await using resources = new Resources()
  const served = await serve(resources, smallShop)
  const valueOf = async (apply: string, more = '') => {
    const { status, text, json } = await served.get(
      `shop_orders?$apply=${encodeURIComponent(apply)}${more}`,
    )
    assert.is(status, 200, text)
    return json['value']
  }
  const rollup = 'groupby((rollup($all,status,customer/city)),aggregate($count as n))'
  assert.equal(await valueOf(rollup, '&$skip=3'), [
    { status: 'paid', customer: { city: null }, n: 1 },
    { status: 'paid', customer: { city: 'Berlin' }, n: 2 },
    { status: null, n: 1 },
    { status: 'open', n: 2 },
    { status: 'paid', n: 3 },
    { n: 6 },
  ])
  assert.equal(await valueOf(rollup, '&$skip=7&$select=status,customer'), [{ status: 'paid' }, {}])
  assert.equal(await valueOf(rollup, '&$skip=8&$format=application/json;metadata=full'), [
    { '@odata.id': null, 'n@odata.type': 'Int64', n: 6 },
  ])
  const csv = await served.get(
    `shop_orders?$apply=${encodeURIComponent(rollup)}&$skip=7&$format=csv`,
  )
  assert.is(csv.text, '"status","customer/city","n"\r\n"paid",,3\r\n,,6\r\n')
})

test('$apply works on the rows that a path leads to, and not on what is no collection', async () => {
  await using resources = new Resources()
  const served = await serve(resources, smallShop)
  const valueOf = async (target: string) => {
    const { status, text } = await served.get(target.replaceAll(' ', '%20'))
    assert.is(status, 200, text)
    return (JSON.parse(text) as { value: unknown }).value
  }
  const byStatus = '$apply=groupby((status),aggregate($count as n))'
  assert.equal(await valueOf(`shop_customers(1)/orders?${byStatus}`), [
    { status: 'open', n: 1 },
    { status: 'paid', n: 2 },
  ])
  assert.equal(await valueOf(`shop_orders?${byStatus}&$filter=n gt 1&$orderby=n desc&$top=1`), [
    { status: 'paid', n: 3 },
  ])
  assert.equal(await valueOf('shop_customers(3)/orders?$apply=aggregate($count as n)'), [{ n: 0 }])
  assert.is(
    (await served.get('shop_customers(1)/orders/$count?$apply=groupby((status))')).text,
    '2',
  )
  for (const [target, status] of [
    ['shop_customers(77)/orders?$apply=aggregate($count as n)', 404],
    ['shop_customers(77)/orders/$count?$apply=aggregate($count as n)', 404],
    ['shop_orders?$apply=identity&$expand=items', 200],
    ['shop_orders?$apply=groupby((status))&$expand=items', 400],
    ['shop_orders?$apply=aggregate($count as n)&$expand=items', 400],
    ['shop_customers?$expand=orders($apply=groupby((status)))', 501],
    ['shop_orders/$ref?$apply=identity', 400],
    ['shop_orders(10)?$apply=identity', 400],
    ['shop_orders(10)/status?$apply=identity', 400],
  ] as const)
    assert.is((await served.get(target.replaceAll(' ', '%20'))).status, status, target)
})

test('a path in aggregate counts each entity once that rows lead to', async () => {
  await using resources = new Resources()
  const served = await serve(resources, smallShop)
  const first = async (target: string) => (await served.get(encodeURI(target))).json.value[0]
  const all = async (target: string) => (await served.get(encodeURI(target))).json.value
  assert.equal(
    await first(
      'shop_customers?$apply=aggregate(orders/amount with sum as sum,orders/amount with average as avg,orders/amount with min as min,orders/amount with max as max,orders/amount with count as n,orders/status with countdistinct as states,orders with countdistinct as orders)',
    ),
    { sum: 140.5, avg: 46.83333333333333, min: 20, max: 100.5, n: 3, states: 2, orders: 4 },
  )
  assert.equal(
    await all('shop_customers?$apply=groupby((name),aggregate(orders/items/qty with sum as q))'),
    [
      { name: 'Alice', q: 8 },
      { name: "O'Neil", q: null },
      { name: 'Zoë', q: null },
    ],
  )
  const once = await served.get(
    'shop_orders?$apply=aggregate(customer/points%20with%20sum%20as%20p)',
  )
  assert.match(once.text, '"p":9007199254740993}')
  assert.equal(
    await first(
      'shop_items?$apply=aggregate(order/amount with sum as a,order/customer with countdistinct as c)',
    ),
    { a: 120.5, c: 2 },
  )
  assert.is(
    (await served.get('shop_customers?$apply=aggregate(orders/nope%20with%20sum%20as%20n)')).status,
    400,
  )
})

test('from: totals of totals', async () => {
  await using resources = new Resources()
  const served = await serve(resources, smallShop)
  const all = async (apply: string) =>
    (await served.get(encodeURI(`shop_orders?$apply=${apply}`))).json.value
  assert.equal(await all('aggregate(amount with sum from status with average as x)'), [{ x: 53.5 }])
  assert.equal(
    await all('groupby((customer_id),aggregate(amount with sum from status with max as x))'),
    [
      { customer_id: null, x: 0 },
      { customer_id: 1, x: 100.5 },
      { customer_id: 2, x: null },
      { customer_id: 99, x: 20 },
    ],
  )
  assert.equal(
    await all(
      'aggregate(amount with sum from status,customer/name with average from customer/name with max as x)',
    ),
    [{ x: 70.25 }],
  )
})

test('entities that $apply has chosen can be expanded', async () => {
  await using resources = new Resources()
  const served = await serve(resources, smallShop)
  const { json } = await served.get(
    encodeURI(
      'shop_customers?$apply=filter(points ge 0)/compute(points sub points as zero)/topcount(1,points)&$expand=orders($select=order_id;$filter=amount gt $it/zero;$top=2)&$select=name,zero',
    ),
  )
  assert.match(json['@odata.context'], '#shop_customers(name,zero,orders(order_id))')
  const id = { '@odata.id': 'shop_customers(1)' }
  assert.equal(json.value, [
    { ...id, name: 'Alice', zero: 0, orders: [{ order_id: 10 }, { order_id: 11 }] },
  ])
})

test('aggregate in expressions: a total of what is related', async () => {
  await using resources = new Resources()
  const served = await serve(resources, smallShop)
  const names = async (query: string) => {
    const { json } = await served.get(encodeURI(`shop_customers?${query}`))
    return json.value.map((row: { name: string }) => row.name).join(' ')
  }
  assert.is(await names('$filter=orders/aggregate(amount with sum) gt 50'), 'Alice')
  assert.is(await names('$filter=orders/aggregate($count) eq 1'), "O'Neil")
  assert.is(await names('$filter=orders/aggregate(amount with max) eq null'), "O'Neil Zoë")
  assert.is(
    await names('$orderby=orders/aggregate(amount add $it/customer_id with min) desc,name'),
    "Alice O'Neil Zoë",
  )
  assert.is(await names('$filter=orders/any(o:o/items/aggregate(qty with sum) eq 3)'), 'Alice')
  for (const filter of [
    'orders/aggregate(amount) gt 1',
    'orders/aggregate(status with sum) gt 1',
    'name/aggregate($count) eq 1',
  ])
    assert.is((await served.get(encodeURI(`shop_customers?$filter=${filter}`))).status, 400, filter)
})

test.run()
