import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import { type Served, serve } from '../../support/odata-service.ts'
import { shop } from '../../support/related-tables.ts'

async function statuses(served: Served, expected: Readonly<Record<string, number>>) {
  for (const [target, status] of Object.entries(expected)) {
    const answer = await served.get(encodeURI(target))
    assert.is(answer.status, status, `${target} ${answer.text}`)
  }
}

const idsOf = async (served: Served, target: string, key = 'order_id') => {
  const { json } = await served.get(encodeURI(target))
  return json.value.map((row: Readonly<Record<string, unknown>>) => row[key]).join(' ')
}

test('a number is the position of an entity in the order of $orderby', async () => {
  await using resources = new Resources()
  const served = await serve(resources, shop)
  const id = async (target: string) => (await served.get(encodeURI(target))).json.order_id
  assert.is(await id('shop_orders/0?$orderby=order_id'), 10)
  assert.is(await id('shop_orders/-1?$orderby=order_id'), 15)
  assert.is(await id('shop_orders/0?$orderby=order_id desc'), 15)
  assert.is(await id('shop_customers(1)/orders/2?$orderby=order_id'), 15)
  assert.is(await id('shop_items/-2?$orderby=order_id'), 11)
  const byAmount = (await served.get('shop_orders?$orderby=amount%20desc')).json.value
  for (const [i, order] of byAmount.entries()) {
    assert.is(await id(`shop_orders/${i}?$orderby=amount desc`), order.order_id)
    assert.is(await id(`shop_orders/${i - byAmount.length}?$orderby=amount desc`), order.order_id)
  }
  const first = await served.get('shop_orders/0?$orderby=order_id')
  assert.match(first.json['@odata.context'], '#shop_orders/$entity')
  const { json } = await served.get('shop_orders/1?$select=amount&$orderby=order_id')
  assert.is(json.amount, 20)
  assert.is(
    (await served.get('shop_orders/0/$ref?$orderby=order_id')).json['@odata.id'],
    'shop_orders(10)',
  )
  await statuses(served, {
    'shop_orders/6?$orderby=order_id': 404,
    'shop_orders/-7?$orderby=order_id': 404,
    'shop_customers(3)/orders/0?$orderby=order_id': 404,
    'shop_orders/0?$orderby=order_id&$filter=true': 400,
    'shop_orders/0?$orderby=nope': 400,
    'shop_orders(10)?$orderby=order_id': 400,
    'shop_orders/1.5': 404,
    'shop_orders(10)/0': 404,
  })
})

test('a number alone is neither a key nor a position', async () => {
  await using resources = new Resources()
  const served = await serve(resources, shop)
  const message = async (target: string) => {
    const { status, json } = await served.get(target)
    assert.is(status, 404, target)
    return json.error.message as string
  }
  assert.is(
    await message('shop_orders/10'),
    '/10 is a position and not a key: write shop_orders(10), or add $orderby=order_id for the row at position 10 of that order',
  )
  assert.match(await message('shop_items/1'), 'write shop_items(order_id=…,line=…), or add')
  assert.match(await message('shop_orders/2/customer'), /write shop_orders\(2\)$/)
  assert.match(await message('shop_orders/2/amount?$orderby=order_id'), /write shop_orders\(2\)$/)
})

test('/$filter in a path chooses entities, again and again', async () => {
  await using resources = new Resources()
  const served = await serve(resources, shop)
  assert.is(await idsOf(served, "shop_orders/$filter(status eq 'paid')"), '11 12 15')
  assert.is(
    await idsOf(served, "shop_orders/$filter(@a)/$filter(@b)?@a=status eq 'paid'&@b=amount gt 5"),
    '11 15',
  )
  assert.is(await idsOf(served, 'shop_customers(1)/orders/$filter(amount gt 50)'), '10')
  const behind = await served.get("shop_orders/$filter(customer%2Fname%20eq%20'Alice')/$count")
  assert.is(behind.text, '3')
  const count = await served.get(
    'shop_orders/$filter(amount%20eq%2020)/$count?$filter=customer_id%20eq%201',
  )
  assert.is(count.text, '2')
  const last = 'shop_orders/$filter(@a)/-1?@a=customer_id%20lt%205&$orderby=order_id'
  assert.is((await served.get(last)).json.customer_id, 1)
  await statuses(served, {
    'shop_orders/$filter(nope eq 1)': 400,
    'shop_orders/$filter(amount)': 400,
    'shop_orders/$filter()': 400,
    'shop_orders(10)/$filter(true)': 501,
    'shop_orders/$each': 501,
    'shop_orders/$filter(true)/$each': 501,
  })
})

