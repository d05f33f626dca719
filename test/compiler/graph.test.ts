import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { orderOf } from '../../src/compiler/graph.ts'
import { modelName } from '../support/model-name.ts'

const graph = (edges: Readonly<Record<string, string>>) =>
  orderOf(
    Object.entries(edges).map(([name, reads]) => ({
      name: modelName(`m.${name}`),
      dependsOn: reads
        .split(' ')
        .filter(Boolean)
        .map((read) => modelName(`m.${read}`)),
    })),
  )
const short = (names: readonly string[]) => names.map((name) => name.slice(2)).join(' ')

test('each after what it reads, by name among equals', () => {
  const { order, cycles } = graph({ d: '', c: 'd', b: '', a: 'c b' })
  assert.is(short(order.map(({ name }) => name)), 'b d c a')
  assert.equal(cycles, [])
})

test('the order does not depend on the order of the files', () => {
  const edges = { x: 'k', k: 'b a', a: '', b: 'a', z: 'x a' }
  const backwards = Object.fromEntries(Object.entries(edges).toReversed())
  assert.equal(
    graph(edges).order.map(({ name }) => name),
    graph(backwards).order.map(({ name }) => name),
  )
})

test('every cycle is named, what hangs on them is ordered all the same', () => {
  const { order, cycles } = graph({ a: 'c', c: 'b', b: 'a', s: 's', after: 'b s', free: '' })
  assert.equal(cycles.map(short), ['a c b', 's'])
  assert.is(short(order.map(({ name }) => name)), 'free after')
})

test('a chain of 20,000 models', () => {
  const edges = Object.fromEntries(
    Array.from({ length: 20_000 }, (_, i) => [`n${i}`, i === 0 ? '' : `n${i - 1}`]),
  )
  const { order } = graph(edges)
  assert.is(order.length, 20_000)
  assert.is(order.at(-1)?.name, 'm.n19999')
})

test.run()
