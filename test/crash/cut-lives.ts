// Lives of buffer and flush, each cut at one point; in the end each accepted event is in the table once and each refused
// batch nowhere. What is tried is the same in every run: the seeds of lives count up.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Life, openWorld, type Victim } from './life.ts'
import { crashSeed, isLong, testGroups } from './long-form.ts'

/** The long form tries every point of ten times as many lives; the short one every seventh, of more different lives. */
const STRIDE = isLong ? 1 : 7
const GROUPS = 10
/** More lives than a group has. */
const LIVES = 10_000

/** `most`: points that a group of the long form tries; the short one, beside simulated lives, an eighth of them. */
export function testCutLives(victim: Victim, what: string, most: number): void {
  const points = isLong ? most : Math.ceil(most / 8)
  const name = `${what}, at ${points} different points: accepted events once, refused ones nowhere`
  if (isLong)
    testGroups(GROUPS, name, (group) =>
      cutLives(victim, points, LIVES * (GROUPS * (crashSeed - 1) + group - 1)),
    )
  else
    test(name, async () => {
      process.stdout.write(`${await cutLives(victim, points, 0)} different points\n`)
    })
}

/** Tries points of lives until they were cut at `atLeast` different ones, counting seeds up. Gives their number. */
async function cutLives(victim: Victim, atLeast: number, seedsBefore: number): Promise<number> {
  await using world = await openWorld()
  const reached = new Set<string>()
  for (let seed = seedsBefore + 1; reached.size < atLeast; seed++) {
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
        if (life.isCut) reached.add(name)
      }
  }
  return reached.size
}
