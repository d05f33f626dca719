import * as assert from 'uvu/assert'
import { test } from 'uvu'
import { keyOf } from '../../../../src/explorer/page/address/key.ts'
import {
  memberNames,
  navigationOf,
  readSchema,
  relatedRows,
  typeOfPath,
} from '../../../../src/explorer/page/model/schema.ts'
import { csdl } from '../rows/example-csdl.ts'

const schema = readSchema(csdl)
const orders = schema.set('core_orders')!
const customers = schema.set('core_customers')!
const pairs = schema.set('pairs')!

test('sets are read with keys, properties, navigation and descriptions', () => {
  assert.equal(
    schema.sets.map(({ name }) => name),
    ['core_orders', 'core_customers', 'pairs'],
  )
  assert.is(orders.description, 'Orders')
  assert.equal(orders.key, ['order_id'])
  const [, , total, address, tags] = orders.properties
  assert.equal(
    [total!.edm, total!.precision, total!.scale, total!.description],
    ['Edm.Decimal', 12, 2, 'With tax'],
  )
  assert.equal(
    address!.fields?.map(({ name, edm }) => [name, edm]),
    [['city', 'Edm.String']],
  )
  assert.ok(tags!.isList)
  assert.is(navigationOf(orders, 'customer_id')?.name, 'customer')
  assert.ok(schema.hasParquet)
})

test('measures are read with what is said of them, and keep their names from computed columns', () => {
  assert.equal(orders.measures, [
    { name: 'revenue', description: 'What was paid', label: 'Revenue', unit: 'EUR' },
    { name: 'buyers', description: undefined, label: undefined, unit: undefined },
  ])
  assert.equal(customers.measures, [])
  assert.ok(memberNames(orders).includes('buyers'))
})

test('the type of a path goes along structs and navigation to one', () => {
  assert.is(typeOfPath(schema, orders, 'total'), 'Edm.Decimal')
  assert.is(typeOfPath(schema, orders, 'address/city'), 'Edm.String')
  assert.is(typeOfPath(schema, orders, 'customer/name'), 'Edm.String')
  assert.is(typeOfPath(schema, orders, 'customer'), 'Edm.Untyped')
  assert.is(typeOfPath(schema, customers, 'orders'), undefined)
  assert.is(typeOfPath(schema, orders, 'nothing'), undefined)
})

test('keys are written as the service wants them in a path', () => {
  assert.is(keyOf(orders, { order_id: 7 }), '7')
  assert.is(
    keyOf(pairs, { a: '9223372036854775807', b: "O'Neil" }),
    "a=9223372036854775807,b='O''Neil'",
  )
  assert.is(keyOf(pairs, { a: '1' }), undefined)
})

test('rows that belong to a row are an address with a condition', () => {
  const [many] = customers.navigations
  const route = relatedRows(schema, customers, many!, { customer_id: 7 })
  assert.equal(route, { view: 'rows', set: 'core_orders', query: '$filter=customer_id%20eq%207' })
  assert.is(relatedRows(schema, customers, many!, {}), undefined)
})

test('a document that is none has no sets', () => {
  for (const wrong of [null, 5, {}, { $EntityContainer: 'a.b' }])
    assert.equal(readSchema(wrong).sets, [])
})

test.run()
