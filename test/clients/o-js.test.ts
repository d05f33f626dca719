// o.js, which sends absolute URLs in its multipart batches and its options through URLSearchParams.

import { o } from 'odata'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { serveShop } from '../support/shop-service.ts'

type Row = Readonly<Record<string, unknown>>

test('o.js reads rows, entities, counts and expansions', async () => {
  await using service = await serveShop()
  const root = `${service.base}/`
  const orders = (await o(root).get('shop_orders').query({
    $filter: "status eq 'paid' or startswith(status,'op')",
    $orderby: 'amount desc,order_id',
    $select: 'order_id,amount',
    $top: 2,
  })) as readonly Row[]
  assert.equal(
    orders.map(({ order_id }) => order_id),
    [10, 11],
  )
  const plus = (await o(root)
    .get('shop_customers')
    .query({ $filter: "name eq '100% sure_thing' and city eq 'a\\b;c--d'" })) as readonly Row[]
  assert.equal(
    plus.map(({ customer_id }) => customer_id),
    [4],
  )
  const alice = (await o(root).get('shop_customers(1)').query({ $expand: 'orders' })) as Row
  assert.is(alice['name'], 'Alice')
  assert.is((alice['orders'] as readonly Row[]).length, 2)
  const count: unknown = await o(root).get('shop_orders/$count').query()
  assert.is(Number(count), 5)
})

test('o.js gets each answer of a batch, and the status of the request that fails', async () => {
  await using service = await serveShop()
  const requests = o(`${service.base}/`)
  requests.get('shop_customers(2)').get('shop_orders?$filter=amount gt 50').get('shop_orders(99)')
  const answers = (await requests.batch()) as readonly {
    readonly contentId: number
    readonly status: number
    readonly body: Row | readonly Row[]
  }[]
  assert.equal(
    answers.map(({ contentId, status }) => [contentId, status]),
    [
      [1, 200],
      [2, 200],
      [3, 404],
    ],
  )
  const [oNeil, large] = answers.map(({ body }) => body)
  assert.is((oNeil as Row)['name'], "O'Neil")
  assert.equal(
    (large as readonly Row[]).map(({ order_id }) => order_id),
    [10],
  )
})

test.run()
