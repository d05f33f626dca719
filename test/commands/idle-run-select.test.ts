// A run of some models, where nothing has changed, does without the engine as one of all does, and leaves the same as with it.
// Where something has changed, it hides from no later run what it has left to do.

import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  historyOf,
  isIdle,
  note,
  overwrite,
  run,
  settle,
  SHOP,
  waiting,
} from '../support/idle-project.ts'
import { workspace } from '../support/workspace.ts'

const SELECTIONS = [
  ['mart.named'],
  ['+mart.named', '--exclude', 'ref.countries'],
  ['state:modified'],
  ['kind:view'],
]

test('a run of some models says the same with the engine and without', async () => {
  await using space = await workspace(SHOP)
  await space.ok(['run'])
  await settle(space)
  for (const args of SELECTIONS) {
    const before = waiting(space)
    const said = async () => {
      const { stdout } = await space.ok(['run', '--json', ...args])
      const shown = (await space.ok(['run', ...args])).stdout
      const results = readFileSync(space.path('target/run_results.json'), 'utf8')
      return [stdout, shown, results].map((text) =>
        text
          .replaceAll(/\d{8}T\d{6}Z-\w+/g, 'ID')
          .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
          .replaceAll(/"ms": ?\d+|in \d[\d.]* m?s/g, 'MS'),
      )
    }
    const short = await said()
    assert.is(waiting(space), before + 2, `the engine was started for ${args.join(' ')}`)
    assert.ok(isIdle(await run(space)))
    assert.is(waiting(space), before + 3, `the engine was started after ${args.join(' ')}`)
    await rm(note(space))
    assert.equal(await said(), short)
    assert.is(waiting(space), 0)
    await settle(space)
  }
  const ids = await historyOf(space)
  assert.is(new Set(ids).size, ids.length)
})

test('what a run of some models has left is done by the next one', async () => {
  await using space = await workspace(SHOP)
  await space.ok(['run'])
  await settle(space)
  await overwrite(space, 'data/rates.csv', 'NO,1', 'NO,5')
  const built = (results: Awaited<ReturnType<typeof run>>) =>
    results.flatMap(({ model, status }) => (status === 'built' ? [model] : []))
  assert.equal(built(await run(space, { args: ['core.rates'] })), ['core.rates'])
  assert.equal(built(await run(space, { args: ['mart.ordered'] })), [])
  assert.equal(built(await run(space, { args: ['state:modified'] })), [])
  assert.equal(built(await run(space)), ['mart.named'])
  assert.ok(isIdle(await run(space)))
})

test.run()
