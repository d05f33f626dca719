// Rows that are grouped by the entities that they lead to (Data Aggregation 4.0, section 3.2.3.1).

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { serve } from '../../support/odata-service.ts'
import { shop } from '../../support/related-tables.ts'

interface Answer {
  readonly '@odata.context': string
  readonly '@odata.nextLink'?: string
  readonly value: readonly Record<string, unknown>[]
}

test('groupby((customer)) gives each customer once, and one group without', async () => {
  await using resources = new Resources()
  const served = await serve(resources, shop)
  const ask = async (apply: string, more = '', headers = {}) => {
    const target = `shop_orders?$apply=${encodeURIComponent(apply)}${more}`
    const { status, text } = await served.get(target, headers)
    assert.is(status, 200, `${apply}${more}: ${text}`)
    return JSON.parse(text) as Answer
  }
  const plain = await ask('groupby((customer/customer_id),aggregate($count as n))')
  const counts = plain.value.map(({ customer, n }) => [
    (customer as { customer_id: number | null }).customer_id,
    n,
  ])
  const grouped = await ask('groupby((customer),aggregate($count as n))')
  const idOf = ({ customer }: Record<string, unknown>) =>
    (customer as { customer_id: number } | null)?.customer_id ?? null
  assert.equal(
    grouped.value.map((row) => [idOf(row), row['n']]),
    counts,
  )
  assert.ok(grouped.value.some(({ customer }) => customer === null))
  assert.match(grouped['@odata.context'], /#shop_orders\(n,customer\(\)\)$/)
  const [, whole] = grouped.value
  const one = await served.get(`shop_customers(${idOf(whole!)})`)
  const { '@odata.context': _, ...customer } = JSON.parse(one.text) as Record<string, unknown>
  assert.equal(whole!['customer'], customer)

  const chosen = await ask('groupby((customer))', '&$expand=customer($select=name)')
  assert.equal(Object.keys(chosen.value[1]!['customer'] as object), ['@odata.id', 'name'])
  const after = await ask(
    'groupby((customer),aggregate($count as n))/filter(customer/city ne null)',
  )
  assert.ok(after.value.length > 0 && after.value.every((row) => idOf(row) !== null))
  const again = await ask('groupby((customer))/groupby((customer),aggregate($count as n))')
  assert.ok(again.value.every(({ n }) => n === 1))
  const totals = await ask('aggregate($count from customer with max as most)')
  assert.equal(totals.value, [{ most: Math.max(...counts.map(([, n]) => n as number)) }])

  const pages: unknown[] = []
  const first = await ask('groupby((customer))', '', { prefer: 'maxpagesize=1' })
  for (let page = first; ;) {
    pages.push(...page.value.map(idOf))
    const next = page['@odata.nextLink']
    if (next === undefined) break
    const { text } = await served.get(next.slice(next.indexOf('shop_orders')), {
      prefer: 'maxpagesize=1',
    })
    page = JSON.parse(text) as Answer
  }
  assert.equal(
    pages,
    counts.map(([id]) => id),
  )
})

test('an entity that is reached through another one stands in the object between', async () => {
  await using resources = new Resources()
  const served = await serve(resources, shop)
  const ask = async (set: string, apply: string, more = '') => {
    const { status, json } = await served.get(
      `${set}?$apply=${encodeURIComponent(apply)}${more.replaceAll(' ', '%20')}`,
    )
    return status === 200 ? (json as Answer) : `${status} ${json.error.message}`
  }
  const rows = async (set: string, apply: string, more = '') => {
    const answer = await ask(set, apply, more)
    return typeof answer === 'string' ? answer : answer.value
  }
  const [alice, neil] = await rows('shop_customers', 'filter(customer_id le 2)')
  const whole = await ask('shop_items', 'groupby((order/customer),aggregate($count as n))')
  assert.match((whole as Answer)['@odata.context'], /#shop_items\(n,order\(customer\(\)\)\)$/)
  assert.equal((whole as Answer).value, [
    { n: 3, order: { customer: alice } },
    { n: 1, order: { customer: neil } },
  ])
  const each = 'groupby((order/customer,order/status),aggregate($count as n))'
  const both = await ask('shop_items', each, '&$expand=order($expand=customer($select=name))')
  assert.match(
    (both as Answer)['@odata.context'],
    /#shop_items\(order\(status,customer\(name\)\),n\)$/,
  )
  const named = (both as Answer).value.map(({ order, n }) => {
    const { status, customer } = order as { status: string; customer: { name: string } }
    return [status, customer.name, n]
  })
  const flat = await rows('shop_items', each.replace('customer', 'customer/name'))
  assert.equal(
    named,
    (flat as Answer['value']).map(({ order, n }) => {
      const { status, customer } = order as { status: string; customer: { name: string } }
      return [status, customer.name, n]
    }),
  )
  const filtered = "groupby((order/customer))/filter(order/customer/name eq 'Alice')"
  for (const again of [
    '',
    '/groupby((order/customer))',
    '/groupby((order/customer,order/customer/city))',
  ])
    assert.equal(await rows('shop_items', filtered + again), [{ order: { customer: alice } }])
  const sorted = 'groupby((order/customer))&$orderby=order/customer/name desc&$select=order'
  assert.equal(await rows('shop_items', ...(sorted.split(/(?=&.*)/s) as [string, string])), [
    { order: { customer: neil } },
    { order: { customer: alice } },
  ])
  const rolled = await rows(
    'shop_items',
    'groupby((rollup(line,order/customer)),aggregate($count as n))',
  )
  assert.equal(
    (rolled as Answer['value']).slice(-2).map((row) => Object.keys(row)),
    [
      ['line', 'n'],
      ['line', 'n'],
    ],
  )
  const refused = (more: string) => rows('shop_items', 'groupby((order/customer))', more)
  assert.is(
    await refused('&$expand=order($expand=custmer)'),
    '400 $expand: order has no entity "custmer" (at character 15): there are customer',
  )
  assert.is(
    await refused('&$expand=order($select=status)'),
    '400 $expand: order is an object here, which takes nothing but $expand',
  )
})

test('what an entity has itself makes no other groups', async () => {
  await using resources = new Resources()
  const served = await serve(resources, shop)
  const ask = async (paths: string) =>
    (await served.get(`shop_orders?$apply=groupby((${paths}),aggregate($count%20as%20n))`))
      .json as Answer
  const { value } = await ask('customer')
  assert.equal((await ask('customer/city,customer,customer/customer_id')).value, value)
})

test.run()
