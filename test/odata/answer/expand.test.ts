import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { limits } from '../../../src/core/limits.ts'
import { sql } from '../../../src/core/sql.ts'
import { openService, serve } from '../../support/odata-service.ts'
import type { Table } from '../../support/snapshot-files.ts'
import { shop } from '../../support/related-tables.ts'
import { testsSharing } from '../../support/shared.ts'

const onShop = testsSharing(() => openService(shop))

/** What a row without its key has beside what is selected. */
const idOf = (key: number | string, set = 'shop_customers') => ({ '@odata.id': `${set}(${key})` })

test('Q104: $expand nests an array for many, an object or null for one', async () => {
  await using resources = new Resources()
  const served = await serve(resources, shop)
  const many = await served.get('shop_customers?$expand=orders&$select=name')
  assert.is(many.json['@odata.context'], `${served.url}/$metadata#shop_customers(name,orders())`)
  const order = (id: number, status: string, amount: number | null, customer = 1) => ({
    order_id: id,
    customer_id: customer,
    status,
    amount,
  })
  assert.equal(many.json.value, [
    {
      ...idOf(1),
      name: 'Alice',
      orders: [order(10, 'open', 100.5), order(11, 'paid', 20), order(15, 'paid', 20)],
    },
    { ...idOf(2), name: "O'Neil", orders: [order(12, 'paid', null, 2)] },
    { ...idOf(3), name: 'Zoë', orders: [] },
  ])
  const alice = { ...idOf(1), name: 'Alice' }
  const one = await served.get('shop_orders?$expand=customer($select=name)&$select=order_id')
  assert.equal(
    one.json.value.map((row: { customer: unknown }) => row.customer),
    [alice, alice, { ...idOf(2), name: "O'Neil" }, null, null, alice],
  )
  const entity = await served.get(
    'shop_orders(10)?$expand=customer($select=points),items($count=true;$top=0)',
  )
  assert.ok(
    entity.text.includes('"customer":{"@odata.id":"shop_customers(1)","points":9007199254740993}'),
  )
  assert.equal([entity.json['items@odata.count'], entity.json.items], [2, []])
  assert.is(
    entity.json['@odata.context'],
    `${served.url}/$metadata#shop_orders(customer(points),items())/$entity`,
  )
})

/** The orders of each customer, by id. */
async function orders(served: { get(target: string): Promise<{ json: any }> }, options: string) {
  const { json } = await served.get(`shop_customers?$expand=orders(${encodeURIComponent(options)})`)
  return json.value.map((row: { orders: readonly { order_id: number }[] }) =>
    row.orders.map((order) => order.order_id).join(' '),
  )
}

test('options within $expand count within each parent', async () => {
  await using resources = new Resources()
  const served = await serve(resources, shop)
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['$top=1', ['10', '12', '']],
    ['$skip=1', ['11 15', '', '']],
    ['$orderby=amount desc,order_id desc;$top=2', ['10 15', '12', '']],
    ['$orderby=amount;$skip=1;$top=1', ['15', '', '']],
    ["$filter=status eq 'paid'", ['11 15', '12', '']],
    ["$filter=status eq 'a;b)' or amount gt 50", ['10', '', '']],
    ['filter=customer/city eq null;SKIP = 0', ['', '12', '']],
    ['$search=open OR nothing', ['10', '', '']],
    ['$compute=amount mul 2 as twice;$filter=twice eq 40', ['11 15', '', '']],
    ['$filter=items/any(i:i/qty gt 1)', ['10 11', '', '']],
    ['$filter=order_id eq @id', ['', '', '']],
  ]
  for (const [options, expected] of cases)
    assert.equal(await orders(served, options), expected, options)
  const aliased = await served.get(
    'shop_customers(1)?$expand=orders($filter=order_id%20eq%20@id)&@id=11',
  )
  assert.is(aliased.json.orders.length, 1)
  const counted = await served.get(
    'shop_customers?$expand=orders($count=true;$top=1;$filter=amount%20eq%2020)',
  )
  assert.equal(
    counted.json.value.map((row: Record<string, unknown>) => row['orders@odata.count']),
    [2, 0, 0],
  )
  const strings = await served.get('shop_customers(1)?$expand=orders($count=true)', {
    accept: 'application/json;IEEE754Compatible=true',
  })
  assert.equal(
    [strings.json['orders@odata.count'], strings.json.orders[0].amount],
    ['3', '100.5000'],
  )
})

