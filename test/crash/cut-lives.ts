// Lives of buffer and flush, each cut at one point; in the end each accepted event is in the table once and each refused
// batch nowhere. What is tried is the same in every run: the seeds count up.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Life, openWorld, type Victim } from './life.ts'

/** EIDER_CRASH_POINTS=all tries every point of ten times as many lives. */
const all = process.env['EIDER_CRASH_POINTS'] === 'all'
/** Otherwise every third point of a life, so that more different lives are cut. */
const STRIDE = all ? 1 : 3

export function testCutLives(victim: Victim, what: string, points: number): void {
  const atLeast = all ? 10 * points : points
  test(`${what}, at ${atLeast} different points: accepted events once, refused ones nowhere`, async () => {
    process.stdout.write(`${await cutLives(victim, atLeast)} points\n`)
  })
}

/** Tries points of lives with seeds 1, 2, … until there are `atLeast` different ones. Gives their number. */
async function cutLives(victim: Victim, atLeast: number): Promise<number> {
  await using world = await openWorld()
  const tried = new Set<string>()
  for (let seed = 1; tried.size < atLeast; seed++) {
    const whole = new Life(world, seed, victim)
    await whole.live()
    const { points } = whole
    assert.is(await whole.recover(), null, `${victim}, seed ${seed}, not cut`)
    for (let point = 1 + (seed % STRIDE); point <= points; point += STRIDE)
      // A run is killed between two steps, which is one point and not two.
      for (const when of victim === 'run' ? (['after'] as const) : (['before', 'after'] as const)) {
        const life = new Life(world, seed, victim)
        life.cutAt(point, when)
        await life.live()
        const name = `${victim}, seed ${seed}, cut ${when} point ${point}`
        assert.is(await life.recover(), null, name)
        tried.add(name)
      }
  }
  return tried.size
}
