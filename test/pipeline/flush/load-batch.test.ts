import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../src/core/sql.ts'
import { FakeClaims } from '../../support/fake-claims.ts'
import { events, query } from '../../support/handmade-models.ts'
import {
  openProject,
  type TestProject,
  resultOf,
  statuses,
} from '../../support/pipeline-project.ts'

const model = events('raw.e', {
  id: 'INTEGER!',
  name: 'VARCHAR',
  received_at: 'TIMESTAMP WITH TIME ZONE',
})

const buffered = (space: TestProject) => new FakeClaims(space.path('buffer'))

const idsOf = async (space: TestProject) =>
  (await space.rows(sql`SELECT id FROM raw.e ORDER BY rowid`)).map(({ id }) => id)

test('received_at is the time of the server where the event has none; unknown members are dropped', async () => {
  await using space = await openProject()
  const claims = buffered(space)
  const own = '2020-02-02T00:00:00Z'
  await claims.add(
    'raw.e',
    [
      { id: 1, other: [1] },
      { id: 2, received_at: own },
      { id: 3, received_at: null },
    ],
    {
      time: '2026-01-02T03:04:05.678Z',
    },
  )
  await space.ok([model], { openClaims: () => Promise.resolve(claims) })
  assert.equal(
    await space.rows(sql`SELECT id, received_at::VARCHAR AS at FROM raw.e ORDER BY id`),
    [
      { id: 1, at: '2026-01-02 03:04:05.678+00' },
      { id: 2, at: '2020-02-02 00:00:00+00' },
      { id: 3, at: '2026-01-02 03:04:05.678+00' },
    ],
  )
})

test('events that do not fit are set aside with the reason and as they were sent; the others go in', async () => {
  await using space = await openProject()
  const claims = buffered(space)
  const odd = events('raw.odd', {
    id: 'INTEGER!',
    list: 'INTEGER[]',
    pair: 'STRUCT(a INTEGER, b VARCHAR)',
    'odd "name"': 'DECIMAL(38,20)',
    doc: 'JSON',
    counts: 'MAP(VARCHAR, INTEGER)',
  })
  await claims.add('raw.odd', [
    {
      id: 1,
      list: [1, null],
      pair: { a: 1, c: 2 },
      'odd "name"': '0.12345678901234567890',
      doc: 'text',
    },
    '{"id":"x","n":0.12345678901234567890123}',
    { list: [1] },
    { id: 3, list: [1, 'y'] },
    { id: 4, pair: { a: 'z' } },
    { id: 5, pair: 7 },
    { id: 6, list: {} },
    { id: 7, doc: { k: [1] } },
    { id: 8, counts: { a: 1, b: 'many' } },
  ])
  const openClaims = () => Promise.resolve(claims)
  const summary = await space.ok([odd], { openClaims })
  assert.equal(summary.flushed, [{ model: 'raw.odd', events: 2, rejected: 7 }])
  assert.equal(await space.rows(sql`FROM raw.odd`), [
    {
      id: 1,
      list: [1, null],
      pair: { a: 1, b: null },
      'odd "name"': '0.12345678901234567890',
      doc: '"text"',
      counts: null,
    },
    { id: 7, list: null, pair: null, 'odd "name"': null, doc: '{"k":[1]}', counts: null },
  ])
  const rejected = await space.rows(
    sql`SELECT target, claim_id, seq::INTEGER AS seq, reason, event FROM _eider.rejected_events ORDER BY seq`,
  )
  assert.equal(
    rejected.map(({ seq, reason }) => [seq, reason]),
    [
      [2, 'column "id": cannot read "x" as INTEGER'],
      [3, 'column "id" is missing'],
      [4, 'column "list": cannot read "y" at $[1] as INTEGER[]'],
      [5, 'column "pair": cannot read "z" at $.a as STRUCT(a INTEGER, b VARCHAR)'],
      [6, 'column "pair": cannot read 7 at $ as STRUCT(a INTEGER, b VARCHAR)'],
      [7, 'column "list": cannot read {} as INTEGER[]'],
      [9, 'column "counts": cannot read "many" at $.b as MAP(VARCHAR, INTEGER)'],
    ],
  )
  assert.is(rejected[0]?.['event'], '{"id":"x","n":0.12345678901234567890123}')
  assert.is(rejected[0]?.['claim_id'], 'raw.odd/1')
})

