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

test('an entity that rows cannot be grouped by is refused with the paths that give the same', async () => {
  await using resources = new Resources()
  const served = await serve(resources, shop)
  const ask = async (path: string, set: string) =>
    await served.get(
      `${set}?$apply=groupby((${path}),aggregate($count as n))`.replaceAll(' ', '%20'),
    )
  const refused = await ask('order/customer', 'shop_items')
  assert.is(refused.status, 501)
  const [, instead] = /group by its key, ([\w/]+), and/.exec(refused.text)!
  assert.is(instead, 'order/customer/customer_id')
  const { status, json } = await ask(`${instead},order/customer/name`, 'shop_items')
  assert.is(status, 200)
  assert.equal((json as Answer).value, [
    { order: { customer: { customer_id: 1, name: 'Alice' } }, n: 3 },
    { order: { customer: { customer_id: 2, name: "O'Neil" } }, n: 1 },
  ])
  const both = await ask('customer,customer/city', 'shop_orders')
  assert.is(both.status, 501)
  assert.match(both.text, 'leave the entity out, and add its key')
})

test.run()
