import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { type Served, serve } from '../../support/odata-service.ts'
import { shop } from '../../support/related-tables.ts'

async function statuses(served: Served, targets: readonly (readonly [string, number])[]) {
  for (const [target, status] of targets) {
    const answer = await served.get(target)
    assert.is(answer.status, status, `${target} ${answer.text}`)
    if (status >= 400) assert.type(answer.json.error.code, 'string')
    if (status === 204) assert.equal([answer.text, answer.headers['content-type']], ['', undefined])
  }
}

test('a property of an entity, as JSON and as its value alone', async () => {
  await using resources = new Resources()
  const served = await serve(resources, shop)
  const name = await served.get('shop_customers(2)/name')
  assert.equal(name.json, {
    '@odata.context': `${served.url}/$metadata#shop_customers(2)/name`,
    value: "O'Neil",
  })
  const context = async (target: string) => (await served.get(target)).json['@odata.context']
  const start = `${served.url}/$metadata#`
  assert.is(await context('shop_customers(1)/orders(10)/amount'), `${start}shop_orders(10)/amount`)
  assert.is(await context('shop_orders(10)/customer/name'), `${start}shop_orders(10)/customer/name`)
  assert.is(
    await context("shop_products('b%2Fc')/product"),
    `${start}shop_products('b%2Fc')/product`,
  )
  const text = await served.get('shop_customers(2)/name/$value')
  assert.equal([text.text, text.headers['content-type']], ["O'Neil", 'text/plain;charset=utf-8'])
  assert.is((await served.get('shop_customers(1)/points/$value')).text, '9007199254740993')
  assert.is((await served.get('shop_orders(10)/amount/$value')).text, '100.5000')
  assert.is((await served.get("shop_products('a')/added/$value")).text, '2024-01-05T10:30:00Z')
  const bytes = await served.get("shop_products('a')/picture/$value")
  assert.is(bytes.headers['content-type'], 'application/octet-stream')
  assert.is(bytes.headers['content-length'], '2')
  for (const [accept, status] of [
    ['text/plain', 200],
    ['image/png, text/*;q=0.1', 200],
    ['application/json', 200],
    ['application/xml', 406],
    ['application/octet-stream', 406],
    ['text/plain;q=0, */*', 406],
  ] as const)
    assert.is(
      (await served.get('shop_customers(2)/name/$value', { accept })).status,
      status,
      accept,
    )
  assert.is(
    (await served.get("shop_products('a')/picture/$value", { accept: 'text/plain' })).status,
    406,
  )
  const quoted = await served.get('shop_customers(1)/points', {
    accept: 'application/json;IEEE754Compatible=true',
  })
  assert.is(quoted.json.value, '9007199254740993')
  await statuses(served, [
    ['shop_customers(2)/city', 204],
    ['shop_customers(2)/city/$value', 204],
    ['shop_customers(3)/city/$value', 200],
    ["shop_products('d''e')/picture/$value", 200],
    ['shop_customers(99)/city', 404],
    ['shop_orders(13)/customer/name', 404],
    ['nope()', 404],
    ['shop_customers()', 400],
    ['shop_customers/$value', 404],
    ['shop_customers(1)/nope', 404],
    ['shop_customers(1)/name/nope', 404],
    ['shop_customers(1)/name(1)', 404],
    ['shop_customers(1)/$value', 404],
    ['shop_customers/name', 404],
    ['shop_customers(1)/name?$select=name', 400],
    ['shop_customers(1)/name?$top=1', 400],
  ])
})

test('navigation: entities behind an entity, any number of steps', async () => {
  await using resources = new Resources()
  const served = await serve(resources, shop)
  const ids = async (target: string) =>
    (await served.get(target)).json.value.map((row: { order_id: number }) => row.order_id).join(' ')
  assert.is(await ids('shop_customers(1)/orders'), '10 11 15')
  assert.is(
    await ids('shop_customers(1)/orders?$filter=amount%20lt%2050&$orderby=order_id%20desc'),
    '15 11',
  )
  assert.is(await ids('shop_customers(1)/orders?$skip=1&$top=1'), '11')
  assert.is(await ids('shop_orders(10)/customer/orders'), '10 11 15')
  assert.is(await ids('shop_customers(3)/orders'), '')
  const orders = await served.get(
    'shop_customers(1)/orders?$count=true&$select=order_id&$expand=items($top=1;$select=line)&$top=1',
  )
  assert.equal(orders.json, {
    '@odata.context': `${served.url}/$metadata#shop_orders(order_id,items(line))`,
    '@odata.count': 3,
    value: [{ order_id: 10, items: [{ '@odata.id': 'shop_items(order_id=10,line=1)', line: 1 }] }],
  })
  const order = await served.get('shop_customers(1)/orders(11)')
  assert.is(order.json['@odata.context'], `${served.url}/$metadata#shop_orders/$entity`)
  assert.is(order.json.order_id, 11)
  const customer = await served.get('shop_orders(10)/customer?$select=name')
  assert.equal(customer.json, {
    '@odata.context': `${served.url}/$metadata#shop_customers(name)/$entity`,
    '@odata.id': 'shop_customers(1)',
    name: 'Alice',
  })
  const item = await served.get(
    'shop_customers(1)/orders(10)/items(order_id=10,line=2)/product/$value',
  )
  assert.is(item.text, 'b')
  assert.is((await served.get('shop_orders(10)/items(2)/product/$value')).text, 'b')
  assert.is((await served.get('shop_orders(10)/items(line=1)/product/$value')).text, 'a')
  assert.is((await served.get('shop_customers(1)/orders/$count')).text, '3')
  assert.is(
    (await served.get('shop_customers(1)/orders/$count?$filter=amount%20eq%2020')).text,
    '2',
  )
  assert.is((await served.get('shop_customers(3)/orders/$count')).text, '0')
  const first = await served.get('shop_customers(1)/orders', { prefer: 'maxpagesize=2' })
  const link: string = first.json['@odata.nextLink']
  assert.is(await ids(link.slice(served.url.length + 1)), '15')
  await statuses(served, [
    ['shop_orders(13)/customer', 204],
    ['shop_orders(14)/customer', 204],
    ['shop_orders(99)/customer', 404],
    ['shop_customers(99)/orders', 404],
    ['shop_customers(99)/orders/$count', 404],
    ['shop_customers(2)/orders(10)', 404],
    ['shop_customers(2)/orders(10)/items', 404],
    ['shop_orders(13)/customer/orders', 404],
    ['shop_customers(1)/orders/items', 404],
    ['shop_customers(1)/orders/nope', 404],
    ['shop_customers/orders', 404],
    ['shop_orders(10)/customer(1)', 404],
    ['shop_orders(10)/customer/$count', 404],
    ['shop_orders(10)/customer?$top=1', 400],
    ['shop_customers(1)/orders(x)', 400],
  ])
})

