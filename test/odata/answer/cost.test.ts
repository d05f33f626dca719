import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { BoundQuery } from '../../../src/odata/bind/bound.ts'
import { isSmallQuery } from '../../../src/odata/answer/cost.ts'

/** All rows of a set of that many. */
const all = (rows: number) =>
  ({
    relation: { kind: 'set' },
    set: { relation: { rows } },
    filter: null,
    output: [],
    expand: [],
    order: [],
  }) as unknown as BoundQuery

test('a page in stored order is small whatever the set has, and a whole export is not', () => {
  assert.is(isSmallQuery(all(1e9), 'page'), true)
  assert.is(isSmallQuery(all(1e9), 'one'), true)
  assert.is(isSmallQuery(all(1e5), 'more'), false)
})

test.run()
