import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { InMemoryTables } from '../../support/in-memory-tables.ts'

test('$count behind a path takes $filter and $search', async () => {
  await using fixture = await InMemoryTables.open()
  const expected = {
    'orders/$count($search=paid) eq 1': '1 2',
    'orders/$count($search=pAID OR open) eq 2': '1',
    'orders/$count($search=NOT paid) eq 1': '1',
    'orders/$count($search="paid";$filter=amount gt 5) eq 1': '1',
    'orders/$count( filter = amount gt 5 ; SEARCH=open ) eq 1': '1',
    'orders/$filter(amount gt 5)/$count($search=zzz OR paid) eq 1': '1',
    'orders/$count($filter=items/$count($search=b) gt 0) eq 1': '1 2',
    'orders/$count($search=nothing) eq 0': '1 2 3 4 5',
  }
  for (const [filter, ids] of Object.entries(expected))
    assert.is(await fixture.ids('shop_customers', filter), ids, filter)
  const code = (filter: string) =>
    fixture.refusal(`shop_customers?$filter=${encodeURIComponent(filter)}`).code
  assert.is(code('orders/$count($search=a;$search=b) eq 1'), 'duplicate-option')
  assert.is(code('orders/$count($search=) eq 1'), 'syntax-error')
  assert.is(code('orders/$count($top=1) eq 1'), 'syntax-error')
  assert.is(code('orders/$count($search=a;) eq 1'), 'syntax-error')
})

test('isdefined takes one path to what the entities have or had', async () => {
  await using fixture = await InMemoryTables.open()
  const refusal = (query: string) => fixture.refusal(`shop_orders?${encodeURI(query)}`).code
  assert.is(refusal('$filter=isdefined()'), 'wrong-arguments')
  assert.is(refusal('$filter=isdefined(status,amount)'), 'wrong-arguments')
  assert.is(refusal('$filter=isdefined(1)'), 'type-mismatch')
  assert.is(refusal('$filter=isdefined(nope)'), 'unknown-property')
  assert.is(refusal('$apply=aggregate($count as n)/filter(isdefined(nope))'), 'unknown-property')
  const rolled = '$apply=groupby((rollup(status,customer)),aggregate($count as n))'
  assert.is(
    refusal(`${rolled}&$expand=customer($compute=isdefined(status) as d)`),
    'unknown-property',
  )
  assert.is(await fixture.first('shop_customers?$filter=orders/any(o:isdefined(o/amount))'), '1 2')
})

test('$these stands in transformations alone, and a row of them stays within limits', async () => {
  await using fixture = await InMemoryTables.open()
  const refusal = (query: string) => fixture.refusal(`shop_orders?${encodeURI(query)}`).code
  assert.is(refusal('$filter=$these/$count gt 1'), 'not-supported')
  assert.is(refusal('$apply=top(1)&$filter=$these/$count gt 1'), 'not-supported')
  assert.is(refusal('$apply=filter($these)'), 'type-mismatch')
  assert.is(refusal('$apply=filter($these/amount gt 1)'), 'type-mismatch')
  assert.is(refusal('$apply=filter($these/aggregate(nope with sum) gt 1)'), 'unknown-property')
  const doubled = Array.from({ length: 8 }, () => 'filter($these/$count gt 1)').join('/')
  assert.is(refusal(`$apply=${doubled}`), 'expression-too-deep')
})

test('an entity with a key is compared with null, and with another', async () => {
  await using fixture = await InMemoryTables.open()
  const ids = async (set: string, filter: string, answer: string) =>
    assert.is(await fixture.ids(set, filter), answer, filter)
  await ids('shop_customers', 'orders(10) ne null', '1')
  await ids('shop_customers', 'null eq orders(10)', '2 3 4 5')
  await ids('shop_customers', 'orders(10) eq $root/shop_orders(10)', '1')
  await ids('shop_orders', 'customer/orders(10) ne null', '10 11')
  await ids('shop_orders', '$root/shop_orders(99) ne null', '')
  for (const filter of ['orders(10)', 'orders(10) gt 1', 'orders(10) eq 1', "orders('a') eq null"])
    assert.is(fixture.refusal(`shop_customers?$filter=${encodeURI(filter)}`).status, 400, filter)
})

test.run()
