// Long work in slices, which yields to other requests in between.

import { setImmediate as nextLoopTurn } from 'node:timers/promises'
import { limits } from './limits.ts'

/** What `steps` yields, as much at a time as it makes in `limits.sliceMs`. */
export async function* inSlices<T>(steps: Iterable<T>): AsyncGenerator<readonly T[], void> {
  let slice: T[] = []
  let since = performance.now()
  for (const made of steps) {
    slice.push(made)
    if (performance.now() - since < limits.sliceMs) continue
    yield slice
    slice = []
    await nextLoopTurn()
    since = performance.now()
  }
  yield slice
}

/** What `steps` returns, made in the same way. */
export async function resultInSlices<T>(steps: Generator<unknown, T>): Promise<T> {
  for (let since = performance.now(); ;) {
    const step = steps.next()
    if (step.done === true) return step.value
    if (performance.now() - since < limits.sliceMs) continue
    await nextLoopTurn()
    since = performance.now()
  }
}
