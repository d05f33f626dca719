// OpenUI5's OData v4 model against the built service (design goal: its clients need no special treatment).

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { serveShop, type ShopService } from '../support/shop-service.ts'
import {
  fromPage,
  openUi5Page,
  type Ui5ListBinding,
  type Ui5Model,
  type Ui5Page,
} from './ui5-page.ts'

async function open(): Promise<{ service: ShopService; page: Ui5Page } & AsyncDisposable> {
  const service = await serveShop()
  const page = await openUi5Page(service.base)
  return {
    service,
    page,
    async [Symbol.asyncDispose]() {
      page[Symbol.dispose]()
      await service[Symbol.asyncDispose]()
    },
  }
}

/** Property values of the rows of a binding. */
async function values(binding: Ui5ListBinding, property: string, start = 0, length = 100) {
  return (await rows(binding, start, length)).map((row) => row[property])
}

async function rows(binding: Ui5ListBinding, start = 0, length = 100) {
  const contexts = await binding.requestContexts(start, length)
  return Array.from(contexts, (context) => fromPage(context.getObject()))
}

const list = (
  model: Ui5Model,
  path: string,
  {
    sorters = [],
    filters = [],
    ...parameters
  }: {
    readonly sorters?: readonly unknown[]
    readonly filters?: readonly unknown[]
    readonly [parameter: string]: unknown
  } = {},
) => model.bindList(path, null, sorters, filters, parameters)

test('UI5 reads $metadata, and lists, counts, sorts and filters through multipart batches', async () => {
  await using opened = await open()
  const { page } = opened
  const { Filter, Sorter } = page
  const model = page.model()
  const container = await model.getMetaModel().requestObject('/')
  assert.ok('shop_customers' in container && 'shop_orders' in container)
  const type = await model.getMetaModel().requestObject('/shop_orders/')
  assert.equal(fromPage(type['$Key']), ['order_id'])

  const orders = list(model, '/shop_orders', {
    sorters: [new Sorter('amount', true), new Sorter('order_id')],
    $count: true,
  })
  assert.equal(await values(orders, 'order_id'), [10, 11, 14, 13, 12])
  assert.is(orders.getLength(), 5)
  assert.ok(orders.isLengthFinal())

  const open2026 = [
    new Filter('status', 'EQ', 'open'),
    new Filter('ordered_at', 'GE', '2026-01-01T00:00:00Z'),
    new Filter('amount', 'BT', '20', '200.5'),
  ]
  assert.equal(
    await values(list(model, '/shop_orders', { filters: open2026 }), 'order_id'),
    [10, 14],
  )
  const odd = list(model, '/shop_customers', {
    filters: [
      new Filter({
        filters: [
          new Filter('name', 'EQ', "O'Neil"),
          new Filter('name', 'Contains', '% sure_'),
          new Filter('name', 'StartsWith', 'Zo'),
        ],
        and: false,
      }),
    ],
  })
  assert.equal(await values(odd, 'customer_id'), [2, 3, 4])
  const isNull = list(model, '/shop_customers', { filters: [new Filter('city', 'EQ', null)] })
  assert.equal(await values(isNull, 'customer_id'), [2])

  const paths = page.requests.map((request) => request.split('?')[0])
  assert.equal([...new Set(paths)], ['GET /odata/$metadata', 'POST /odata/$batch'])
  assert.equal(page.complaints, [])
})

test('UI5 reads single values, expands, and navigates', async () => {
  await using opened = await open()
  const { page } = opened
  for (const groupId of ['$auto', '$direct']) {
    const model = page.model({ groupId })
    const customers = list(model, '/shop_customers', {
      $select: 'customer_id,name',
      $expand: { orders: { $select: ['order_id'], $orderby: 'order_id desc', $count: true } },
    })
    const [alice, oNeil, zoe] = (await rows(customers)) as { orders: { order_id: number }[] }[]
    const ids = (customer?: { orders: { order_id: number }[] }) =>
      customer?.orders.map((order) => order.order_id)
    assert.equal(ids(alice), [11, 10])
    assert.equal(ids(oNeil), [12])
    assert.equal(ids(zoe), [])
    const order = model.bindContext('/shop_orders(10)', null, { $expand: 'customer' })
    assert.is(await order.requestObject('customer/name'), 'Alice')
    assert.is(await model.bindProperty('/shop_orders(10)/customer/city').requestValue(), 'Berlin')
    assert.is(await model.bindProperty('/shop_customers/$count').requestValue(), 4)
    assert.is(await model.bindProperty('/shop_customers(2)/city').requestValue(), null)
    const ofAlice = list(model, '/shop_customers(1)/orders')
    assert.equal(await values(ofAlice, 'order_id'), [10, 11])
  }
  assert.ok(page.requests.some((request) => request.startsWith('GET /odata/shop_customers?')))
  assert.equal(page.complaints, [])
})

test('UI5 keeps exact numbers and every type, and shows an error of the service as its text', async () => {
  await using opened = await open()
  const { page } = opened
  const model = page.model()
  const [first, empty, third] = await rows(list(model, '/shop_types'))
  assert.is(first?.['b'], '9007199254740993')
  assert.is(third?.['n'], '1234567890123456789012345678.0123456789')
  assert.is(first?.['ts'], '2026-01-01T08:30:00Z')
  assert.is(empty?.['v'], null)
  assert.is(third?.['d'], 'NaN')

  const failing = list(model, '/shop_orders', { filters: [new page.Filter('nowhere', 'EQ', 1)] })
  try {
    await failing.requestContexts(0, 1)
    assert.unreachable()
  } catch (error) {
    // UI5 itself looks the property up in $metadata before it asks.
    assert.match(String(error), /nowhere/)
  }
})

test('UI5 aggregates, groups and pages on the service', async () => {
  await using opened = await open()
  const { page } = opened
  const model = page.model()
  const byStatus = list(model, '/shop_orders', {
    sorters: [new page.Sorter('status')],
    $count: true,
    $$aggregation: { group: { status: {} }, aggregate: { amount: { with: 'sum' } } },
  })
  const groups = await rows(byStatus)
  assert.equal(
    groups.map(({ status, amount }) => [status, Number(amount)]),
    [
      [null, 0],
      ['open', 120.5],
      ['paid', 20],
    ],
  )
  assert.is(byStatus.getLength(), 3)

  const paged = list(model, '/shop_orders', { $count: true })
  assert.equal(await values(paged, 'order_id', 0, 2), [10, 11])
  assert.equal(await values(paged, 'order_id', 2, 2), [12, 13])
  assert.equal(await values(paged, 'order_id', 4, 2), [14])
  assert.equal(page.complaints, [])
})

test.run()
