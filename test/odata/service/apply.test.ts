import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import { serve } from './publish.ts'
import { shop as smallShop } from './shop.ts'

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
  assert.equal(value.at(-1), { order_id: null, customer_id: null, amount: null, n: 25_000 })
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
    ['shop_orders?$apply=identity&$expand=items', 501],
    ['shop_customers?$expand=orders($apply=groupby((status)))', 501],
    ['shop_orders/$ref?$apply=identity', 400],
    ['shop_orders(10)?$apply=identity', 400],
    ['shop_orders(10)/status?$apply=identity', 400],
  ] as const)
    assert.is((await served.get(target.replaceAll(' ', '%20'))).status, status, target)
})

test.run()
