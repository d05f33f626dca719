// Histories at random, compared with full rebuilds after each whole run, and at the end with all that one run makes of their
// events in a new warehouse (test/support/histories/). A seed is the number of
// a history; several are in one warehouse, and the first of their seeds says what happens to all of them.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { World } from '../../support/histories/world.ts'
import { setSmallTables } from '../../support/small-tables.ts'
import { openProject } from '../../support/pipeline-project.ts'

const ASKED = process.env['EIDER_HISTORIES']
const HISTORIES = Number(ASKED ?? 7)
const SEED = Number(process.env['EIDER_HISTORIES_SEED'] ?? 1)
const IN_ONE = Number(process.env['EIDER_HISTORIES_TOGETHER'] ?? 16)
const STEPS = 5

test(`${HISTORIES} histories from seed ${SEED}`, async () => {
  for (let first = SEED; first < SEED + HISTORIES; first += IN_ONE) {
    await using space = await openProject()
    const seeds = Array.from(
      { length: Math.min(IN_ONE, SEED + HISTORIES - first) },
      (_, i) => first + i,
    )
    const world = await World.begin(space, seeds).catch((error: unknown) => said(error, seeds, []))
    for (let i = 0; i < STEPS; i++) {
      setSmallTables((first + i) % 2 === 0 ? 'updated' : 'compared')
      await world.step().catch((error: unknown) => said(error, seeds, world.logs))
    }
    await using fresh = await openProject()
    const compared = await world
      .compareWith(fresh)
      .catch((error: unknown) => said(error, seeds, world.logs))
    assert.ok(compared > 0)
  }
  if (ASKED !== undefined) process.stdout.write(`${HISTORIES} histories\n`)
})

function said(
  error: unknown,
  [first = SEED, ...more]: readonly number[],
  logs: readonly string[],
): never {
  const why = error instanceof Error ? error.message : String(error)
  const again = `EIDER_HISTORIES=${more.length + 1} EIDER_HISTORIES_SEED=${first} EIDER_HISTORIES_TOGETHER=${more.length + 1} node dist/test/run.js random-histories`
  // The model that is named ends in the seed of its history.
  const own = /_(\d+): /.exec(why)?.[1]
  const log = logs.filter((line) => own === undefined || line.startsWith(`${own}:`)).join('\n')
  throw new Error(`${why}\n${log}\nagain: ${again}`, { cause: error })
}

test.run()
