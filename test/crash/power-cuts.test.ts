// Of what was not synced anything may be gone, in any order.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { testCutLives } from './cut-lives.ts'
import { Life, openWorld } from './life.ts'

testCutLives('machine', 'the power goes', 900)

test('control: on a disk that does not sync the same check finds losses', async () => {
  await using world = await openWorld()
  const wrong = new Set<string>()
  for (let seed = 1; seed <= 20; seed++) {
    const life = new Life(world, seed, 'machine', false)
    life.cutAt(20, 'after')
    await life.live()
    const found = await life.recover()
    if (found !== null) wrong.add(found.replace(/\d+/, 'N'))
  }
  assert.ok(wrong.has('call N was accepted and is lost'), [...wrong].join('; '))
})

test.run()
