import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { BoundQuery } from '../../../src/odata/bind/bound-request.ts'
import { isSmallQuery } from '../../../src/odata/bind/size.ts'

/** All rows of a set of that many; `hidden`: of a token that sees only some of so many stored ones. */
const all = (rows: number, hidden: { readonly stored: number } | null = null) =>
  ({
    relation: { kind: 'set' },
    set: {
      relation: { rows },
      only: hidden === null ? [] : [{}],
      storedRows: hidden?.stored ?? rows,
    },
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

test('a page is not small for a token that sees few of very many rows', () => {
  assert.is(isSmallQuery(all(10, { stored: 1_000 }), 'page'), true)
  assert.is(isSmallQuery(all(10, { stored: 1e9 }), 'page'), false)
  assert.is(isSmallQuery(all(10, { stored: 1e9 }), 'one'), false)
})

test.run()