test('$crossjoin gives pairs, as links or expanded', async () => {
  await using resources = new Resources()
  const served = await serve(resources, shop)
  const get = async (target: string) => (await served.get(encodeURI(target))).json
  const both = '$crossjoin(shop_customers,shop_orders)'
  const same = '$filter=shop_customers/customer_id eq shop_orders/customer_id'
  const links = await get(`${both}?${same}&$count=true&$top=2`)
  assert.equal(links, {
    '@odata.context': `${served.url}/$metadata#Collection(Edm.ComplexType)`,
    '@odata.count': 4,
    value: [10, 11].map((id) => ({
      'shop_customers@odata.navigationLink': 'shop_customers(1)',
      'shop_orders@odata.navigationLink': `shop_orders(${id})`,
    })),
  })
  const rows = await get(
    `${both}?${same} and shop_orders/amount gt 50&$expand=shop_customers($select=name),shop_orders($select=order_id,amount)`,
  )
  assert.equal(rows.value, [
    { shop_customers: { name: 'Alice' }, shop_orders: { order_id: 10, amount: 100.5 } },
  ])
  const ordered = await get(
    `${both}?${same}&$orderby=shop_orders/amount desc,shop_orders/order_id&$expand=shop_orders($select=order_id)`,
  )
  assert.equal(
    ordered.value.map((row: { shop_orders: { order_id: number } }) => row.shop_orders.order_id),
    [10, 11, 15, 12],
  )
  const totals = await get(
    `${both}?$apply=filter(${same.slice('$filter='.length)})/groupby((shop_customers/name),aggregate(shop_orders/amount with sum as total))`,
  )
  assert.equal(totals.value, [
    { shop_customers: { name: 'Alice' }, total: 140.5 },
    { shop_customers: { name: "O'Neil" }, total: null },
  ])
  assert.is((await served.get(`${both}/$count`)).text, '18')
  assert.is((await served.get(`${both}/$count?$search=paid`)).text, '9')
  assert.is((await served.get(`${both}/$count?$search=zo%C3%AB%20paid`)).text, '3')
  const computed = await get(
    `${both}?${same} and twice gt 50&$compute=shop_orders/amount mul 2 as twice,concat(shop_customers/name,'!') as call&$orderby=twice&$select=call,twice`,
  )
  assert.equal(computed.value, [{ twice: 201, call: 'Alice!' }])
  const linked = await get(`${both}?$top=1&$select=shop_orders&$compute=1 add 1 as two`)
  assert.equal(linked.value, [{ 'shop_orders@odata.navigationLink': 'shop_orders(10)' }])
  const starred = await get(
    `${both}?$top=1&$select=*&$compute=1 add 1 as two&$expand=shop_orders($select=status)`,
  )
  assert.equal(starred.value, [{ shop_orders: { status: 'open' }, two: 2 }])
  const found = await get(
    `${both}?$apply=filter(${same.slice('$filter='.length)})/search(paid)/aggregate($count as n)`,
  )
  assert.equal(found.value, [{ n: 3 }])
  await statuses(served, {
    '$crossjoin(shop_orders,shop_orders)': 404,
    '$crossjoin(shop_orders,nope)': 404,
    $crossjoin: 501,
    [`${both}/$ref`]: 501,
    [`${both}?$filter=order_id eq 1`]: 400,
    [`${both}?$filter=shop_orders/nope eq 1`]: 400,
    [`${both}?$expand=nope`]: 400,
    [`${both}?$expand=shop_orders($select=nope)`]: 400,
    [`${both}?$expand=shop_orders($expand=items)`]: 501,
    [`${both}?$select=shop_orders/amount`]: 400,
    [`${both}?$select=shop_orders($select=amount)`]: 400,
    [`${both}?$select=nope`]: 400,
    [`${both}?$compute=1 add 1 as shop_orders`]: 400,
    [`${both}?$compute=shop_orders/nope as x`]: 400,
  })
})

