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

test.run()
