// Random events through the validator: the quick look and the exact one never disagree, and no bytes get past it that are
// not one JSON object.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { readEvent, readJsonBatch } from '../../src/collect/read/read-events.ts'
import { createValidator } from '../../src/collect/validate/validate-event.ts'
import { columnNames, EventScan } from '../../src/collect/validate/scan-event.ts'
import { ruleOf } from '../../src/collect/validate/value-rules.ts'
import { columnType } from '../../src/core/relation.ts'
import { parseType } from '../../src/core/type-syntax.ts'
import { RequestError } from '../../src/http/request-error.ts'
import { eventsModel } from '../support/handmade-models.ts'

const SEED = 20240501
const ROUNDS = 20_000

/** mulberry32: the same numbers for the same seed. */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const SCALARS = [
  'null',
  'true',
  'false',
  '0',
  '-0',
  '1',
  '-1',
  '127',
  '128',
  '1.5',
  '1.0',
  '1e3',
  '1e-3',
  '0.1',
  '12.34',
  '99.99',
  '1e400',
  '9007199254740993',
  '123456789012345',
  '1234567890123456',
  '0.30000000000000004',
  '"a"',
  '""',
  '"1"',
  '"x y"',
  '"2024-02-29"',
  '"2024-01-01T10:00:00Z"',
  '"10:00:00"',
  '"\\u0041"',
  '"\\ud83d\\ude00"',
  '"\\ud800"',
  '"]},{"',
  '"é"',
  '"\\\\"',
  '"550e8400-e29b-41d4-a716-446655440000"',
  '"1 day"',
]
const NAMES = ['a', 'b', 'c', 'x y', '__proto__', 'constructor', '1', 'é', '\\u0061']

function randomJson(random: () => number, depth: number): string {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)]!
  const space = () => pick(['', '', '', ' ', '\n', '\t\r\n'])
  const value = (left: number): string => {
    const kind = left === 0 ? 0 : random()
    const items = (make: () => string) =>
      Array.from({ length: Math.floor(random() * 4) }, make).join(`${space()},${space()}`)
    if (kind < 0.6) return pick(SCALARS)
    if (kind < 0.8) return `[${space()}${items(() => value(left - 1))}${space()}]`
    return object(left)
  }
  const object = (left: number): string => {
    const member = () => `"${pick(NAMES)}"${space()}:${space()}${value(left - 1)}`
    const members = Array.from({ length: Math.floor(random() * 5) }, member)
    return `{${space()}${members.join(`${space()},${space()}`)}${space()}}`
  }
  return object(depth)
}

test('what a rule takes as it was sent is valid, for every type', () => {
  const random = randomNumbers(SEED)
  const types = [
    'BOOLEAN',
    'TINYINT',
    'BIGINT',
    'UBIGINT',
    'HUGEINT',
    'DECIMAL(4,2)',
    'DECIMAL(18,4)',
    'DECIMAL(38,10)',
    'FLOAT',
    'DOUBLE',
    'VARCHAR',
    'JSON',
    'JSON[]',
    'STRUCT(a JSON, b BIGINT)',
    'DATE',
    'TIME',
    'TIMESTAMP',
    'TIMESTAMP WITH TIME ZONE',
    'UUID',
    'INTERVAL',
    `ENUM('a', '1')`,
    'INTEGER[]',
    'VARCHAR[]',
    'DECIMAL(9,2)[]',
    'STRUCT(a INTEGER, b VARCHAR)',
    'MAP(VARCHAR, INTEGER)',
    'MAP(DATE, DOUBLE[])',
    'UNION(a INTEGER)',
  ].map((type) => ({ type, rule: ruleOf(parseType(columnType(type))) }))
  const scan = new EventScan()
  const names = columnNames(['v'])
  let accepted = 0
  for (let round = 0; round < ROUNDS; round++) {
    const text = random() < 0.5 ? SCALARS[round % SCALARS.length]! : randomJson(random, 2).slice(5)
    const body = Buffer.from(`{"v":${text}}`)
    // null is never asked about, and with long numbers and odd text all values are looked at again.
    if (scan.read(body, 0, body.length, names) !== body.length || scan.places[0] === 0) continue
    const node = scan.places[0]!
    if (text === 'null' || scan.hasLongNumber || scan.hasSurrogate || scan.repeatsName) continue
    for (const { type, rule } of types) {
      if (rule(scan.spans, node, null) !== null) continue
      accepted++
      assert.is(rule(scan.spans, node, { edits: [], json: [] }), null, `${type} of ${text}`)
    }
  }
  assert.ok(accepted > ROUNDS, `only ${accepted} values were accepted`)
})

test('what is let in is the JSON object that was sent, and no field comes twice', () => {
  const random = randomNumbers(SEED + 1)
  const validator = createValidator(eventsModel('raw.t', 'a JSON', 'z VARCHAR'))
  const counts = { in: 0, duplicate: 0, surrogate: 0 }
  for (let round = 0; round < ROUNDS; round++) {
    const text = randomJson(random, 4)
    const refused = attempt(() => {
      const line = stored(readEvent(validator, Buffer.from(text), 1e6))
      // A value whose numbers are spelled oddly is there once more, as text.
      assert.is(line.replace(/,"x":\{"a JSON":"(?:[^"\\]|\\.)*"\}$/, ''), text)
    })
    if (refused === 'duplicate-field') counts.duplicate++
    else if (refused === 'lone-surrogate') counts.surrogate++
    else assert.is(refused, null, text)
    if (refused !== null) continue
    counts.in++
    const seen = namesOf(text)
    assert.is(seen, namesOf(JSON.stringify(JSON.parse(text))), text)
    assert.not.match(JSON.stringify(JSON.parse(text)), '\\ud800')
  }
  for (const [what, count] of Object.entries(counts)) assert.ok(count > 100, `${what}: ${count}`)
})

test('a damaged body is refused, or is a JSON object still', () => {
  const random = randomNumbers(SEED + 2)
  const validator = createValidator(eventsModel('raw.t', 'a JSON', 'b BIGINT'))
  let refusals = 0
  for (let round = 0; round < ROUNDS; round++) {
    const body = Buffer.from(`[${randomJson(random, 3)},${randomJson(random, 3)}]`)
    const at = Math.floor(random() * body.length)
    body[at] = random() < 0.5 ? Math.floor(random() * 256) : '[]{}",:\\0-e\n'.charCodeAt(round % 12)
    const cut = random() < 0.3 ? body.subarray(0, at) : body
    const refused = attempt(() => {
      const events = readJsonBatch(validator, cut, 1e6)
      assert.is(events.length, (JSON.parse(cut.toString()) as unknown[]).length, cut.toString())
      for (const event of events)
        assert.type((JSON.parse(lineOf(event)) as { e: unknown }).e, 'object')
    })
    if (refused !== null) refusals++
  }
  assert.ok(refusals > ROUNDS / 4 && refusals < ROUNDS, String(refusals))
})

/** A line of a segment, where members may follow the event. */
const lineOf = (event: Uint8Array) => `{"e":${Buffer.from(event).toString()}}`

const stored = ([event]: readonly Uint8Array[]) => Buffer.from(event!).toString()

/** Names of members in a text, without regard to their objects. */
const namesOf = (text: string) =>
  (text.replace(/"(?:[^"\\]|\\.)*"/g, 's').match(/s\s*:/g) ?? []).length

function attempt(work: () => void): string | null {
  try {
    work()
    return null
  } catch (error) {
    if (error instanceof RequestError) return error.code
    throw error
  }
}

test.run()
