// What is recognized by its bytes is what the rule takes as a text too.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { ruleFor } from '../../../src/collect/validate/value-rules.ts'
import { columnType } from '../../../src/core/relation.ts'
import { pick } from '../../support/front-requests.ts'
import { seededRandom } from '../../support/seeded-random.ts'

const ROUNDS = 40_000
const INSTANTS = [
  'TIMESTAMP',
  'TIMESTAMP_S',
  'TIMESTAMP_MS',
  'TIMESTAMP_NS',
  'TIMESTAMP WITH TIME ZONE',
]
const DECIMALS = ['DECIMAL(18,4)', 'DECIMAL(4,4)', 'DECIMAL(9,0)', 'DECIMAL(38,10)']
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

const rules = [...INSTANTS, ...DECIMALS].map((type) => ({ type, rule: ruleFor(columnType(type)) }))

test(`${ROUNDS} texts, each in ${rules.length} types`, () => {
  let [quick, accepted] = [0, 0]
  for (const text of nearlyGood(seededRandom(20260727))) {
    // As in a body: what is around the text is none of its business.
    const bytes = Buffer.from(`1${text}1`)
    for (const { type, rule } of rules) {
      const isAccepted = rule.accepts(text)
      if (isAccepted) accepted++
      if (rule.acceptsBytes?.(bytes, 1, bytes.length - 1) !== true) continue
      quick++
      assert.ok(isAccepted, `${type} of ${JSON.stringify(text)}`)
    }
  }
  assert.ok(quick > accepted / 3, `only ${quick} of ${accepted} were recognized`)
})

test('what is recognized', () => {
  const recognizes = (type: string, text: string) =>
    ruleFor(columnType(type)).acceptsBytes?.(Buffer.from(text), 0, text.length) ?? false
  for (const [type, text, expected] of [
    ['TIMESTAMP WITH TIME ZONE', '2026-01-01T08:30:00.123Z', true],
    ['TIMESTAMP', '2026-01-01T08:30:00Z', true],
    ['TIMESTAMP_S', '2026-01-01T08:30:00.5Z', false],
    ['TIMESTAMP_MS', '2026-01-01T08:30:00.123Z', true],
    ['TIMESTAMP_MS', '2026-01-01T08:30:00.1234Z', false],
    ['TIMESTAMP_NS', '2026-01-01T08:30:00.123Z', false],
    ['TIMESTAMP', '2026-01-01T08:30:00.Z', false],
    ['TIMESTAMP', '2026-01-01T24:00:00Z', false],
    ['TIMESTAMP', '2026-01-29T08:30:00Z', false],
    ['TIMESTAMP', '0000-01-01T08:30:00Z', false],
    ['TIMESTAMP', '', false],
    ['DECIMAL(18,4)', '-129.9500', true],
    ['DECIMAL(18,4)', '129', true],
    ['DECIMAL(18,4)', '129.', false],
    ['DECIMAL(18,4)', '1.00000', false],
    ['DECIMAL(18,4)', '01', false],
    ['DECIMAL(18,4)', '-', false],
    ['DECIMAL(18,4)', '', false],
    ['DECIMAL(9,0)', '1.0', false],
    ['VARCHAR', 'a', false],
  ] as const)
    assert.is(recognizes(type, text), expected, `${type} of ${text}`)
})

test.run()
