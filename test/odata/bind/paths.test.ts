import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { entityTextsSql } from '../../../src/odata/sql/expand.ts'
import { InMemoryTables } from '../../support/in-memory-tables.ts'
import { requestTests } from '../../support/request-tests.ts'

const onShop = requestTests()

onShop('properties behind navigation to one', (t) => {
  t.finds('shop_orders', [
    ["customer/name eq 'Alice'", '10 11'],
    ["$it/customer/name eq 'Alice'", '10 11'],
    ["customer/name ne 'Alice'", '12 13 14'],
    ["not contains(customer/city,'x')", '10 11 12'],
    ['customer eq null', '13 14'],
    ['null ne customer', '10 11 12'],
    ['customer/credit add amount gt 1100', '10'],
  ])
  t.answers([
    ['shop_orders?$orderby=customer/name desc,order_id desc', '12 11 10 14 13'],
    ["shop_items?$filter=order/customer/name eq 'Bob'&$select=product", 'b/c'],
  ])
})

onShop('Q046 in filters: any, all and $count of the other side', (t) => {
  t.finds('shop_customers', [
    ['orders/any()', '1 2'],
    ['not orders/any()', '3 4 5'],
    ['orders/any(o:o/amount gt 50)', '1'],
    ['orders/ANY(o : o/amount gt 50 or o/status eq null)', '1'],
    ['orders/all(o:o/amount gt 50)', '3 4 5'],
    ['orders/all(o:o/amount ne null)', '1 3 4 5'],
    ['not orders/all(o:o/amount gt 10)', '2'],
  ])
  // Of a customer without orders it is true, and true is not null.
  t.finds('shop_customers', [
    ["orders/all(o:false) eq contains(city,'x')", '1 2'],
    ['orders/any(o:o/items/any(i:i/qty gt 1 and o/amount gt 50))', '1'],
    ['orders/any(o:o/customer_id eq $it/customer_id and credit gt 500)', '1'],
    ['orders/$count eq 0', '3 4 5'],
    ["orders/$count($filter=status eq 'paid') eq 1", '1 2'],
  ])
  t.answers([['shop_customers?$orderby=orders/$count desc,name desc', '1 2 4 3 5']])
  t.finds('shop_orders', [
    ['customer/orders/$count eq 2', '10 11'],
    ['customer/orders/any(x:x/order_id eq 12)', '12'],
    ['not customer/orders/any(x:x/order_id eq 12)', '10 11 13 14'],
  ])
})

onShop('paths that lead nowhere are refused before any SQL', (t) => {
  t.refuses('shop_customers', [
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
  ])
  t.refusesTargets([
    ['shop_orders?$filter=customer/any()', 'type-mismatch'],
    ['shop_customers?$filter=orders/amount gt 1', 400],
  ])
  t.test((fixture) => {
    assert.match(
      fixture.refusal('shop_customers?$filter=nmae eq 1').message,
      /"nmae" \(at character 1\).*"name"/,
    )
  })
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