test('keys as segments, where that is set', async () => {
  await using resources = new Resources()
  const tables = [
    ...shop,
    {
      model: 'shop.codes',
      key: ['code'],
      rows: sql`SELECT unnest(['A1', 'it''s', 'a/b', '7', '$x']) AS code`,
    },
  ]
  const served = await serve(resources, tables, { conventions: { keyAsSegment: true } })
  const text = async (target: string) => (await served.get(target)).text
  assert.is(await text('shop_customers/1/name/$value'), 'Alice')
  assert.is(await text('shop_customers/1/orders/11/status/$value'), 'paid')
  assert.is(await text('shop_items/10/2/product/$value'), 'b')
  assert.is(await text('shop_orders/10/items/2/product/$value'), 'b')
  assert.is(await text('shop_customers/1/orders/$count'), '3')
  assert.is((await served.get("shop_codes/it's")).json.code, "it's")
  assert.is((await served.get('shop_codes/a%2Fb')).json.code, 'a/b')
  assert.is((await served.get('shop_codes/7')).json.code, '7')
  assert.is((await served.get("shop_codes('A1')")).json.code, 'A1')
  assert.match(await text('$metadata'), 'KeyAsSegmentSupported" Bool="true"')
  await statuses(served, {
    'shop_codes/nope': 404,
    'shop_customers/99': 404,
    'shop_customers/x': 400,
    'shop_items/10': 404,
    'shop_customers/1/nope': 404,
  })
  const usual = await serve(resources, tables)
  await statuses(usual, { 'shop_codes/A1': 404, 'shop_orders/10': 404 })
})

test('a cast to the type that entities have anyhow changes nothing', async () => {
  await using resources = new Resources()
  const served = await serve(resources, shop)
  const orders = 'eider.shop_orders'
  const same = async (target: string, plain: string) => {
    const [found, wanted] = [await served.get(target), await served.get(plain)]
    assert.is(wanted.status, 200, plain)
    assert.is(found.text, wanted.text, target)
  }
  await same(`shop_orders/${orders}`, 'shop_orders')
  await same(`shop_orders/${orders}/$count`, 'shop_orders/$count')
  await same(`shop_orders/${orders}(10)`, 'shop_orders(10)')
  await same(`shop_orders(10)/${orders}/amount`, 'shop_orders(10)/amount')
  await same(
    `shop_customers(1)/orders/${orders}(10)/amount/$value`,
    'shop_orders(10)/amount/$value',
  )
  await same(`$entity/${orders}?$id=shop_orders(10)`, 'shop_orders(10)')
  await same(
    `shop_customers?$expand=orders/${orders}($select=amount)`,
    'shop_customers?$expand=orders($select=amount)',
  )
  await same(
    `shop_customers?$expand=eider.shop_customers/orders/${orders}/$count`,
    'shop_customers?$expand=orders/$count',
  )
  await same(
    `shop_customers?$filter=eider.shop_customers/orders/${orders}/any(o:o/${orders}/amount%20gt%205)`,
    'shop_customers?$filter=orders/any(o:o/amount%20gt%205)',
  )
  await same(
    `shop_orders?$orderby=${orders}/customer/eider.shop_customers/name`,
    'shop_orders?$orderby=customer/name',
  )
  await same(
    `shop_customers?$apply=aggregate(orders/${orders}/amount%20with%20sum%20as%20t)`,
    'shop_customers?$apply=aggregate(orders/amount%20with%20sum%20as%20t)',
  )
  const status = async (target: string) => (await served.get(target)).status
  assert.is(await status('shop_orders/eider.shop_customers'), 404)
  assert.is(await status('shop_orders(10)/eider.nothing'), 404)
  assert.is(await status('$entity/eider.shop_customers?$id=shop_orders(10)'), 404)
  assert.is(await status('shop_orders?$filter=eider.shop_customers/amount%20gt%201'), 400)
  assert.is(await status('shop_customers?$expand=orders/eider.nothing'), 400)
  assert.is(await status(`shop_orders?$apply=groupby((${orders}/amount))`), 501)
})

test.run()
