// Each fault that is put back (faults.ts) is found, so the simulation can find its like.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { live } from './child.ts'
import { faults } from './faults.ts'

const MOST_LIVES = 80

for (const [fault, { plan, found, seed: first }] of Object.entries(faults))
  test(`found: ${fault}`, async () => {
    const lived = await live({ first, last: first + MOST_LIVES, plan, fault })
    const { seed, wrong } = lived.at(-1)!
    process.stdout.write(`seed ${seed}: ${wrong}\n`)
    assert.match(wrong ?? 'nothing was found', found)
  })

test('a seed gives a fault again, to the byte', async () => {
  const [fault, { plan, seed }] = Object.entries(faults).find(([name]) => name.includes('keys'))!
  const seeds = { first: seed, last: seed, plan, fault }
  const [one, other] = await Promise.all([live(seeds), live(seeds)])
  assert.is.not(one[0]!.wrong, null)
  assert.equal(one, other)
})

test.run()
