// JSON keeps numbers as they were sent, from the validator to the table, wherever in the type of a column it is: withExact().

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { seededRandom } from '../../support/seeded-random.ts'
import { readEvent } from '../../../src/collect/read/read-events.ts'
import { createValidator } from '../../../src/collect/validate/validate-event.ts'
import type { EventsModel } from '../../../src/core/model.ts'
import { sql } from '../../../src/core/sql.ts'
import { FakeClaims } from '../../support/fake-claims.ts'
import { events } from '../../support/handmade-models.ts'
import { openProject } from '../../support/pipeline-project.ts'

const model = events('raw.e', {
  id: 'INTEGER!',
  doc: 'JSON',
  "it's": 'JSON',
  e: 'JSON[]',
  x: 'STRUCT(j JSON, d DECIMAL(38, 10), bits BIT, "JSON" VARCHAR)',
  m: 'MAP(JSON, JSON[])',
  u: 'UNION(j JSON, big BIGNUM)',
})

/** As it is in the buffer. */
const stored = (text: string, of: EventsModel = model) =>
  Buffer.from(readEvent(createValidator(of), Buffer.from(text), 1e6)[0]!).toString()

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
  const plain = [String(random()), String(below(1000) / 100), `${below(1e6)}.0`, '-0', '1E+2']
  return below(3) === 0
    ? plain[below(plain.length)]!
    : `${below(4) === 0 ? '-' : ''}${whole}${fraction}${exponent}`
}

