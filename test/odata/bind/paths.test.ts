import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { entityTextsSql } from '../../../src/odata/sql/expand.ts'
import { InMemoryTables } from '../../support/in-memory-tables.ts'

test('properties behind navigation to one', async () => {
  await using fixture = await InMemoryTables.open()
  const ids = (filter: string) => fixture.ids('shop_orders', filter)
  assert.is(await ids("customer/name eq 'Alice'"), '10 11')
  assert.is(await ids("$it/customer/name eq 'Alice'"), '10 11')
  assert.is(await ids("customer/name ne 'Alice'"), '12 13 14')
  assert.is(await ids("not contains(customer/city,'x')"), '10 11 12')
  assert.is(await ids('customer eq null'), '13 14')
  assert.is(await ids('null ne customer'), '10 11 12')
  assert.is(await ids('customer/credit add amount gt 1100'), '10')
  assert.is(
    await fixture.first('shop_orders?$orderby=customer/name desc,order_id desc'),
    '12 11 10 14 13',
  )
  assert.is(
    await fixture.first("shop_items?$filter=order/customer/name eq 'Bob'&$select=product"),
    'b/c',
  )
})

test('Q046 in filters: any, all and $count of the other side', async () => {
  await using fixture = await InMemoryTables.open()
  const ids = (filter: string) => fixture.ids('shop_customers', filter)
  assert.is(await ids('orders/any()'), '1 2')
  assert.is(await ids('not orders/any()'), '3 4 5')
  assert.is(await ids('orders/any(o:o/amount gt 50)'), '1')
  assert.is(await ids('orders/ANY(o : o/amount gt 50 or o/status eq null)'), '1')
  assert.is(await ids('orders/all(o:o/amount gt 50)'), '3 4 5')
  assert.is(await ids('orders/all(o:o/amount ne null)'), '1 3 4 5')
  assert.is(await ids('not orders/all(o:o/amount gt 10)'), '2')
  // Of a customer without orders it is true, and true is not null.
  assert.is(await ids("orders/all(o:false) eq contains(city,'x')"), '1 2')
  assert.is(await ids('orders/any(o:o/items/any(i:i/qty gt 1 and o/amount gt 50))'), '1')
  assert.is(await ids('orders/any(o:o/customer_id eq $it/customer_id and credit gt 500)'), '1')
  assert.is(await ids('orders/$count eq 0'), '3 4 5')
  assert.is(await ids("orders/$count($filter=status eq 'paid') eq 1"), '1 2')
  assert.is(
    await fixture.first('shop_customers?$orderby=orders/$count desc,name desc'),
    '1 2 4 3 5',
  )
  assert.is(await fixture.ids('shop_orders', 'customer/orders/$count eq 2'), '10 11')
  assert.is(await fixture.ids('shop_orders', 'customer/orders/any(x:x/order_id eq 12)'), '12')
  assert.is(
    await fixture.ids('shop_orders', 'not customer/orders/any(x:x/order_id eq 12)'),
    '10 11 13 14',
  )
})

test('paths that lead nowhere are refused before any SQL', async () => {
  await using fixture = await InMemoryTables.open()
  const refused: readonly (readonly [string, string])[] = [
    ['orders/amount gt 1', 'type-mismatch'],
    ['orders eq null', 'type-mismatch'],
    ['orders gt 5', 'type-mismatch'],
    ['name/length gt 1', 'unknown-property'],
    ['name/any()', 'type-mismatch'],
    ['nowhere/any()', 'unknown-property'],
    ['orders/any(o:o/nothing eq 1)', 'unknown-property'],
    ['orders/any(o:o eq 1)', 'type-mismatch'],
    ['orders/any(o:o/amount)', 'type-mismatch'],
    ['orders/all()', 'syntax-error'],
    ['o/amount gt 1', 'unknown-property'],
    ['$it', 'type-mismatch'],
    ['orders/$count($filter=nothing eq 1) eq 1', 'unknown-property'],
    ['rowid eq 0', 'unknown-property'],
    ["Name eq 'Bob'", 'unknown-property'],
    ['shop_orders/order_id eq 1', 'unknown-property'],
    [Array.from({ length: 60 }, () => 'orders/any()').join(' or '), 'expression-too-deep'],
  ]
  for (const [filter, code] of refused) {
    const refusal = fixture.refusal(`shop_customers?$filter=${encodeURIComponent(filter)}`)
    assert.equal([refusal.status, refusal.code], [400, code], filter)
  }
  assert.is(fixture.refusal('shop_orders?$filter=customer/any()').code, 'type-mismatch')
  assert.match(
    fixture.refusal('shop_customers?$filter=nmae eq 1').message,
    /"nmae" \(at character 1\).*"name"/,
  )
})

test('the row of a lookup is written where it is read, unless a value has to be made first', async () => {
  await using fixture = await InMemoryTables.open()
  const format = { metadata: 'minimal', ieee754: false } as const
  const selects = (target: string) =>
    entityTextsSql(fixture.query(target), { offset: 0, limit: 1 }, format).inline().split('SELECT')
      .length - 1
  assert.is(selects('shop_customers(1)'), 1)
  assert.is(selects('shop_customers(1)?$select=name'), 1)
  assert.is(selects('shop_customers(1)?$compute=length(name) as n'), 2)
  assert.ok(selects('shop_customers(1)?$expand=orders') > 2)
})

test.run()
