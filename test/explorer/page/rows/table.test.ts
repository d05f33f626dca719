// What clicks on the table make of the address, what cells show, and what is in view.

import * as assert from 'uvu/assert'
import { test } from 'uvu'
import { readOptions, writeOptions } from '../../../../src/explorer/page/address/options.ts'
import type { Property } from '../../../../src/explorer/page/model/schema.ts'
import { shownCell } from '../../../../src/explorer/page/rows/columns.ts'
import {
  conditionOf,
  hideColumn,
  move,
  setFilter,
  sortBy,
  togglePin,
} from '../../../../src/explorer/page/rows/table-actions.ts'
import {
  edgesOf,
  evenWindow,
  offsetToReveal,
  windowOf,
} from '../../../../src/explorer/page/rows/window.ts'

const all = ['a', 'b', 'c', 'd']
const after = (
  query: string,
  act: (options: ReturnType<typeof readOptions>) => ReturnType<typeof readOptions>,
) => writeOptions(act(readOptions(query)))

test('columns that stay at the left are the first of $select', () => {
  assert.is(
    after('', (options) => togglePin({ options, shown: all, all }, 'c')),
    '$select=c,a,b,d&pin=1',
  )
  assert.is(
    after('$select=c,a,b,d&pin=1', (options) =>
      togglePin({ options, shown: ['c', 'a', 'b', 'd'], all }, 'b'),
    ),
    '$select=c,b,a,d&pin=2',
  )
  assert.is(
    after('$select=c,b,a,d&pin=2', (options) =>
      togglePin({ options, shown: ['c', 'b', 'a', 'd'], all }, 'c'),
    ),
    '$select=b,c,a,d&pin=1',
  )
  assert.is(
    after('$select=c,b,a&pin=2', (options) =>
      hideColumn({ options, shown: ['c', 'b', 'a'], all }, 'c'),
    ),
    '$select=b,a&pin=1',
  )
})

test('a column moves by one place, and a table sorted anew begins at the top', () => {
  assert.is(
    after('', (options) => move({ options, shown: all, all }, 'b', -1)),
    '$select=b,a,c,d',
  )
  assert.is(
    after('', (options) => move({ options, shown: all, all }, 'd', 1)),
    '',
  )
  assert.is(
    after('$skip=50&$top=10', (options) => sortBy(options, 'a', false)),
    '$top=10&$orderby=a',
  )
})

test('the same condition twice is one', () => {
  const typeOf = () => 'Edm.String'
  const condition = conditionOf('a', "it's", true)!
  assert.is(
    decodeURIComponent(
      after("$filter=a%20eq%20'it''s'", (options) =>
        setFilter(options, typeOf, [condition, condition]),
      ),
    ),
    "$filter=a eq 'it''s'",
  )
})

test('what cannot stand in an address is no condition', () => {
  assert.is(conditionOf('a', ['x'], true), undefined)
  assert.is(conditionOf('a', 'x'.repeat(1_000_000), true), undefined)
  assert.equal(conditionOf('a', null, false)!.kind, 'test')
})

const property = (edm: string): Property => ({
  name: 'p',
  description: undefined,
  edm,
  isList: false,
  precision: undefined,
  scale: undefined,
  fields: undefined,
})
const shown = (value: Parameters<typeof shownCell>[0], edm = 'Edm.String') => {
  const { text, kind } = shownCell(value, property(edm))
  return [text, kind]
}

test('a cell shows one line of whatever comes', () => {
  assert.equal(shown(null), ['null', 'null'])
  assert.equal(shown('null'), ['null', 'plain'])
  assert.equal(shown(''), ['', 'empty'])
  assert.equal(shown(undefined), ['…', 'waiting'])
  assert.equal(shown('250.50', 'Edm.Decimal'), ['250.50', 'plain'])
  assert.equal(shown('NaN', 'Edm.Double'), ['NaN', 'special'])
  assert.equal(shown('NaN'), ['NaN', 'plain'])
  assert.equal(shown('YWJj', 'Edm.Binary'), ['3 B', 'special'])
  assert.equal(shown(['a', null, { b: 1 }]), ['[a, null, {b: 1}]', 'structure'])
  assert.is(shown('<b>'.repeat(500_000))[0]!.length, 161)
  assert.ok(shown(Array.from({ length: 10_000 }, () => 'x'.repeat(100)))[0]!.length < 200)
})

test('only what is in view is in the document', () => {
  assert.equal(evenWindow(1_000, 10, 500, 100, 2), {
    from: 48,
    to: 62,
    beforePx: 480,
    afterPx: 9_380,
  })
  assert.equal(evenWindow(5, 10, 9_999, 100, 2), { from: 3, to: 5, beforePx: 30, afterPx: 0 })
  const edges = edgesOf([100, 50, 200, 50, 100])
  assert.equal(windowOf(edges, 120, 100, 0), { from: 1, to: 3, beforePx: 100, afterPx: 150 })
  assert.equal(windowOf(edges, 0, 1_000, 1), { from: 0, to: 5, beforePx: 0, afterPx: 0 })
  assert.equal(windowOf(edgesOf([]), 0, 100, 1), { from: 0, to: 0, beforePx: 0, afterPx: 0 })
})

test('something is brought into view by as little as possible', () => {
  assert.is(offsetToReveal(100, 20, 150, 200), 100)
  assert.is(offsetToReveal(500, 20, 150, 200), 320)
  assert.is(offsetToReveal(200, 20, 150, 200), 150)
})

test.run()