test(`${NUMBERS} numbers of any spelling come back as they were sent, at any depth`, async () => {
  await using space = await openProject()
  const random = seededRandom(SEED)
  const numbers = Array.from({ length: NUMBERS }, () => randomNumber(random))
  const claims = new FakeClaims(space.path('buffer'))
  const lines = numbers.map((n, id) =>
    stored(
      `{"id":${id},"doc":${n},"it's":{"a":[${n},"x"]},"e":["x",null, ${n} ,{"x":{"e":${n}}},true],` +
        `"x":{"j":[${n}],"d":0.1234567890,"bits":"01","JSON":"a\\"\\\\n'\\n}"},` +
        `"m":{"1.50":[${n},{}]},"u":${id % 2 === 0 ? `{"j":${n}}` : `{"big":"${'9'.repeat(40)}"}`}}`,
    ),
  )
  await claims.add('raw.e', lines)
  await space.ok([model], { openClaims: () => Promise.resolve(claims) })
  const rows = await space.rows(sql`
    SELECT doc::VARCHAR AS doc, "it's"::VARCHAR AS its, list_transform(e, lambda j: j::VARCHAR) AS e,
      x.j::VARCHAR AS j, x.d::VARCHAR AS d, x.bits::VARCHAR AS bits, x."JSON" AS text,
      map_keys(m)[1]::VARCHAR AS key, map_values(m)[1][1]::VARCHAR AS m, u::VARCHAR AS u
    FROM raw.e ORDER BY raw.e.id`)
  assert.is(rows.length, NUMBERS)
  for (const [id, n] of numbers.entries()) {
    const { e, ...row } = rows[id]!
    assert.equal(
      row,
      {
        doc: n,
        its: `{"a":[${n},"x"]}`,
        j: `[${n}]`,
        d: '0.1234567890',
        bits: '01',
        text: 'a"\\n\'\n}',
        key: '"1.50"',
        m: n,
        u: id % 2 === 0 ? n : '9'.repeat(40),
      },
      lines[id],
    )
    assert.equal(e, ['"x"', null, n, `{"x":{"e":${n}}}`, 'true'], lines[id])
  }
  const kept = lines.filter((line) => /,"x":\{"doc JSON":/.test(line)).length
  assert.ok(kept > NUMBERS / 10 && kept < NUMBERS, `${kept} are kept as text`)
})

test('no field that somebody sends chooses the spelling of another', async () => {
  await using space = await openProject()
  const claims = new FakeClaims(space.path('buffer'))
  const twice = events('raw.e', { id: 'INTEGER!', doc: 'JSON' })
  const claimed = [
    '{"doc JSON":"1.0"}',
    '{"doc":"1.0"}',
    '"1.0"',
    '5',
    'null',
    '[{"doc JSON":"1.0"}]',
  ]
  const fields = claimed.flatMap((value) =>
    ['x', '$exact', 'e', '$commit'].map((name) => [name, value]),
  )
  const lines = fields.flatMap(([name, value], i) => [
    stored(`{"id":${2 * i},"doc":1,"${name}":${value}}`, twice),
    stored(`{"id":${2 * i + 1},"doc":1.00,"${name}":${value}}`, twice),
  ])
  await claims.add('raw.e', lines)
  await space.ok([twice], { openClaims: () => Promise.resolve(claims) })
  const rows = await space.rows(sql`
    SELECT id % 2 AS odd, doc::VARCHAR AS doc, count(*)::INTEGER AS n FROM raw.e GROUP BY ALL ORDER BY odd`)
  assert.equal(rows, [
    { odd: 0, doc: '1', n: fields.length },
    { odd: 1, doc: '1.00', n: fields.length },
  ])
})

test('an event that is set aside keeps them too, as it was sent, until its model is mended', async () => {
  await using space = await openProject()
  const claims = new FakeClaims(space.path('buffer'))
  const wide = events('raw.e', { id: 'BIGINT!', doc: 'JSON', list: 'JSON[]' })
  const narrow = events('raw.e', { id: 'INTEGER!', doc: 'JSON', list: 'JSON[]' })
  const aside = [
    '{"id":3000000000,"doc":[12.50],"list":[1.0]}',
    '{"id":3000000001,"doc":[],"x":{"doc JSON":"f"}}',
    '{"id":3000000002,"doc":{"a":{"b":"\\"},"},"x":{"c":"f}"},"d":1.0}, "list":[],"x":{"a":{"b":-0}} }',
    '{"id":3000000003,"doc":"}},\\"x\\":{\\"e\\":","x":{}}',
  ]
  const sent = ['{"id":1,"doc":[0.12345678901234567890]}', ...aside]
  await claims.add(
    'raw.e',
    sent.map((text) => stored(text, wide)),
  )
  const openClaims = () => Promise.resolve(claims)
  const summary = await space.ok([narrow], { openClaims })
  assert.equal(summary.flushed, [{ model: 'raw.e', events: 1, rejected: aside.length }])
  const texts = await space.rows(sql`SELECT event FROM _eider.rejected_events ORDER BY seq`)
  assert.equal(
    texts,
    aside.map((event) => ({ event })),
  )
  await space.ok([wide], { openClaims })
  assert.equal(
    await space.rows(
      sql`SELECT doc::VARCHAR AS doc, list[1]::VARCHAR AS first FROM raw.e ORDER BY raw.e.id`,
    ),
    [
      { doc: '[0.12345678901234567890]', first: null },
      { doc: '[12.50]', first: '1.0' },
      { doc: '[]', first: null },
      { doc: '{"a":{"b":"\\"},"},"x":{"c":"f}"},"d":1.0}', first: null },
      { doc: '"}},\\"x\\":{\\"e\\":"', first: null },
    ],
  )
})

test('what waits when its column of JSON gets another type keeps its digits, as far as the type does', async () => {
  await using space = await openProject()
  const claims = new FakeClaims(space.path('buffer'))
  const openClaims = () => Promise.resolve(claims)
  const names = ['text', 'number', 'whole', 'plain']
  const given = ['{"price":12.50}', '0.12345678901234567890', '12345678901234567.0', '1.50']
  const event = `{${names.map((name, i) => `"${name}":${given[i]}`).join()}}`
  const former = events('raw.e', Object.fromEntries(names.map((name) => [name, 'JSON'])))
  const types = { text: 'VARCHAR', number: 'DECIMAL(38,20)', whole: 'BIGINT', plain: 'VARCHAR' }
  const next = events('raw.e', types)
  const broken = await claims.add('raw.e', [stored(event, former)], { counted: 2 })
  await space.run([next], { openClaims })
  assert.is(claims.segments.length, 1, 'nothing is flushed by the first run that has the new types')
  Object.assign(broken, { events: 1 })
  await claims.add('raw.e', [stored(event, former), '{"number":"no number"}'])
  await space.ok([next], { openClaims })
  const rows = await space.rows(sql`SELECT COLUMNS(*)::VARCHAR FROM raw.e`)
  const row = { text: given[0], number: given[1], whole: '12345678901234567', plain: '1.50' }
  assert.equal(rows, [row, row])
})

test('a text for a column of another type is not read', async () => {
  await using space = await openProject()
  const claims = new FakeClaims(space.path('buffer'))
  const before = events('raw.e', { doc: 'JSON[]' })
  await claims.add('raw.e', [stored('{"doc":[1.50,2]}', before)])
  await space.ok([events('raw.e', { doc: 'JSON' })], { openClaims: () => Promise.resolve(claims) })
  assert.equal(await space.rows(sql`SELECT doc::VARCHAR AS doc FROM raw.e`), [{ doc: '[1.5,2]' }])
})

test.run()
