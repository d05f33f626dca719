import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  readOptions,
  withOptions,
  writeOptions,
} from '../../../../src/explorer/page/address/options.ts'

const CASES: readonly (readonly [string, readonly (readonly [string, string])[], string?])[] = [
  ['', []],
  ['?', [], ''],
  ['$filter=name%20eq%20%27a%27', [['$filter', "name eq 'a'"]], "$filter=name%20eq%20'a'"],
  ['$orderby=a+desc', [['$orderby', 'a desc']], '$orderby=a%20desc'],
  ["$filter=a eq 'b=c'", [['$filter', "a eq 'b=c'"]], "$filter=a%20eq%20'b=c'"],
  ["$filter=a%20eq%20'%26%23%2B%25%3B'", [['$filter', "a eq '&#+%;'"]]],
  ['filter=n%20gt%201', [['$filter', 'n gt 1']], '$filter=n%20gt%201'],
  ['$TOP=5', [['$top', '5']], '$top=5'],
  [
    'pin=2&@p=5',
    [
      ['pin', '2'],
      ['@p', '5'],
    ],
  ],
  ['$search=%22r%C3%B6%22', [['$search', '"rö"']]],
  ['$filter=100%', [['$filter', '100%']], '$filter=100%25'],
  ['$count', [['$count', '']], '$count='],
]

for (const [query, options, written = query] of CASES) {
  test(`the query ${JSON.stringify(query)}`, () => {
    assert.equal([...readOptions(query)], options)
    assert.is(writeOptions(readOptions(query)), written)
  })
}

test('half of a character does not stop an address from being written', () => {
  assert.is(writeOptions(new Map([['$search', 'a\uD800']])), '$search=a%EF%BF%BD')
})

test('a changed option keeps its place, an empty one goes', () => {
  const options = readOptions('$filter=a&$top=5&$orderby=b')
  assert.is(writeOptions(withOptions(options, { $top: '7', $filter: '' })), '$top=7&$orderby=b')
  assert.is(writeOptions(options), '$filter=a&$top=5&$orderby=b')
})

test.run()
