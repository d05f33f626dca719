// Alone in its process: it measures processor time.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../../src/core/limits.ts'
import { parseModelName } from '../../../src/core/names.ts'
import { columnType } from '../../../src/core/relation.ts'
import type { PublishedRelation } from '../../../src/core/snapshot.ts'
import { buildEntityModel, buildEntityModelInSlices } from '../../../src/odata/edm/entity-model.ts'
import { fileRows } from '../../../src/store/files/rows.ts'

type Columns = Readonly<Record<string, string>>

function relation(model: string, key: readonly string[], columns: Columns): PublishedRelation {
  return {
    model: parseModelName(model)!,
    file: 'f',
    bytes: 0,
    rows: 0,
    key,
    description: null,
    columns: Object.entries(columns).map(([name, type]) => ({
      name,
      type: columnType(type),
      nullable: true,
    })),
  }
}

function modelOf(...relations: readonly PublishedRelation[]) {
  return buildEntityModel(
    { id: 's', publishedAt: new Date(), runId: 'r', relations },
    { stored: fileRows, signedTinyints: new Map(), clampedTimes: new Map() },
  )
}

/** Every navigation as `from.name -> to`, with a star for many. */
function navigationOf(...relations: readonly PublishedRelation[]): readonly string[] {
  return [...modelOf(...relations).sets.values()].flatMap(({ name, type }) =>
    type.navigation.map((nav) => `${name}.${nav.name} -> ${nav.target.name}${nav.many ? '*' : ''}`),
  )
}

const INT = 'INTEGER'

test('Q014: a column named like a key makes navigation in both directions', () => {
  const parents = relation('s.parents', ['parent_id'], { parent_id: INT })
  const children = relation('s.children', ['child_id'], { child_id: INT, parent_id: INT })
  assert.equal(navigationOf(parents, children), [
    's_parents.children -> s_children*',
    's_children.parent -> s_parents',
  ])
  const [there] = modelOf(parents, children).sets.get('s_children')!.type.navigation
  assert.equal(
    [there!.partner, there!.on.ours.name, there!.on.theirs.name],
    ['children', 'parent_id', 'parent_id'],
  )
})

test('a day or a time that is a key is referred to only by the name of its table', () => {
  const rain = relation('s.rain', ['day'], { day: 'DATE' })
  const sales = relation('s.sales', ['sale_id'], { sale_id: INT, day: 'DATE' })
  assert.equal(navigationOf(rain, sales), [])
  const calendar = relation('s.days', ['day'], { day: 'DATE' })
  assert.equal(navigationOf(rain, sales, calendar), [
    's_rain.days -> s_days',
    's_sales.s_days -> s_days',
    's_days.rain -> s_rain',
    's_days.sales -> s_sales*',
  ])
})

test('Q015: there is no navigation without a key on both sides, nor with another type or letter case', () => {
  const parents = relation('s.parents', ['parent_id'], { parent_id: INT })
  const column = { child_id: INT, parent_id: INT }
  assert.equal(navigationOf(parents, relation('s.children', [], column)), [])
  assert.equal(
    navigationOf({ ...parents, key: [] }, relation('s.children', ['child_id'], column)),
    [],
  )
  assert.equal(
    navigationOf(
      { ...parents, key: ['parent_id', 'parent_id'] },
      relation('s.c', ['child_id'], column),
    ),
    [],
  )
  assert.equal(
    navigationOf(parents, relation('s.c', ['child_id'], { child_id: INT, parent_id: 'VARCHAR' })),
    [],
  )
  assert.equal(
    navigationOf(parents, relation('s.c', ['child_id'], { child_id: INT, Parent_ID: INT })),
    [],
  )
  assert.is(
    navigationOf(parents, relation('s.c', ['child_id'], { child_id: INT, parent_id: 'BIGINT' }))
      .length,
    2,
  )
})

test('names that are taken give way to the name of the set', () => {
  const products = relation('a.products', ['ProductID'], { ProductID: 'VARCHAR', sales: INT })
  const sales = relation('a.sales', ['SaleID'], { SaleID: INT, ProductID: 'VARCHAR' })
  assert.equal(navigationOf(products, sales), [
    'a_products.a_sales -> a_sales*',
    'a_sales.a_products -> a_products',
  ])
  const customers = relation('s.customers', ['customer_id'], { customer_id: INT })
  const orders = (schema: string) =>
    relation(`${schema}.orders`, [`${schema}_no`], {
      [`${schema}_no`]: INT,
      customer_id: INT,
      customer: INT,
    })
  assert.equal(navigationOf(customers, orders('s'), orders('old')), [
    's_customers.orders -> s_orders*',
    's_customers.old_orders -> old_orders*',
    's_orders.s_customers -> s_customers',
    'old_orders.s_customers -> s_customers',
  ])
})