test('several, nested, *, /$ref and /$count', async () => {
  await using resources = new Resources()
  const served = await serve(resources, shop)
  const nested = await served.get(
    'shop_customers(1)?$select=name&$expand=orders($select=order_id;$orderby=order_id%20desc;$expand=items($select=line,product;$expand=product_2),customer($select=name))',
  )
  assert.is(nested.status, 400)
  const deep = await served.get(
    'shop_customers(1)?$select=name&$expand=orders($select=order_id;$orderby=order_id%20desc;$expand=items($select=line),customer($select=name))',
  )
  const customer = { ...idOf(1), name: 'Alice' }
  const item = (order: number, line: number) => idOf(`order_id=${order},line=${line}`, 'shop_items')
  const lines = (order: number, ...numbers: readonly number[]) =>
    numbers.map((line) => ({ ...item(order, line), line }))
  assert.equal(deep.json.orders, [
    { order_id: 15, items: [], customer },
    { order_id: 11, items: lines(11, 1), customer },
    { order_id: 10, items: lines(10, 1, 2), customer },
  ])
  const star = await served.get('shop_orders(10)?$select=order_id&$expand=*')
  assert.equal(Object.keys(star.json).toSorted(), [
    '@odata.context',
    'customer',
    'items',
    'order_id',
  ])
  const named = await served.get('shop_orders(10)?$select=order_id&$expand=*,items($select=qty)')
  assert.equal(named.json.items, [
    { ...item(10, 1), qty: 2 },
    { ...item(10, 2), qty: 1 },
  ])
  const refs = await served.get('shop_orders(10)?$select=order_id&$expand=*/$ref')
  assert.equal(refs.json.customer, { '@odata.id': 'shop_customers(1)' })
  assert.equal(refs.json.items[1], { '@odata.id': 'shop_items(order_id=10,line=2)' })
  const quoted = await served.get("shop_products('d''e')?$expand=items/$ref")
  assert.equal(quoted.json.items, [])
  const counts = await served.get(
    'shop_customers?$select=name&$expand=orders/$count($filter=amount%20lt%2050)',
  )
  assert.equal(counts.json.value[0], { ...customer, 'orders@odata.count': 2 })
  assert.equal(counts.json.value[2], { ...idOf(3), name: 'Zoë', 'orders@odata.count': 0 })
  const levels = await served.get('shop_orders(10)?$select=order_id&$expand=*($levels=2)')
  assert.is(levels.json.customer.orders.length, 3)
  const most = await served.get('shop_customers(1)?$expand=orders($levels=max)')
  assert.is(most.json.orders.length, 3)
})

const refused: readonly (readonly [string, RegExp])[] = [
  ['shop_customers?$expand=nope', /no navigation property "nope" \(at character 1\)/],
  ['shop_customers?$expand=ordres', /did you mean "orders"/],
  ['shop_customers?$expand=name', /name is not a navigation property/],
  ['shop_customers?$expand=orders,orders', /more than once/],
  ['shop_customers?$expand=orders($top=1;$top=2)', /more than once/],
  ['shop_customers?$expand=orders($top=-1)', /non-negative integer/],
  ['shop_customers?$expand=orders($count=yes)', /true or false/],
  ['shop_customers?$expand=orders($levels=0)', /\$levels/],
  ['shop_customers?$expand=orders($format=json)', /not allowed/],
  ['shop_customers?$expand=orders($nope=1)', /no query option/],
  [
    'shop_customers?$expand=orders($filter=nope%20eq%201)',
    /no property "nope" \(at character 16\)/,
  ],
  ['shop_customers?$expand=orders($select=nope)', /no property "nope"/],
  ['shop_customers?$expand=orders/items', /orders\(\$expand=items\)/],
  ['shop_customers?$expand=orders()', /expected/],
  ['shop_customers?$expand=*($top=1)', /\*/],
  ['shop_orders?$expand=customer($top=1)', /single entity/],
  ['shop_orders?$expand=customer($filter=true)', /single entity/],
  ['shop_orders?$expand=customer/$count', /single entity/],
  ['shop_customers?$expand=orders/$ref($select=name)', /cannot be used/],
  ['shop_customers/$count?$expand=nope', /no navigation property/],
  [
    `shop_customers?$expand=${'orders($expand=customer($expand='.repeat(5)}orders${'))'.repeat(5)}`,
    /8 levels/,
  ],
  [`shop_customers?$expand=orders($search=a'b;$filter=${'('.repeat(5000)}`, /nested|expected/],
]

for (const [target, message] of refused)
  onShop(`what does not fit is 400 and says why: ${target.slice(0, 200)}`, async (served) => {
    const answer = await served.get(target)
    assert.is(answer.status, 400)
    assert.match(answer.json.error.target, /^\$/)
    assert.match(answer.json.error.message, message)
  })

onShop('$apply within $expand is 501', async (served) => {
  assert.is((await served.get('shop_customers?$expand=orders($apply=identity)')).status, 501)
})

test('context URLs of 4.0 have no empty parentheses', async () => {
  await using resources = new Resources()
  const served = await serve(resources, shop)
  const context = async (target: string) =>
    (await served.get(target, { 'OData-MaxVersion': '4.0' })).json['@odata.context']
  const start = `${served.url}/$metadata#`
  assert.is(await context('shop_customers?$expand=orders'), `${start}shop_customers`)
  assert.is(
    await context('shop_customers?$expand=orders($select=status)'),
    `${start}shop_customers(orders(status))`,
  )
})

