// The quickest look at an event only ever says yes to what the closer looks take as it is.

import { isUtf8 } from 'node:buffer'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { quickEnd } from '../../../src/collect/validate/fast-path.ts'
import {
  validateEvent,
  type Validator,
  createValidator,
} from '../../../src/collect/validate/validate-event.ts'
import { RequestError } from '../../../src/http/request-error.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { pick } from '../../support/front-requests.ts'
import { eventsModel } from '../../support/handmade-models.ts'

const EVENTS = 40_000
const MAX_BYTES = 300

const validator = createValidator(
  eventsModel(
    'raw.t',
    'id BIGINT NOT NULL',
    'small TINYINT',
    'name VARCHAR NOT NULL',
    'amount DECIMAL(18,4)',
    'ratio DOUBLE',
    'ok BOOLEAN',
    'at TIMESTAMP WITH TIME ZONE',
    'data JSON',
    'größe VARCHAR',
    'received_at TIMESTAMP WITH TIME ZONE',
  ),
)
const closer: Validator = { ...validator, quick: null }

function outcome(through: Validator, body: Buffer, limit: number): string {
  try {
    const { stored, end } = validateEvent(through, body, 0, limit, MAX_BYTES)
    return `${end} ${Buffer.from(stored).toString()}`
  } catch (error) {
    assert.instance(error, RequestError)
    return `${(error as RequestError).code} ${(error as RequestError).message}`
  }
}

const GOOD: Readonly<Record<string, string>> = {
  id: '1',
  small: '-7',
  name: '"n"',
  amount: '"129.9500"',
  ratio: '0.25',
  ok: 'true',
  at: '"2026-01-01T08:30:00.123Z"',
  data: '1.5',
  größe: '"ü"',
}
const NAMES = Object.keys(GOOD)
const NUMBERS = [
  '0',
  '-0',
  '7',
  '-12',
  '127',
  '128',
  '1.50',
  '-1.',
  '.5',
  '01',
  '-',
  '1e3',
  '1E-400',
]
const LONG = [
  '9007199254740993',
  '999999999999999',
  '0.1234567890123',
  '12345678901.1234',
  '1.00000',
]
const TEXTS = [
  '',
  'a',
  'é€😀',
  '12',
  '-3.25',
  '2026-01-01T08:30:00.123Z',
  '2026-02-30',
  'true',
  'NaN',
]
const RAW = ['\\n', '\\"', '\\u0041', '\\ud800', '\\x', '\\', '\t', '\0', '\u007f']
const WORDS = [
  'true',
  'false',
  'null',
  'nul',
  'True',
  'nullx',
  '{}',
  '[1,"a"]',
  '{"a":{"a":1}}',
  '',
]
const SPACES = ['', '', '', '', '', '', '', '', ' ', '\n', '\r\n\t']

function randomValue(random: () => number): string {
  const kind = random()
  if (kind < 0.3) return pick(random, random() < 0.7 ? NUMBERS : LONG)
  if (kind < 0.75) return `"${pick(random, TEXTS)}${random() < 0.1 ? pick(random, RAW) : ''}"`
  return pick(random, WORDS)
}

function randomEvent(random: () => number): string {
  const space = () => pick(random, SPACES)
  const isOrdered = random() < 0.5
  const count = Math.floor(random() * 5)
  const names = Array.from({ length: count }, () => pick(random, NAMES))
  if (random() < 0.7) names.unshift('id', 'name')
  if (random() < 0.1) names.push('unknown')
  if (isOrdered) names.sort((a, b) => NAMES.indexOf(a) - NAMES.indexOf(b))
  const members = [...(random() < 0.9 ? new Set(names) : names)].map((name) => {
    const value = random() < 0.85 ? GOOD[name] : undefined
    return `${space()}"${name}"${space()}:${space()}${value ?? randomValue(random)}${space()}`
  })
  const text = `{${members.join(',')}}`
  if (random() < 0.8) return text
  const at = Math.floor(random() * text.length)
  return (
    text.slice(0, at) +
    pick(random, ['', '}', ',', '"', '\\', '0', ':', '\u00a0']) +
    text.slice(at + 1)
  )
}

test(`${EVENTS} events, with the quickest look and without`, () => {
  const random = seededRandom(20260202)
  let [quick, refused] = [0, 0]
  for (let n = 0; n < EVENTS; n++) {
    const text = randomEvent(random)
    // As a line of NDJSON too: what is behind the line is none of its business.
    const body = Buffer.from(`${text}${pick(random, ['', '', '\n"}', '\n}', ',{"id":1}'])}`)
    assert.ok(isUtf8(body))
    const limit = random() < 0.5 ? Buffer.byteLength(text) : body.length
    const [ours, theirs] = [outcome(validator, body, limit), outcome(closer, body, limit)]
    assert.is(ours, theirs, JSON.stringify(body.toString()))
    if (quickEnd(validator.quick!, body, 0, limit) !== -1) quick++
    if (/^[a-z]/.test(theirs)) refused++
  }
  assert.ok(quick > EVENTS / 10, `only ${quick} were seen quickly`)
  assert.ok(refused > EVENTS / 10, `only ${refused} were refused`)
})

test('what the quickest look takes', () => {
  const end = (text: string) =>
    quickEnd(validator.quick!, Buffer.from(text), 0, Buffer.byteLength(text))
  for (const yes of [
    '{"id":1,"name":"n"}',
    '{ "name" : "n" ,\n"id" : -1 }',
    '{"id":1,"name":"é","größe":"ü","amount":"1.50","at":"2026-01-01T00:00:00Z","data":1.25}',
  ])
    assert.is(end(yes), Buffer.byteLength(yes), yes)
  for (const no of [
    '{}',
    '{"id":1}',
    '{"id":1,"name":"n","id":1}',
    '{"id":1,"name":"n","unknown":1}',
    '{"id":1,"name":"a\\nb"}',
    '{"id":1,"name":"n","data":{}}',
    '{"id":1,"name":"n","data":1.50}',
    '{"id":1,"name":null}',
    '{"id":1,"name":"n","at":"é"}',
    '{"id":1,"name":"n",}',
    '{"id":1,"name":"n"',
    '{"id":1,"name":"n',
    '{"id":1234567890123456,"name":"n"}',
  ])
    assert.is(end(no), -1, no)
  const inherited = createValidator(eventsModel('raw.t', 'constructor VARCHAR NOT NULL'))
  assert.match(outcome(inherited, Buffer.from('{}'), 2), /^missing-field /)
  const odd = createValidator(eventsModel('raw.t', '"a\\b" VARCHAR'))
  assert.is(odd.quick, null)
})

test.run()
