import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { readSchema } from '../../../../src/explorer/page/model/schema.ts'
import {
  tableColumns,
  defaultWidthPx,
  columnValue,
  shownCell,
} from '../../../../src/explorer/page/rows/columns.ts'
import { readRowsState } from '../../../../src/explorer/page/rows/requests.ts'
import { csdl } from './example-csdl.ts'

const schema = readSchema(csdl)
const orders = schema.set('core_orders')!
const columns = (query: string, rows: Parameters<typeof tableColumns>[2] = []) =>
  tableColumns(orders, readRowsState('core_orders', query), rows)
const names = (...given: Parameters<typeof columns>) => columns(...given).map(({ name }) => name)

test('columns are those of the set, or those of $select in its order', () => {
  assert.equal(names(''), ['order_id', 'customer_id', 'total', 'address', 'tags'])
  assert.equal(names('$select=total,address/city'), ['total', 'address/city'])
  assert.equal(names('$compute=total%20mul%202%20as%20twice'), [
    'order_id',
    'customer_id',
    'total',
    'address',
    'tags',
    'twice',
  ])
})

test('a column knows whether it is a key, a number, sortable, and where it leads', () => {
  const [id, customer, total, address, tags] = columns('')
  assert.ok(id!.isKey && id!.isNumber && id!.isSortable)
  assert.is(customer!.navigation?.target, 'core_customers')
  assert.ok(total!.isNumber)
  assert.not(address!.isSortable || tags!.isSortable)
})

test('a place is shown as what it holds, and has no order', () => {
  const place = { $Type: 'Edm.GeographyPoint', $SRID: 4326, $Nullable: true }
  const core_orders = { ...csdl.eider.core_orders, place }
  const withPlace = readSchema({ ...csdl, eider: { ...csdl.eider, core_orders } })
  const state = readRowsState('core_orders', '$select=place')
  const [column] = tableColumns(withPlace.set('core_orders')!, state, [])
  assert.not(column!.isSortable)
  const value = { type: 'Point', coordinates: [13.4, 52.5] }
  const { text, kind } = shownCell(value, column!.property)
  assert.is(kind, 'structure')
  assert.match(text, /Point.*13\.4.*52\.5/)
})

test('what is expanded is a column behind the others', () => {
  const rows = [{ order_id: 1, customer: { customer_id: 7, name: 'Ada' } }]
  assert.equal(names('$select=order_id&$expand=customer', rows), ['order_id', 'customer'])
})

test('the columns of an aggregation come from its rows, also along navigation', () => {
  const rows = [
    { customer: { country: 'IE' }, n: '12' },
    { n: '13', share: 0.5 },
  ]
  const made = columns('$apply=groupby((customer/country),aggregate($count%20as%20n))', rows)
  assert.equal(
    made.map(({ name, isNumber }) => [name, isNumber]),
    [
      ['customer/country', false],
      ['n', true],
      ['share', true],
    ],
  )
  assert.is(columnValue(rows[0]!, 'customer/country'), 'IE')
  assert.is(columnValue(rows[1]!, 'customer/country'), undefined)
})

test('a property may be called like one of every object', () => {
  assert.is(columnValue({ n: 1 }, 'constructor'), undefined)
  assert.is(columnValue(JSON.parse('{"__proto__": 5}') as { n: number }, '__proto__'), 5)
})

test('a column is as wide as its first values, within bounds', () => {
  const [id] = columns('')
  const wide = [{ order_id: 'x'.repeat(1_000_000) }]
  assert.ok(defaultWidthPx(id!, [{ order_id: 1 }]) < defaultWidthPx(id!, wide))
  assert.is(defaultWidthPx(id!, wide), 340)
})

test.run()
