// Sets, keys, types, metadata and batches of the query service, asked from outside.

import { connect } from 'node:net'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { ask, client, serveShop } from '../support/shop-service.ts'

const service = await serveShop()
const { get, rows, refused, where } = client(service.base)
const customersWhere = (filter: string) => where('shop_customers', 'customer_id', filter)

test('Q001 Q003 Q031 exposed models are entity sets, others are not', async () => {
  for (const root of ['', '/']) {
    const answer = await ask(service.base + root, '')
    assert.is(answer.status, 200)
    const names = answer.json.value.map((set) => set['name'])
    assert.equal(names, ['shop_customers', 'shop_keyless', 'shop_orders', 'shop_types'])
    assert.match(String(answer.json['@odata.context']), /\$metadata$/)
  }
  await refused('shop_hidden', 404)
  assert.not.match((await get('$metadata')).text, /hidden/)
})

test('Q002 write methods are refused and change nothing', async () => {
  const before = (await get('shop_orders')).text
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
    for (const path of ['shop_orders', 'shop_orders(10)', '$metadata', '']) {
      const answer = await ask(service.base, path, {
        method,
        headers: { 'Content-Type': 'application/json' },
        body: '{}',
      })
      assert.is(answer.status, 405, `${method} ${path}`)
      assert.ok(answer.headers.get('allow'))
      assert.ok(answer.json.error.code)
    }
  const batch = await ask(service.base, '$batch', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ requests: [{ id: '1', method: 'DELETE', url: 'shop_orders(10)' }] }),
  })
  assert.is((batch.json['responses'] as { status: number }[])[0]!.status, 405)
  assert.is((await get('shop_orders')).text, before)
})