test('a key named id is referred to by <table>_id only', () => {
  const users = relation('s.user', ['id'], { id: INT, name: 'VARCHAR' })
  const posts = relation('s.post', ['id'], { id: INT, user_id: INT })
  assert.equal(navigationOf(users, posts), ['s_user.post -> s_post*', 's_post.user -> s_user'])
})

test('two sets with one key are one to one', () => {
  const a = relation('s.customers', ['customer_id'], { customer_id: INT })
  const b = relation('s.stats', ['customer_id'], { customer_id: INT, orders: INT })
  assert.equal(navigationOf(a, b), [
    's_customers.stats -> s_stats',
    's_stats.customers -> s_customers',
  ])
})

const sharing = (count: number, table = 'set') =>
  Array.from({ length: count }, (_, i) =>
    relation(`m${i}.${table}`, ['order_id'], { order_id: INT, amount: INT }),
  )

test('sets that share a key lead to each other as long as they are few', () => {
  const few = limits.setsOfOneKey
  assert.is(navigationOf(...sharing(few)).length, few * (few - 1))
  assert.equal(modelOf(...sharing(few)).sharedKeys, [])
  assert.equal(navigationOf(...sharing(few + 1)), [])
  assert.equal(modelOf(...sharing(few + 1)).sharedKeys, [{ name: 'order_id', sets: few + 1 }])
})

test('of many that share a key those are led to that are named after it, from before and behind', () => {
  const [first, ...others] = sharing(limits.setsOfOneKey)
  const orders = relation('core.orders', ['order_id'], { order_id: INT })
  const items = relation('core.items', ['item_id'], { item_id: INT, order_id: INT })
  const all = [first!, orders, ...others, items]
  const { sets, sharedKeys } = modelOf(...all)
  assert.equal(sharedKeys, [{ name: 'order_id', sets: limits.setsOfOneKey + 1 }])
  for (const name of ['m0_set', 'm1_set', 'm15_set', 'core_items']) {
    const [only, ...more] = sets.get(name)!.type.navigation
    assert.equal([only!.target.name, only!.many, more], ['core_orders', false, []], name)
  }
  const back = sets.get('core_orders')!.type.navigation
  assert.is(back.length, limits.setsOfOneKey + 1)
  assert.is(new Set(back.map(({ name }) => name)).size, back.length)
  assert.equal(back.find(({ target }) => target.name === 'core_items')!.many, true)
  assert.equal(navigationOf(...sharing(limits.setsOfOneKey + 1, 'orders')), [])
})

test('many sets that share their key have a model soon, all of them led to one', () => {
  const many = [...sharing(3_000), relation('core.order', ['order_id'], { order_id: INT })]
  const startedAt = process.cpuUsage()
  const { sets } = modelOf(...many)
  const { user, system } = process.cpuUsage(startedAt)
  // Some 30 ms; with the square of the sets it is far above a minute.
  assert.ok(user + system < 10_000_000, `${user + system} us`)
  assert.is(sets.get('core_order')!.type.navigation.length, 3_000)
})

test('the model that is made in slices is the same one', async () => {
  const relations = sharing(200)
  const snapshot = { id: 's', publishedAt: new Date(), runId: 'r', relations }
  const facts = { stored: fileRows, signedTinyints: new Map(), clampedTimes: new Map() }
  const model = await buildEntityModelInSlices(snapshot, facts)
  assert.equal(model, buildEntityModel(snapshot, facts))
})

test('part of a composite key refers too', () => {
  const orders = relation('s.orders', ['order_id'], { order_id: INT })
  const items = relation('s.items', ['order_id', 'line'], { order_id: INT, line: INT })
  assert.equal(navigationOf(orders, items), [
    's_orders.items -> s_items*',
    's_items.order -> s_orders',
  ])
})

test('Q012, Q013, Q019: properties are the columns in their order, keys are not null, negative TINYINTs are signed', () => {
  const table = relation('s.t', ['b'], { a: 'TINYINT', b: 'TINYINT', c: 'VARCHAR' })
  const model = buildEntityModel(
    { id: 's', publishedAt: new Date(), runId: 'r', relations: [table] },
    {
      stored: fileRows,
      signedTinyints: new Map([[table.model, new Set(['a'])]]),
      clampedTimes: new Map(),
    },
  )
  const { properties, key } = model.sets.get('s_t')!.type
  assert.equal(
    properties.map(({ name, type, nullable }) => [name, type.name, nullable]),
    [
      ['a', 'Edm.SByte', true],
      ['b', 'Edm.Byte', false],
      ['c', 'Edm.String', true],
    ],
  )
  assert.equal(
    key.map(({ name }) => name),
    ['b'],
  )
})

test.run()