test('what no MAP can hold is set aside, and keeps no other event from its table', async () => {
  await using space = await openProject()
  const claims = buffered(space)
  const odd = events('raw.odd', {
    id: 'INTEGER!',
    names: 'MAP(INTEGER, VARCHAR)',
    days: 'STRUCT(x MAP(DATE, STRUCT(n INTEGER)))',
  })
  await claims.add('raw.odd', [
    { id: 1, names: { 7: 'seven' } },
    { id: 2, names: { one: 'x' } },
    { id: 3, days: { x: { '2026-01-01': { n: 1 } } } },
    { id: 4, days: { x: { '2026-01-01': true } } },
    { id: 5, days: { x: { never: { n: 1 } } } },
    { id: 'x', names: { one: 'x' } },
  ])
  const summary = await space.ok([odd], { openClaims: () => Promise.resolve(claims) })
  assert.equal(summary.flushed, [{ model: 'raw.odd', events: 2, rejected: 4 }])
  assert.equal(
    await space.rows(
      sql`SELECT id, names::VARCHAR AS names, days::VARCHAR AS days FROM raw.odd ORDER BY id`,
    ),
    [
      { id: 1, names: '{7=seven}', days: null },
      { id: 3, names: null, days: "{'x': {2026-01-01={'n': 1}}}" },
    ],
  )
  const reasons = await space.rows(sql`SELECT reason FROM _eider.rejected_events ORDER BY seq`)
  assert.equal(
    reasons.map(({ reason }) => reason),
    [
      'column "names": cannot read {"one":"x"} as MAP(INTEGER, VARCHAR)',
      'column "days": cannot read true at $.x.2026-01-01 as STRUCT(x MAP(DATE, STRUCT(n INTEGER)))',
      'column "days": cannot read {"x":{"never":{"n":1}}} as STRUCT(x MAP(DATE, STRUCT(n INTEGER)))',
      'column "id": cannot read "x" as INTEGER; column "names": cannot read {"one":"x"} as MAP(INTEGER, VARCHAR)',
    ],
  )
})

test('types that the reader of JSON does not know are cast, and wide numbers stay exact', async () => {
  await using space = await openProject()
  const claims = buffered(space)
  const odd = events('raw.odd', {
    bits: 'BIT',
    big: 'BIGNUM',
    flags: 'BIT[]',
    pair: 'STRUCT(b BIT, d DECIMAL(38,10))',
    huge: 'HUGEINT',
    unsigned: 'UBIGINT',
    wide: 'DECIMAL(38,10)',
    list: 'HUGEINT[]',
  })
  const big = '123456789012345678901234567890123456789012345'
  const huge = '170141183460469231731687303715884105727'
  const wide = '1234567890123456789012345678.0123456789'
  const fits = `{"bits":"0101","big":${big},"flags":["01"],"pair":{"b":"1","d":"${wide}"},
    "huge":${huge},"unsigned":18446744073709551615,"wide":"${wide}","list":[${huge},-1]}`
  await claims.add('raw.odd', [fits.replaceAll('\n', ' ')])
  await claims.add('raw.odd', ['{"bits":"2"}', '{"big":"no"}', '{"flags":["x"]}', '{"bits":"1"}'])
  const summary = await space.ok([odd], { openClaims: () => Promise.resolve(claims) })
  assert.equal(summary.flushed, [{ model: 'raw.odd', events: 2, rejected: 3 }])
  const [row] = await space.rows(sql`SELECT COLUMNS(*)::VARCHAR FROM raw.odd LIMIT 1`)
  assert.equal(Object.values(row!), [
    '0101',
    big,
    '[01]',
    `{'b': 1, 'd': ${wide}}`,
    huge,
    '18446744073709551615',
    wide,
    `[${huge}, -1]`,
  ])
  const reasons = await space.rows(sql`SELECT reason FROM _eider.rejected_events ORDER BY seq`)
  assert.equal(
    reasons.map(({ reason }) => reason),
    [
      'column "bits": cannot read "2" as BIT',
      'column "big": cannot read "no" as BIGNUM',
      'column "flags": cannot read "x" at $[0] as BIT[]',
    ],
  )
})

test('an event that was accepted before a column became NOT NULL is set aside', async () => {
  await using space = await openProject()
  const claims = buffered(space)
  await claims.add('raw.e', [{ name: 'a' }, { id: 2 }])
  const summary = await space.ok([model], { openClaims: () => Promise.resolve(claims) })
  assert.equal(summary.flushed, [{ model: 'raw.e', events: 1, rejected: 1 }])
  assert.equal(await idsOf(space), [2])
})

test('a segment that holds other events than its claim says is given back, the table untouched', async () => {
  await using space = await openProject()
  const claims = buffered(space)
  const openClaims = () => Promise.resolve(claims)
  await claims.add('raw.e', [{ id: 1 }, { id: 2 }], { counted: 3 })
  await claims.add('raw.e', [{ id: 3 }])
  await claims.add('raw.other', [{ id: 9 }])
  const other = events('raw.other', { id: 'INTEGER' })
  const down = query('mart.n', 'select * from raw.e', { reads: ['raw.e'] })
  const summary = await space.run([model, other, down], { openClaims })
  assert.equal(statuses(summary), { 'raw.e': 'failed', 'raw.other': 'built', 'mart.n': 'skipped' })
  assert.match(resultOf(summary, 'raw.e').because, /holds 2 events, but 3 were accepted/)
  assert.equal(
    claims.calls.filter((call) => call.includes('raw.e/')),
    ['claim raw.e/1', 'claim raw.e/2', 'nack raw.e/1', 'nack raw.e/2'],
  )
  assert.equal(await idsOf(space), [], 'a later segment must not overtake')
})

test.run()
