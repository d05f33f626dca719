// Lives of a project, each by its seed: nothing that was accepted is lost or doubled, and no reader sees half of a state.
//
// EIDER_SIMULATION_SEEDS=<n> tries so many, EIDER_SIMULATION_SEED another first one.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { testsSharing } from '../support/shared.ts'
import { live } from './child.ts'
import type { Lived } from './plan.ts'

const SEEDS = Number(process.env['EIDER_SIMULATION_SEEDS'] ?? 40)
const FIRST = Number(process.env['EIDER_SIMULATION_SEED'] ?? 1)
const AT_ONCE = 2
/** To start a process and to compile the project takes as long as a life or two. */
const OF_ONE_PROCESS = 200

/** Opened once: the first lives are compared with their like in another process. */
const testLives = testsSharing(async () => {
  const all: Lived[] = []
  let next = FIRST
  const share = Math.min(OF_ONE_PROCESS, Math.ceil(SEEDS / AT_ONCE))
  const go = async () => {
    while (next < FIRST + SEEDS) {
      const first = next
      next = Math.min(next + share, FIRST + SEEDS)
      all.push(...(await live({ first, last: next - 1 })))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, go))
  return { all, async [Symbol.asyncDispose]() {} }
})

testLives(
  `${SEEDS} lives from seed ${FIRST} on: what is accepted is there once, and states are whole`,
  ({ all }) => {
    const sum = (count: (lived: Lived) => number) =>
      all.reduce((total, lived) => total + count(lived), 0)
    const wrong = all.flatMap(({ seed, wrong }) =>
      wrong === null ? [] : [`seed ${seed}: ${wrong}`],
    )
    process.stdout.write(
      `${all.length} lives, ${sum((l) => l.accepted)} accepted requests, ${sum((l) => l.runs)} runs, ` +
        `${sum((l) => l.cuts)} power cuts, ${sum((l) => l.answers)} answers; ${wrong.length} wrong\n`,
    )
    assert.equal(wrong, [])
    assert.is(all.length, SEEDS)
    // A life in which nothing is asked shows nothing.
    for (const count of [(l: Lived) => l.accepted, (l: Lived) => l.done, (l: Lived) => l.answers])
      assert.ok(sum(count) >= SEEDS / 2)
  },
)

testLives('a seed gives the same life again, to the byte', async ({ all }) => {
  const again = await live({ first: FIRST, last: FIRST + Math.min(SEEDS, 4) - 1 })
  const before = again.map(({ seed }) => all.find((lived) => lived.seed === seed))
  assert.equal(before, again)
})

test.run()