test('Q004 Q034 one entity is found by its key, where the model has one', async () => {
  const answer = await get('shop_orders(10)')
  assert.is(answer.status, 200)
  assert.is(answer.json['order_id'], 10)
  assert.match(String(answer.json['@odata.context']), /\$metadata#shop_orders\/\$entity$/)
  await refused('shop_orders(99)', 404)
  assert.is((await get('shop_keyless')).status, 200)
  assert.match((await refused('shop_keyless(1)', 404)).message, /@expose/)
})

test('Q005 Q007 unknown names are refused everywhere', async () => {
  for (const name of ['nope', 'rowid', 'secret', 'ORDER_ID', '"order_id"', 'version()'])
    for (const query of [
      `$select=${name}`,
      `$filter=${name} eq 1`,
      `$orderby=${name}`,
      `$filter=contains(${name},'a')`,
    ])
      await refused(`shop_orders?${query}`)
})

test('Q006 hostile strings are data', async () => {
  assert.equal(await customersWhere("name eq 'O''Neil'"), [2])
  assert.equal(await customersWhere("contains(name,'%25')"), [4])
  assert.equal(await customersWhere("contains(name,'_')"), [4])
  assert.equal(await customersWhere("contains(city,'%5C')"), [4])
  assert.equal(await customersWhere("city eq 'a\\b;c--d'"), [4])
  assert.equal(await customersWhere("name eq '''; DROP TABLE shop.customers; --'"), [])
  assert.equal(await customersWhere("name eq 'a%00b'"), [])
  assert.is((await rows('shop_customers')).length, 4)
})

test('Q009 OData-Version is on every answer', async () => {
  for (const path of [
    '',
    '$metadata',
    'shop_orders',
    'shop_orders(99)',
    'nope',
    'shop_orders/$count',
    'shop_orders?$top=x',
  ]) {
    assert.is((await get(path)).headers.get('odata-version'), '4.01', path)
    assert.is(
      (await get(path, { 'OData-MaxVersion': '4.0' })).headers.get('odata-version'),
      '4.0',
      path,
    )
  }
})

test('Q010 every URL in an answer begins with the base', async () => {
  const answer = await get('shop_orders', { Prefer: 'odata.maxpagesize=2' })
  for (const name of ['@odata.context', '@odata.nextLink'])
    assert.ok(
      new URL(String(answer.json[name]), `${service.base}/`).href.startsWith(service.base),
      name,
    )
})

test('Q011 a set is named like its model, with an underscore for the dot', async () => {
  await refused('shop.orders', 404)
  await refused('Shop_orders', 404)
})

test('Q012 Q029 Q030 columns in order, null written out, empty text kept', async () => {
  const [, , third] = await rows('shop_customers')
  assert.is(JSON.stringify(third), '{"customer_id":3,"name":"Zoë","city":"","vip":null}')
  assert.equal(await customersWhere("city eq ''"), [3])
  assert.equal(await customersWhere('city eq null'), [2])
})

test('Q013 to Q026 Q032 metadata names keys, types and navigation', async () => {
  const answer = await get('$metadata')
  assert.match(answer.headers.get('content-type') ?? '', /^application\/xml/)
  const property = (set: string, name: string) =>
    new RegExp(`<EntityType Name="${set}">[\\s\\S]*?<Property Name="${name}"([^>]*)>`).exec(
      answer.text,
    )?.[1] ?? 'absent'
  const types = {
    v: 'String',
    t: 'SByte',
    s: 'Int16',
    i: 'Int32',
    b: 'Int64',
    d: 'Double',
    f: 'Single',
    n: 'Decimal',
    bo: 'Boolean',
    dt: 'Date',
    ts: 'DateTimeOffset',
    small: 'Byte',
  }
  for (const [name, type] of Object.entries(types))
    assert.match(property('shop_types', name), new RegExp(`Type="Edm.${type}"`))
  assert.match(property('shop_types', 'n'), /Precision="38".*Scale="10"/)
  assert.match(property('shop_orders', 'order_id'), /Nullable="false"/)
  assert.match(
    answer.text,
    /<EntityType Name="shop_orders">\s*<Key>\s*<PropertyRef Name="order_id"\s*\/>\s*<\/Key>/,
  )
  assert.match(answer.text, /<NavigationProperty Name="customer" Type="eider.shop_customers"/)
  assert.match(
    answer.text,
    /<NavigationProperty Name="orders" Type="Collection\(eider.shop_orders\)"/,
  )
  assert.match(
    answer.text,
    /<ReferentialConstraint Property="customer_id" ReferencedProperty="customer_id"/,
  )
  assert.match(answer.text, /People &amp; firms that &lt;buy&gt;/)
})

test('Q018 to Q029 each type has its form in JSON', async () => {
  const { text } = await get('shop_types')
  for (const part of [
    '"b":9007199254740993',
    '"b":-9223372036854775808',
    '"f":3.14,',
    '"f":"INF"',
    '"d":"NaN"',
    '"d":"-INF"',
    '"dt":"0044-03-15"',
    '"n":1234567890123456789012345678.0123456789',
    '"t":-5',
  ])
    assert.ok(text.includes(part), part)
  const [first, second, third, fourth] = JSON.parse(text).value
  assert.is(first.d, 1.7e308)
  assert.is(first.n, 250.5)
  assert.is(Date.parse(first.ts), Date.parse('2026-01-01T08:30:00Z'))
  assert.match(first.ts, /^2026-01-01T08:30:00(\.0+)?Z$/)
  assert.match(third.ts, /^2026-01-01T00:00:00(\.0+)?Z$/)
  assert.match(fourth.ts, /^2025-06-30T23:59:59\.50*Z$/)
  assert.is(fourth.v, 'quote " back \\ tab \t control \u0001 é 😀')
  assert.ok(Object.entries(second).every(([name, value]) => name === 'id' || value === null))
  assert.is(Object.keys(second).length, 14)
})

test('Q035 $count counts the rows that the options leave', async () => {
  const answer = await get('shop_orders/$count')
  assert.is(answer.text, '5')
  assert.match(answer.headers.get('content-type') ?? '', /^text\/plain/)
  assert.is((await get("shop_orders/$count?$filter=status eq 'open'")).text, '2')
})

test('Q036 Q105 to Q109 a JSON batch answers each of its requests', async () => {
  const post = (body: unknown, type = 'application/json') =>
    ask(service.base, '$batch', {
      method: 'POST',
      headers: { 'Content-Type': type },
      body: JSON.stringify(body),
    })
  const answer = await post({
    requests: [
      { id: 'b', method: 'get', url: 'shop_orders/$count' },
      { id: 'a', method: 'GET', url: 'shop_orders?$top=1&$filter=status%20eq%20%27paid%27' },
      { id: 'c', method: 'GET', url: '/odata/shop_orders(12)' },
      { id: 'd', method: 'GET', url: 'shop_nope' },
      { id: 'e', method: 'PATCH', url: 'shop_orders(12)' },
    ],
  })
  assert.is(answer.status, 200)
  const responses = answer.json['responses'] as {
    id: string
    status: number
    body: never
    headers: Record<string, string>
  }[]
  const byId = Object.fromEntries(responses.map((response) => [response.id, response]))
  assert.equal(Object.keys(byId).toSorted(), ['a', 'b', 'c', 'd', 'e'])
  assert.is(byId['b']!.body, '5')
  assert.is(byId['a']!.body['value'][0]['order_id'], 11)
  assert.is(byId['c']!.body['order_id'], 12)
  assert.is(byId['d']!.status, 404)
  assert.is(byId['e']!.status, 405)
  assert.ok(
    responses.every(({ headers }) =>
      Object.keys(headers).every((name) => name === name.toLowerCase()),
    ),
  )
  assert.is((await post({ requests: [] }, 'text/plain')).status, 415)
  for (const body of [
    null,
    1,
    {},
    { requests: 'x' },
    { requests: [{ method: 'GET', url: 'x' }] },
    {
      requests: [
        { id: '1', method: 'GET', url: 'a' },
        { id: '1', method: 'GET', url: 'b' },
      ],
    },
  ])
    assert.is((await post(body)).status, 400, JSON.stringify(body))
  assert.is((await get('$batch')).status, 405)
})

test('Q037 Q038 options are read with and without $, blanks as %20 and +', async () => {
  assert.is((await rows('shop_orders?%24top=1')).length, 1)
  assert.is((await rows('shop_orders?top=1')).length, 1)
  assert.is((await rows('shop_orders?$filter=order_id+eq+10')).length, 1)
  const raw = await new Promise<string>((resolve) => {
    const { port } = new URL(service.base)
    const socket = connect(Number(port), '127.0.0.1', () => {
      socket.write(
        'GET /odata/shop_orders?$filter=order_id eq 10 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
      )
    })
    socket.once('data', (chunk) => {
      socket.destroy()
      resolve(chunk.toString())
    })
  })
  assert.match(raw, /^HTTP\/1\.1 400 /)
})

test('the service ends with 0 when asked to', async () => {
  assert.is(await service.running.stop(), 0)
  await service[Symbol.asyncDispose]()
})

test.run()