test('references, $entity and key aliases', async () => {
  await using resources = new Resources()
  const served = await serve(resources, shop)
  const one = await served.get('shop_orders(10)/customer/$ref')
  assert.equal(one.json, {
    '@odata.context': `${served.url}/$metadata#$ref`,
    '@odata.id': 'shop_customers(1)',
  })
  const many = await served.get('shop_customers(1)/orders/$ref?$top=2&$count=true')
  assert.equal(many.json, {
    '@odata.context': `${served.url}/$metadata#Collection($ref)`,
    '@odata.count': 3,
    value: [{ '@odata.id': 'shop_orders(10)' }, { '@odata.id': 'shop_orders(11)' }],
  })
  const products = await served.get('shop_products/$ref')
  const found: readonly { '@odata.id': string }[] = products.json.value
  for (const { '@odata.id': id } of found) {
    assert.is((await served.get(id)).status, 200, id)
    const entity = await served.get(`$entity?$id=${encodeURIComponent(id)}&$select=product`)
    assert.is(
      entity.json['@odata.context'],
      `${served.url}/$metadata#shop_products(product)/$entity`,
    )
  }
  for (const id of [`${served.url}/shop_orders(10)`, '/odata/shop_orders(10)', '/shop_orders(10)'])
    assert.is((await served.get(`$entity?$id=${encodeURIComponent(id)}`)).json.order_id, 10)
  assert.is((await served.get('shop_orders(@o)/customer?@o=10')).json.name, 'Alice')
  await statuses(served, [
    ['shop_orders(13)/customer/$ref', 204],
    ['$entity', 400],
    ['$entity?$id=shop_orders(99)', 404],
    ['$entity?$id=shop_orders', 400],
    ['$entity?$id=shop_orders(10)/amount', 400],
    ['$entity?$id=shop_orders(10)?$select=amount', 400],
    ['$entity?$id=$metadata', 400],
    ['$entity?$id=/odata/', 400],
    ['$entity?$id=http://elsewhere/shop_orders(99)', 400],
    ['shop_orders?$id=shop_orders(10)', 400],
    ['shop_orders/$ref?$select=order_id', 400],
    ['shop_orders(10)/$ref?$expand=items', 400],
  ])
})

test('$query takes a query that is too long for a URL', async () => {
  await using resources = new Resources()
  const served = await serve(resources, shop)
  const ask = (target: string, body: string, type = 'text/plain') =>
    served.send({ target, method: 'POST', headers: { 'content-type': type }, body })
  const filter = `$filter=${encodeURIComponent("status eq 'paid'")}&$orderby=order_id%20desc`
  const found = await ask('shop_orders/$query?$top=1', filter)
  assert.is(found.json.value[0].order_id, 15)
  const mark = await ask("shop_orders/$query?$filter=contains(status,'?')&$count=true", '')
  assert.is(mark.json['@odata.count'], 0)
  const charset = await ask('shop_customers(1)/orders/$query', '$top=1', 'text/plain;charset=utf-8')
  assert.is(charset.json.value.length, 1)
  const form = '%24filter=status+eq+%27paid%27&%24count=true&$top=1'
  const sent = await ask('shop_orders/$query', form, 'application/x-www-form-urlencoded')
  assert.is(sent.json['@odata.count'], 3)
  assert.is((await ask('shop_orders/$query', '$top=1', 'application/json')).status, 415)
  assert.is((await ask('shop_orders/$query', '$top=x')).status, 400)
  assert.is((await ask('shop_orders', '$top=1')).status, 405)
})

test.run()
