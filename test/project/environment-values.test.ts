// What is said of a variable that a setting needs.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { missingHint } from '../../src/project/environment-values.ts'

test('a variable that is set to nothing is not another name for itself', () => {
  assert.is(
    missingHint('GH', [{ PATH: '/bin' }, { GH: '' }]),
    'GH is there and empty: give it a value in the environment or in .env',
  )
})

test('one that is not set is to be set, or is spelled otherwise', () => {
  assert.is(missingHint('GH', [{ PATH: '/bin' }]), 'set GH in the environment or in .env')
  assert.is(missingHint('GH_SECRET', [{ GH_SECRT: 'x' }]), 'did you mean "GH_SECRT"?')
})

test.run()
