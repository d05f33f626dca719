// Rows whose values are too long for a table.

import * as assert from 'uvu/assert'
import { test } from 'uvu'
import type { Catalog } from '../../../../src/core/catalog.ts'
import { readSchema } from '../../../../src/explorer/page/model/schema.ts'
import {
  isKnownToBeLong,
  isPart,
  readRowsState,
  shortRows,
} from '../../../../src/explorer/page/rows/requests.ts'
import { csdl } from './example-csdl.ts'

const schema = readSchema(csdl)
const short = (set: string, query: string, skip = 0) => {
  const found = shortRows(schema.set(set)!, readRowsState(set, query), skip)
  return found && { ...found, asked: decodeURIComponent(found.request) }
}

test('texts come as their beginnings, lists and structs not at all, keys whole', () => {
  const customers = short('core_customers', '$filter=customer_id gt 3')!
  assert.is(
    customers.asked,
    'core_customers?$filter=customer_id gt 3&$select=customer_id,name_start' +
      '&$compute=substring(name,0,161) as name_start&$count=true',
  )
  assert.equal(customers.read([{ customer_id: 1, name_start: 'Ada' }]), [
    { customer_id: 1, name_start: 'Ada', name: 'Ada' },
  ])
  assert.match(short('core_orders', '')!.asked, '$select=order_id,customer_id,total&$count')
  // A text that is a part of the key.
  assert.is(short('pairs', ''), undefined)
})

test('what is asked for stays as it is: columns, computed ones, the place', () => {
  const all = short('core_customers', '$select=name,n&$compute=1 as n&$skip=10&$top=50', 20)!
  assert.is(
    all.asked,
    'core_customers?$select=name_start,n&$compute=1 as n,substring(name,0,161) as name_start' +
      '&$skip=30&$top=30&$count=true',
  )
  assert.is(short('core_customers', '$apply=groupby((name))'), undefined)
})

test('a set whose rows are long in the files is known to be', () => {
  const page = (bytes: number, rows: number): Pick<Catalog, 'sets'> => {
    const model = 'core.orders'
    return {
      sets: [{ name: 'core_orders', model, description: null, bytes, rows, key: [], columns: [] }],
    }
  }
  const set = schema.set('core_orders')!
  assert.ok(isKnownToBeLong(page(50_000_000, 100), set))
  assert.not(isKnownToBeLong(page(50_000_000, 100_000), set))
  // The least that a file has.
  assert.not(isKnownToBeLong(page(536_576, 3), set))
  assert.not(isKnownToBeLong(page(50_000_000, 1), schema.set('core_customers')!))
})

test('a value is a part when it is as long as a beginning, or did not come', () => {
  const [name] = schema.set('core_customers')!.properties.slice(-1)
  assert.ok(isPart(name, 'x'.repeat(161)))
  assert.ok(isPart(name, undefined))
  assert.not(isPart(name, 'x'.repeat(160)))
  assert.not(isPart(name, null))
  assert.not(isPart(undefined, undefined))
})

test.run()
