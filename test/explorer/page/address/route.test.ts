import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { readRoute, writeRoute, type Route } from '../../../../src/explorer/page/address/route.ts'

const CASES: readonly (readonly [string, Route])[] = [
  ['/', { view: 'home' }],
  ['/sets/core_orders', { view: 'rows', set: 'core_orders', query: '' }],
  [
    '/sets/core_orders?$filter=n%20gt%201&$top=5',
    { view: 'rows', set: 'core_orders', query: '$filter=n%20gt%201&$top=5' },
  ],
  ['/sets/core_orders/columns', { view: 'columns', set: 'core_orders', query: '' }],
  ['/sets/core_orders/chart?x=day', { view: 'chart', set: 'core_orders', query: 'x=day' }],
  ['/sets/core_orders(500001)', { view: 'row', set: 'core_orders', key: '500001', query: '' }],
  [
    "/sets/items(order=1,line='a%2Fb')",
    { view: 'row', set: 'items', key: "order=1,line='a/b'", query: '' },
  ],
  ["/sets/items('a%0Ab')", { view: 'row', set: 'items', key: "'a\nb'", query: '' }],
  ["/sets/items('(%25)')", { view: 'row', set: 'items', key: "'(%)'", query: '' }],
  ['/sets/gr%C3%B6%C3%9Fe', { view: 'rows', set: 'größe', query: '' }],
  ['/lineage?model=core.orders', { view: 'lineage', query: 'model=core.orders' }],
  ['/runs', { view: 'runs' }],
  ['/runs/20261123T004022Z-c6eff5', { view: 'run', id: '20261123T004022Z-c6eff5' }],
  ['/connect?set=core_orders', { view: 'connect', query: 'set=core_orders' }],
  ['/nowhere', { view: 'lost', path: '/nowhere' }],
  ['/sets', { view: 'lost', path: '/sets' }],
  ['/sets/core_orders/other', { view: 'lost', path: '/sets/core_orders/other' }],
  ['/sets/core_orders(1)/columns', { view: 'lost', path: '/sets/core_orders(1)/columns' }],
]

for (const [address, route] of CASES) {
  test(`the address ${address}`, () => {
    const [path = '', query] = address.split('?')
    assert.equal(readRoute(path, query), route)
    assert.is(writeRoute(route), address)
  })
}

test('a slash at the end and bad escapes change nothing', () => {
  assert.equal(readRoute('/runs/'), { view: 'runs' })
  assert.equal(readRoute('/sets/%E0%A4%A'), { view: 'rows', set: '%E0%A4%A', query: '' })
})

test.run()
