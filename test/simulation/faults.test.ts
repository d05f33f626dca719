// Each fault that is put back (faults.ts) is found, so the simulation can find its like.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { testsSharing } from '../support/shared.ts'
import { live } from './child.ts'
import { faults } from './faults.ts'

const MOST_LIVES = 80

for (const [fault, { plan, found, seed: first }] of Object.entries(faults)) {
  const testFault = testsSharing(async () => {
    const lived = await live({ first, last: first + MOST_LIVES, plan, fault })
    return { last: lived.at(-1)!, async [Symbol.asyncDispose]() {} }
  })

  testFault(`found: ${fault}`, ({ last: { seed, wrong } }) => {
    process.stdout.write(`seed ${seed}: ${wrong}\n`)
    assert.match(wrong ?? 'nothing was found', found)
  })

  if (fault.includes('keys'))
    testFault('a seed gives a fault again, to the byte', async ({ last }) => {
      const seeds = { first: last.seed, last: last.seed, plan, fault }
      assert.is.not(last.wrong, null)
      assert.equal(await live(seeds), [last])
    })
}

test.run()
