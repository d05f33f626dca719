// What a token may look like.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { newToken } from '../../src/access/hashed-tokens.ts'

test('a token that begins with a dash is drawn again', () => {
  // The first six bits of both are those of a dash in base64url.
  const draws = [Buffer.from([0xfb, 0xef, 0xbe]), Buffer.from([0xf8, 0, 0]), Buffer.from([1, 2, 3])]
  assert.is(
    newToken(3, () => draws.shift()!),
    'AQID',
  )
  assert.is(draws.length, 0)
})

test.run()
