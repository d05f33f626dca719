import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../src/core/limits.ts'
import { inSlices } from '../../src/core/time-slices.ts'

/** Each step takes longer than a slice. */
function* slow(steps: number): Generator<number> {
  for (let i = 0; i < steps; i++) {
    const until = performance.now() + limits.sliceMs + 1
    while (performance.now() < until);
    yield i
  }
}

test('what takes long lets others have their turn, and gives all of it in its order', async () => {
  let turns = 0
  const count = () => {
    turns++
    immediate = setImmediate(count)
  }
  let immediate = setImmediate(count)
  const made: number[] = []
  for await (const slice of inSlices(slow(4))) made.push(...slice)
  clearImmediate(immediate)
  assert.equal(made, [0, 1, 2, 3])
  assert.ok(turns >= 3, `${turns} turns`)
})

test('nothing is nothing', async () => {
  const made: number[] = []
  for await (const slice of inSlices(slow(0))) made.push(...slice)
  assert.equal(made, [])
})

test.run()
