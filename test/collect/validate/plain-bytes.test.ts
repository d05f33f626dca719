// What is recognized by its bytes is what it looks like as a text too.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { isPlainDecimal, isPlainInstant } from '../../../src/collect/validate/plain-bytes.ts'
import { isTimestamp, secondFractionDigits } from '../../../src/collect/validate/scalar-rules.ts'
import { pick } from '../../support/front-requests.ts'
import { seededRandom } from '../../support/seeded-random.ts'

const ROUNDS = 40_000
/** DECIMAL(18,4) and others: digits before the point and after it, and the texts. */
const DECIMALS = [
  [14, 4, /^-?(?:0|[1-9]\d{0,13})(?:\.\d{1,4})?$/],
  [0, 4, /^-?0(?:\.\d{1,4})?$/],
  [9, 0, /^-?(?:0|[1-9]\d{0,8})$/],
  [28, 10, /^-?(?:0|[1-9]\d{0,27})(?:\.\d{1,10})?$/],
] as const
const INSTANTS = [0, 3, 6]
const SEEDS = [
  '2026-01-01T08:30:00.123Z',
  '2026-12-28T23:59:59Z',
  '0100-02-28T00:00:00.000001Z',
  '2024-02-29T12:00:00.1234567Z',
  '129.9500',
  '-0.5',
  '0',
  '12345678901234567890.1',
]
const CHARACTERS = '0123456789-:.TZ +/e;@t'.split('')

/** Texts that are nearly good: a character is replaced, left out or put in, or none. */
function* nearlyGood(random: () => number): Generator<string> {
  for (let round = 0; round < ROUNDS; round++) {
    let text = pick(random, SEEDS)
    while (random() < 0.6) {
      const at = Math.floor(random() * (text.length + 1))
      const put = random() < 0.8 ? pick(random, CHARACTERS) : ''
      text = text.slice(0, at) + put + text.slice(random() < 0.8 ? at + 1 : at)
    }
    yield text
  }
}

test(`${ROUNDS} texts as decimals and instants`, () => {
  let [decimals, instants] = [0, 0]
  for (const text of nearlyGood(seededRandom(20260727))) {
    // As in a body: what is around the text is none of its business.
    const bytes = Buffer.from(`1${text}1`)
    for (const [whole, fraction, pattern] of DECIMALS) {
      const isPlain = isPlainDecimal(bytes, 1, bytes.length - 1, whole, fraction)
      assert.is(isPlain, pattern.test(text), `${whole}.${fraction} of ${JSON.stringify(text)}`)
      if (isPlain) decimals++
    }
    for (const digits of INSTANTS) {
      if (!isPlainInstant(bytes, 1, bytes.length - 1, digits)) continue
      instants++
      assert.ok(isTimestamp(text) && secondFractionDigits(text) <= digits, JSON.stringify(text))
    }
  }
  assert.ok(decimals > ROUNDS / 10, `only ${decimals} decimals were recognized`)
  assert.ok(instants > ROUNDS / 10, `only ${instants} instants were recognized`)
})

test('what is recognized as an instant', () => {
  for (const [digits, text, expected] of [
    [6, '2026-01-01T08:30:00.123Z', true],
    [6, '2026-01-01T08:30:00Z', true],
    [0, '2026-01-01T08:30:00.5Z', false],
    [3, '2026-01-01T08:30:00.123Z', true],
    [3, '2026-01-01T08:30:00.1234Z', false],
    [6, '2026-01-01T08:30:00.Z', false],
    [6, '2026-01-01T24:00:00Z', false],
    [6, '2026-01-29T08:30:00Z', false],
    [6, '0000-01-01T08:30:00Z', false],
    [6, '', false],
  ] as const)
    assert.is(isPlainInstant(Buffer.from(text), 0, text.length, digits), expected, text)
})

test.run()
