import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parseModelName } from '../../../src/core/names.ts'
import { columnType } from '../../../src/core/relation.ts'
import type { PublishedRelation, Snapshot } from '../../../src/core/snapshot.ts'
import { navigationChanges } from '../../../src/odata/edm/contract.ts'

function relation(name: string, key: string, types: Readonly<Record<string, string>>) {
  const columns = Object.entries(types).map(([column, type]) => ({
    name: column,
    type: columnType(type),
    nullable: column !== key,
  }))
  const model = parseModelName(name)!
  return { model, file: 'x', bytes: 0, rows: 0, key: [key], description: null, columns }
}

const snapshot = (...relations: readonly PublishedRelation[]): Snapshot => ({
  id: 's',
  publishedAt: new Date(0),
  runId: 'r',
  relations,
})

const customers = relation('core.customers', 'customer_id', { customer_id: 'INTEGER' })
const orders = relation('core.orders', 'order_id', { order_id: 'INTEGER', customer_id: 'INTEGER' })

const changes = (before: Snapshot, after: Snapshot) =>
  navigationChanges(before, after).map(
    ({ set, change, breaking }) => `${breaking ? '! ' : ''}${set}: ${change}`,
  )

test('nothing changed is no change; navigation that comes breaks nobody', () => {
  const both = snapshot(customers, orders)
  assert.equal(changes(both, both), [])
  const bare = relation('core.orders', 'order_id', { order_id: 'INTEGER' })
  assert.equal(changes(snapshot(customers, bare), both), [
    'core_customers: navigation orders added',
    'core_orders: navigation customer added',
  ])
})

test('a set, a column, a type or a key that goes takes the navigation with it', () => {
  const both = snapshot(customers, orders)
  const lost = [
    '! core_customers: navigation orders removed',
    '! core_orders: navigation customer removed',
  ]
  assert.equal(changes(both, snapshot(customers)), lost.slice(0, 1))
  const texts = { order_id: 'INTEGER', customer_id: 'VARCHAR' }
  assert.equal(changes(both, snapshot(customers, relation('core.orders', 'order_id', texts))), lost)
  const other = relation('core.customers', 'nr', { nr: 'INTEGER', customer_id: 'INTEGER' })
  assert.equal(changes(both, snapshot(other, orders)), lost)
})

test('one row instead of many, and another set under the same name', () => {
  const single = relation('core.orders', 'customer_id', { customer_id: 'INTEGER' })
  const changed = changes(snapshot(customers, orders), snapshot(customers, single))
  assert.ok(
    changed.includes(
      '! core_customers: navigation orders leads to core_orders instead of many core_orders',
    ),
  )
  const archive = relation('old.orders', 'nr', { nr: 'INTEGER', customer_id: 'INTEGER' })
  assert.ok(
    changes(snapshot(customers, orders), snapshot(archive, customers, orders)).some((change) =>
      change.startsWith('! core_customers: navigation orders leads to many old_orders'),
    ),
  )
})

test.run()
