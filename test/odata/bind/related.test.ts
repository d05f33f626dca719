import { test } from 'uvu'
import { requestTests } from '../../support/request-tests.ts'

const onShop = requestTests()

onShop('$count behind a path takes $filter and $search', (t) => {
  t.finds('shop_customers', {
    'orders/$count($search=paid) eq 1': '1 2',
    'orders/$count($search=pAID OR open) eq 2': '1',
    'orders/$count($search=NOT paid) eq 1': '1',
    'orders/$count($search="paid";$filter=amount gt 5) eq 1': '1',
    'orders/$count( filter = amount gt 5 ; SEARCH=open ) eq 1': '1',
    'orders/$filter(amount gt 5)/$count($search=zzz OR paid) eq 1': '1',
    'orders/$count($filter=items/$count($search=b) gt 0) eq 1': '1 2',
    'orders/$count($search=nothing) eq 0': '1 2 3 4 5',
  })
  t.refuses('shop_customers', {
    'orders/$count($search=a;$search=b) eq 1': 'duplicate-option',
    'orders/$count($search=) eq 1': 'syntax-error',
    'orders/$count($top=1) eq 1': 'syntax-error',
    'orders/$count($search=a;) eq 1': 'syntax-error',
  })
})

onShop('isdefined takes one path to what the entities have or had', (t) => {
  const rolled = '$apply=groupby((rollup(status,customer)),aggregate($count as n))'
  t.answers([['shop_customers?$filter=orders/any(o:isdefined(o/amount))', '1 2']])
  t.refuses('shop_orders', {
    'isdefined()': 'wrong-arguments',
    'isdefined(status,amount)': 'wrong-arguments',
    'isdefined(1)': 'type-mismatch',
    'isdefined(nope)': 'unknown-property',
  })
  t.refusesTargets({
    'shop_orders?$apply=aggregate($count as n)/filter(isdefined(nope))': 'unknown-property',
    [`shop_orders?${rolled}&$expand=customer($compute=isdefined(status) as d)`]: 'unknown-property',
  })
})

onShop('$these stands in transformations alone, and a row of them stays within limits', (t) => {
  const doubled = Array.from({ length: 8 }, () => 'filter($these/$count gt 1)').join('/')
  t.refusesTargets({
    'shop_orders?$filter=$these/$count gt 1': 'not-supported',
    'shop_orders?$apply=top(1)&$filter=$these/$count gt 1': 'not-supported',
    'shop_orders?$apply=filter($these)': 'type-mismatch',
    'shop_orders?$apply=filter($these/amount gt 1)': 'type-mismatch',
    'shop_orders?$apply=filter($these/aggregate(nope with sum) gt 1)': 'unknown-property',
    [`shop_orders?$apply=${doubled}`]: 'expression-too-deep',
  })
})

onShop('an entity with a key is compared with null, and with another', (t) => {
  t.refusesAll('shop_customers', 400, [
    'orders(10)',
    'orders(10) gt 1',
    'orders(10) eq 1',
    "orders('a') eq null",
  ])
  t.finds('shop_customers', [
    ['orders(10) ne null', '1'],
    ['null eq orders(10)', '2 3 4 5'],
    ['orders(10) eq $root/shop_orders(10)', '1'],
  ])
  t.finds('shop_orders', [
    ['customer/orders(10) ne null', '10 11'],
    ['$root/shop_orders(99) ne null', ''],
  ])
})

test.run()
