// A JSON column keeps numbers as they were sent, from the door to the table: EXACT_MEMBER.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { seededRandom } from '../buffer/seeded-random.ts'
import { readEvent } from '../../src/collect/read-events.ts'
import { openDoor } from '../../src/collect/validate-event.ts'
import { sql } from '../../src/core/sql.ts'
import { FakeClaims } from './fake-claims.ts'
import { events, fixture } from './fixture.ts'

const model = events('raw.e', { id: 'INTEGER!', doc: 'JSON', "it's": 'JSON' })
const door = openDoor(model)

/** As it is in the buffer. */
const stored = (text: string) => Buffer.from(readEvent(door, Buffer.from(text), 1e6)[0]!).toString()

const SEED = 20_260_303
const NUMBERS = 3_000

/** A number as senders may spell it. */
function randomNumber(random: () => number): string {
  const digits = (count: number) =>
    Array.from({ length: count }, () => Math.floor(random() * 10)).join('')
  const below = (count: number) => Math.floor(random() * count)
  const whole = below(3) === 0 ? '0' : `${1 + below(9)}${digits(below(24))}`
  const fraction = below(3) === 0 ? '' : `.${'0'.repeat(below(8))}${digits(1 + below(20))}`
  const exponent = below(4) === 0 ? `${'eE'[below(2)]}${['', '+', '-'][below(3)]}${below(420)}` : ''
  const plain = [String(random()), String(below(1000) / 100), `${below(1e6)}.0`]
  return below(3) === 0
    ? plain[below(3)]!
    : `${below(4) === 0 ? '-' : ''}${whole}${fraction}${exponent}`
}

test(`${NUMBERS} numbers of any spelling come back as they were sent`, async () => {
  await using space = await fixture()
  const random = seededRandom(SEED)
  const numbers = Array.from({ length: NUMBERS }, () => randomNumber(random))
  const claims = new FakeClaims(space.path('buffer'))
  const lines = numbers.map((number, id) =>
    stored(`{"id":${id},"doc":${number},"it's":{"a":[${number},"x"]}}`),
  )
  await claims.add('raw.e', lines)
  await space.ok([model], { openClaims: () => Promise.resolve(claims) })
  const rows = await space.rows(
    sql`SELECT doc::VARCHAR AS doc, "it's"::VARCHAR AS its FROM raw.e ORDER BY raw.e.id`,
  )
  assert.is(rows.length, NUMBERS)
  for (const [id, number] of numbers.entries())
    assert.equal(rows[id], { doc: number, its: `{"a":[${number},"x"]}` }, lines[id])
  const kept = lines.filter((line) => line.includes('$exact')).length
  assert.ok(kept > NUMBERS / 10 && kept < NUMBERS, `${kept} are kept as text`)
})

test('a field of that name that somebody sends changes nothing', async () => {
  await using space = await fixture()
  const claims = new FakeClaims(space.path('buffer'))
  const odd = ['5', 'null', '"x"', '[1]', '{"doc":5}', '{"doc":"2"}', '{"doc":"{"}', '{"doc":null}']
  const lines = odd.map((value, id) => stored(`{"id":${id},"doc":{"n":1},"$exact":${value}}`))
  await claims.add('raw.e', lines)
  await space.ok([model], { openClaims: () => Promise.resolve(claims) })
  const rows = await space.rows(sql`SELECT DISTINCT doc::VARCHAR AS doc FROM raw.e`)
  assert.equal(rows, [{ doc: '{"n":1}' }])
  assert.throws(() => stored('{"id":1,"doc":1.50,"$exact":1}'), /\$exact/)
})

test('an event that is set aside keeps them too, until its model is mended', async () => {
  await using space = await fixture()
  const claims = new FakeClaims(space.path('buffer'))
  const wide = openDoor(events('raw.e', { id: 'BIGINT!', doc: 'JSON' }))
  const read = (text: string) => Buffer.from(readEvent(wide, Buffer.from(text), 1e6)[0]!).toString()
  await claims.add('raw.e', [
    read('{"id":1,"doc":[0.12345678901234567890]}'),
    read('{"id":3000000000,"doc":[12.50]}'),
  ])
  const summary = await space.ok([model], { openClaims: () => Promise.resolve(claims) })
  assert.equal(summary.flushed, [{ model: 'raw.e', events: 1, rejected: 1 }])
  await space.ok([events('raw.e', { id: 'BIGINT!', doc: 'JSON' })], {
    openClaims: () => Promise.resolve(claims),
  })
  assert.equal(await space.rows(sql`SELECT doc::VARCHAR AS doc FROM raw.e ORDER BY raw.e.id`), [
    { doc: '[0.12345678901234567890]' },
    { doc: '[12.50]' },
  ])
})

test('a column of that name: numbers that a double changes are refused', () => {
  const taken = openDoor(events('raw.e', { $Exact: 'INTEGER', doc: 'JSON' }))
  const read = (text: string) => readEvent(taken, Buffer.from(text), 1e6)
  assert.throws(() => read('{"doc":12345678901234567.25}'), /a double changes/)
  assert.is(Buffer.from(read('{"doc":12.50}')[0]!).toString(), '{"doc":12.50}')
})

test.run()
