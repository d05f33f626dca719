import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../src/core/limits.ts'
import { didYouMean, nearest } from '../../src/core/suggest.ts'

test('the nearest word by insertions, deletions, substitutions and swaps', () => {
  const words = ['orders', 'customers', 'page_views']
  assert.is(nearest('ordres', words), 'orders')
  assert.is(nearest('Order', words), 'orders')
  assert.is(nearest('pageviews', words), 'page_views')
  assert.is(nearest('countries', words), null)
  assert.is(didYouMean('custmers', words), 'did you mean "customers"?')
})

test('a word as long as a URL is not compared, with words of whatever length', () => {
  const long = 'a'.repeat(limits.suggestionLength)
  assert.is(nearest(long, [`${long}a`]), `${long}a`)
  assert.is(nearest(`${long}a`, [long]), null)
  const startedAt = performance.now()
  const names = Array.from({ length: 30 }, (_, i) => 'b'.repeat(100 + i))
  assert.is(nearest('x'.repeat(100_000), names), null)
  assert.is(nearest('order', ['x'.repeat(10_000_000), 'orders']), 'orders')
  assert.ok(performance.now() - startedAt < 1_000)
})

test.run()
