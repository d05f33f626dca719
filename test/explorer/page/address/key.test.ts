// Keys between parentheses, and the same rows as a condition.

import * as assert from 'uvu/assert'
import { test } from 'uvu'
import { filterOfKey, keyOf } from '../../../../src/explorer/page/address/key.ts'
import type { EntitySet, Property } from '../../../../src/explorer/page/model/schema.ts'

const setOf = (key: Readonly<Record<string, string>>) =>
  ({
    name: 's',
    key: Object.keys(key),
    properties: Object.entries(key).map(([name, edm]) => ({ name, edm }) as Property),
  }) as unknown as EntitySet

test('a key is a condition for tools that read no single rows', () => {
  const one = setOf({ id: 'Edm.Int32' })
  assert.is(filterOfKey(one, '7'), 'id eq 7')
  assert.is(filterOfKey(one, 'id=7'), 'id eq 7')
  const text = setOf({ name: 'Edm.String' })
  const odd = `it's a=b, (c) 100% / 'x'`
  assert.is(keyOf(text, { name: odd }), `'it''s a=b, (c) 100% / ''x'''`)
  assert.is(filterOfKey(text, keyOf(text, { name: odd })!), `name eq ${keyOf(text, { name: odd })}`)
  const two = setOf({ a: 'Edm.String', b: 'Edm.Date' })
  assert.is(
    filterOfKey(two, keyOf(two, { a: `x,b='y'`, b: '2026-01-01' })!),
    `a eq 'x,b=''y''' and b eq 2026-01-01`,
  )
})

test('a row without a part of its key has none', () => {
  assert.is(keyOf(setOf({ a: 'Edm.String', b: 'Edm.Date' }), { a: 'x', b: null }), undefined)
  assert.is(keyOf(setOf({}), { a: 'x' }), undefined)
})

test.run()
