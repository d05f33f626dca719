// Misspelt fields of a STRUCT, wherever it is nested: the value is not stored, and the sender hears of it.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { readJsonBatch } from '../../../src/collect/read/read-events.ts'
import { MisspeltFields } from '../../../src/collect/validate/misspelt.ts'
import { createValidator } from '../../../src/collect/validate/validate-event.ts'
import { eventsModel } from '../../support/handmade-models.ts'

const validator = createValidator(
  eventsModel(
    'raw.orders',
    'id BIGINT',
    'items STRUCT(sku VARCHAR, qty INTEGER)[]',
    'place STRUCT(city VARCHAR, at STRUCT(lat DOUBLE, lon DOUBLE))',
    'prices MAP(VARCHAR, STRUCT(net DOUBLE))',
    'paid UNION(card STRUCT(number VARCHAR), cash BIGINT)',
    'doc JSON',
  ),
)

function warningsOf(...events: readonly string[]) {
  const misspelt = new MisspeltFields()
  readJsonBatch(validator, Buffer.from(`[${events.join(',')}]`), 1e6, Infinity, misspelt)
  return misspelt.warnings('raw.orders')
}

const targets = (...events: readonly string[]) => warningsOf(...events).map(({ target }) => target)

test('a field in another case is named with its place, and with the one that was meant', () => {
  assert.equal(warningsOf('{"id":1,"items":[{"SKU":"a","qty":1}]}'), [
    {
      code: 'unknown-field',
      message:
        'raw.orders has no field "items[0].SKU", so its value is not stored; did you mean "items[0].sku"?',
      target: 'items[0].SKU',
    },
  ])
})

const cases: readonly (readonly [event: string, targets: readonly string[]])[] = [
  ['{"items":[{"sku":"a","qty":1}]}', []],
  ['{"items":[{"sku":"a"},{"sku":"b","Qty":1}]}', ['items[1].Qty']],
  ['{"items":[{"Sku":"a"},{"Sku":"b"},{"Qty":1}]}', ['items[0].Sku', 'items[2].Qty']],
  ['{"place":{"City":"Oslo","at":{"lat":1,"Lon":2}}}', ['place.City', 'place.at.Lon']],
  ['{"prices":{"NO":{"Net":1},"SE":{"Net":2}}}', ['prices.NO.Net']],
  ['{"paid":{"card":{"Number":"4"}}}', ['paid.card.Number']],
  ['{"items":[{"sku":"a","qty":1,"SKU":"b"}]}', []],
  ['{"items":[{"sku":"a","qty":1,"colour":"red"}]}', []],
  ['{"items":null,"place":{"at":null},"doc":{"SKU":1}}', []],
  ['{"Items":[{"SKU":1}],"place":{"City":"Oslo"}}', ['Items', 'place.City']],
  // Each of these is read a second time: a number that is stored as text, and an escape that is half of a pair.
  ['{"place":{"City":"Oslo","at":{"lat":1.50}}}', ['place.City']],
  ['{"doc":1.50,"items":[{"SKU":"\\ud83d\\ude00"}]}', ['items[0].SKU']],
]

for (const [event, expected] of cases) test(event, () => assert.equal(targets(event), expected))

test('a batch names a field once', () => {
  const event = '{"items":[{"qty":1},{"SKU":"a"}]}'
  assert.equal(targets(event, event, event), ['items[1].SKU'])
})

test('one event says nothing of the next one', () => {
  assert.equal(targets('{"place":{"colour":"red"}}', '{"place":{"city":"Oslo"}}'), [])
})

test('an object around the columns is named where the event has none of them', () => {
  assert.equal(warningsOf('{"data":{"id":1}}'), [
    {
      code: 'unknown-field',
      message:
        'raw.orders has no column "data", so its value is not stored; the columns are inside of it: send the object in "data" alone',
      target: 'data',
    },
  ])
  assert.equal(targets('{"id":1,"data":{"id":1}}'), [])
})

test('an event none of whose fields is a column is warned of by its first field', () => {
  assert.equal(
    warningsOf('{"data":{"other":1},"x":{}}').map(({ message }) => message),
    [
      'no field of the event is a column of raw.orders; its columns are id, items, place, prices, paid, doc',
    ],
  )
  assert.equal(targets('{"Items":[]}', '{}', '{"id":1,"x":{}}'), ['Items'])
})

test.run()