test('pages, $batch and HEAD', async () => {
  await using resources = new Resources()
  const served = await serve(resources, shop)
  const first = await served.get('shop_customers?$expand=orders($top=1)&$count=true', {
    prefer: 'maxpagesize=2',
  })
  assert.equal([first.json['@odata.count'], first.json.value.length], [3, 2])
  const link: string = first.json['@odata.nextLink']
  const rest = await served.get(link.slice(served.url.length + 1))
  assert.equal(rest.json.value, [{ customer_id: 3, name: 'Zoë', city: '', points: 0, orders: [] }])
  const batch = await served.send({
    target: '$batch',
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      requests: [{ id: '1', method: 'GET', url: 'shop_customers(2)?$expand=orders' }],
    }),
  })
  assert.is(batch.json.responses[0].body.orders[0].order_id, 12)
})

test('$it within $expand is the row of the request, at every level', async () => {
  await using resources = new Resources()
  const served = await serve(resources, shop)
  const rows = async (target: string) => (await served.get(encodeURI(target))).json.value
  const ordersOf = (row: { orders: readonly { order_id: number }[] }) =>
    row.orders.map(({ order_id }) => order_id)
  const same = await rows(
    "shop_customers?$expand=orders($filter=$it/name eq 'Alice' and amount gt 20)",
  )
  assert.equal(same.map(ordersOf), [[10], [], []])
  const first = await rows(
    'shop_customers?$expand=orders($orderby=$it/customer_id mul amount desc;$top=1;$count=true)',
  )
  assert.equal(first.map(ordersOf), [[10], [12], []])
  assert.is(first[0]['orders@odata.count'], 3)
  // Each order has the other orders of its customer, so equal links lead to different rows.
  const others = await rows(
    'shop_orders?$filter=order_id lt 13&$select=order_id&$expand=customer($select=name;$expand=orders($filter=order_id ne $it/order_id;$select=order_id))',
  )
  assert.equal(
    others.map((row: { customer: Parameters<typeof ordersOf>[0] }) => ordersOf(row.customer)),
    [[11, 15], [10, 15], []],
  )
  const counted = await rows(
    'shop_orders?$filter=order_id lt 12&$expand=customer($expand=orders/$count($filter=amount lt $it/amount);$compute=$it/amount as paid;$select=paid)',
  )
  assert.equal(
    counted.map((row: { customer: unknown }) => row.customer),
    [
      { ...idOf(1), paid: 100.5, 'orders@odata.count': 2 },
      { ...idOf(1), paid: 20, 'orders@odata.count': 0 },
    ],
  )
  const behind = await rows(
    "shop_orders?$filter=order_id in (10,12)&$expand=items($filter=$it/customer/name eq 'Alice')",
  )
  assert.equal(
    behind.map((row: { items: readonly unknown[] }) => row.items.length),
    [2, 0],
  )
})

test('related rows beyond the limit are refused, and none are cut off in silence', async () => {
  await using resources = new Resources()
  const rows = limits.expandedRows
  const tables: readonly Table[] = [
    {
      model: 'big.parents',
      key: ['parent_id'],
      rows: sql`SELECT i AS parent_id FROM range(3) AS r(i)`,
    },
    {
      model: 'big.children',
      key: ['child_id'],
      rows: sql`SELECT i AS child_id, i % 2 AS parent_id FROM range(${sql.value(rows + 1)}) AS r(i)`,
    },
  ]
  const served = await serve(resources, tables)
  const refused = await served.get('big_parents?$expand=children')
  assert.equal([refused.status, refused.json.error.code], [400, 'expand-too-large'])
  const all = await served.get('big_parents?$expand=children($filter=child_id%20gt%200)')
  assert.is(all.status, 200)
  assert.equal(
    all.json.value.map((row: { children: readonly unknown[] }) => row.children.length),
    [rows / 2, rows / 2, 0],
  )
  const few = await served.get('big_parents?$expand=children($top=2;$orderby=child_id%20desc)')
  assert.equal(few.json.value[0].children, [
    { child_id: rows, parent_id: 0 },
    { child_id: rows - 2, parent_id: 0 },
  ])
})

test('related rows with too much text are refused, unless it is left out', async () => {
  await using resources = new Resources()
  const tables: readonly Table[] = [
    { model: 'big.parents', key: ['parent_id'], rows: sql`SELECT 1 AS parent_id` },
    {
      model: 'big.children',
      key: ['child_id'],
      rows: sql`SELECT i AS child_id, 1 AS parent_id, repeat('x', 1024 * 1024) AS text FROM range(65) AS r(i)`,
    },
  ]
  const served = await serve(resources, tables)
  const refused = await served.get('big_parents?$expand=children')
  assert.equal([refused.status, refused.json.error.code], [400, 'expand-too-large'])
  const few = await served.get('big_parents?$expand=children($top=10)')
  assert.is(few.json.value[0].children.length, 10)
  const ids = await served.get('big_parents?$expand=children($select=child_id)')
  assert.is(ids.json.value[0].children.length, 65)
})

test.run()
