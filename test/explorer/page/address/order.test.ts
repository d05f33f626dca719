import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  moveColumn,
  readOrder,
  readSelect,
  toggleOrder,
  writeOrder,
  writeSelect,
} from '../../../../src/explorer/page/address/order.ts'

test('$orderby is read with directions, and expressions with commas stay whole', () => {
  const orders = readOrder("a desc,concat(b,',') asc, c")
  assert.equal(orders, [
    { by: 'a', descending: true },
    { by: "concat(b,',')", descending: false },
    { by: 'c', descending: false },
  ])
  assert.is(writeOrder(orders), "a desc,concat(b,','),c")
  assert.equal(readOrder(undefined), [])
  assert.is(writeOrder([]), undefined)
})

test('clicks on a header sort up, down and not at all', () => {
  const clicks = (count: number) =>
    Array.from({ length: count }).reduce<ReturnType<typeof readOrder>>(
      (orders) => toggleOrder(orders, 'a', false),
      readOrder('z desc'),
    )
  assert.is(writeOrder(clicks(1)), 'a')
  assert.is(writeOrder(clicks(2)), 'a desc')
  assert.is(writeOrder(clicks(3)), undefined)
})

test('with Shift the others keep their places', () => {
  assert.is(writeOrder(toggleOrder(readOrder('z desc'), 'a', true)), 'z desc,a')
  assert.is(writeOrder(toggleOrder(readOrder('a,z'), 'a', true)), 'a desc,z')
  assert.is(writeOrder(toggleOrder(readOrder('a desc,z'), 'a', true)), 'z')
})

test('$select is left out where it names all columns in their order', () => {
  const all = ['a', 'b', 'c']
  assert.is(writeSelect(all, all), undefined)
  assert.is(writeSelect(['b', 'a', 'c'], all), 'b,a,c')
  assert.is(writeSelect(['a'], all), 'a')
  assert.equal(readSelect('a,b/c,d($select=e,f)'), ['a', 'b/c', 'd($select=e,f)'])
  assert.is(readSelect('*'), undefined)
})

test('a column goes to the place of another', () => {
  assert.equal(moveColumn(['a', 'b', 'c', 'd'], 'a', 'c'), ['b', 'c', 'a', 'd'])
  assert.equal(moveColumn(['a', 'b', 'c', 'd'], 'd', 'b'), ['a', 'd', 'b', 'c'])
  assert.equal(moveColumn(['a', 'b'], 'a', 'x'), ['a', 'b'])
})

test.run()
