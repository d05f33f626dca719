// Columns of events models that get another name: the table keeps its values, and events that have the former name give
// theirs, whether they waited in the buffer or come later.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../src/core/sql.ts'
import type { EventsModel } from '../../../src/core/model.ts'
import { FakeClaims } from '../../support/fake-claims.ts'
import { openProject, resultOf, type TestProject } from '../../support/pipeline-project.ts'
import { events, query } from '../../support/handmade-models.ts'

const before = events('raw.e', { id: 'INTEGER!', total: 'DECIMAL(10,2)', pair: 'INTEGER[2]' })

const after: EventsModel = {
  ...events('raw.e', { id: 'INTEGER!', total_eur: 'DECIMAL(10,2)', pairs: 'INTEGER[2]' }),
  renames: [
    { from: 'total', to: 'total_eur' },
    { from: 'pair', to: 'pairs' },
  ],
}

const runsOf = (space: TestProject) => {
  const claims = new FakeClaims(space.path('buffer'))
  const options = { openClaims: () => Promise.resolve(claims) }
  return {
    add: (event: Readonly<Record<string, unknown>>) => claims.add('raw.e', [event]),
    ok: (model: EventsModel) => space.ok([model, ...readersOf(model)], options),
    run: (model: EventsModel) => space.run([model], options),
  }
}

const readersOf = ({ columns }: EventsModel) => [
  query('mart.r', `select sum(${columns[1]!.name}) as s from raw.e`, { reads: ['raw.e'] }),
]

test('rows keep their values, and events under both names fill the column', async () => {
  await using space = await openProject()
  const { add, ok } = runsOf(space)
  await add({ id: 1, total: 1.5, pair: [1, 2] })
  await ok(before)
  await add({ id: 2, total: 2.5, pair: [3, 4] })
  await add({ id: 3, total_eur: 3.5, pairs: [5, 6] })
  await add({ id: 4, total_eur: 4.5, total: 9, pair: [7, 8] })
  await add({ id: 5 })
  await ok(after)
  const rows = sql`SELECT id, total_eur::VARCHAR AS t, pairs::VARCHAR AS p FROM raw.e ORDER BY id`
  assert.equal(await space.rows(rows), [
    { id: 1, t: '1.50', p: '[1, 2]' },
    { id: 2, t: '2.50', p: '[3, 4]' },
    { id: 3, t: '3.50', p: '[5, 6]' },
    { id: 4, t: '4.50', p: '[7, 8]' },
    { id: 5, t: null, p: null },
  ])
  assert.equal(await space.rows(sql`SELECT s::VARCHAR AS s FROM mart.r`), [{ s: '12.00' }])
  const columns = await space.rows(sql`SELECT column_name AS name FROM (DESCRIBE raw.e)`)
  assert.equal(columns, [{ name: 'id' }, { name: 'total_eur' }, { name: 'pairs' }])
  assert.is(resultOf(await ok(after), 'raw.e').status, 'unchanged')
})

test('a rename without events is a change: what reads the table is built', async () => {
  await using space = await openProject()
  const { add, ok } = runsOf(space)
  await add({ id: 1, total: 1.5 })
  await ok(before)
  assert.is(resultOf(await ok(after), 'mart.r').status, 'built')
  assert.equal(await space.rows(sql`SELECT s::VARCHAR AS s FROM mart.r`), [{ s: '1.50' }])
})

test('an event whose former name has a value that does not fit is set aside, and one that was set aside is tried again', async () => {
  await using space = await openProject()
  const { add, ok } = runsOf(space)
  await add({ id: 1, total: 'many' })
  await add({ id: 2, total: 1000.5 })
  await ok(events('raw.e', { id: 'INTEGER!', total: 'DECIMAL(4,2)' }))
  assert.equal(await space.rows(sql`FROM raw.e`), [])
  await add({ id: 3, total: 'few' })
  await ok({ ...after, definition: 'wider' })
  assert.equal(await space.rows(sql`SELECT id, total_eur::VARCHAR AS t FROM raw.e`), [
    { id: 2, t: '1000.50' },
  ])
  const reasons = await space.rows(sql`SELECT reason FROM _eider.rejected_events ORDER BY ALL`)
  assert.equal(
    reasons.map(({ reason }) => reason),
    [
      'column "total_eur": cannot read "few" as DECIMAL(10,2)',
      'column "total_eur": cannot read "many" as DECIMAL(10,2)',
    ],
  )
})

test('a table that has both columns already is not touched', async () => {
  await using space = await openProject()
  const { add, ok, run } = runsOf(space)
  await add({ id: 1, total: 1.5 })
  await ok(before)
  await ok({ ...after, renames: [] })
  const refused = resultOf(await run({ ...after, definition: 'other' }), 'raw.e')
  assert.match(refused.because, 'the table has both "total" and "total_eur"')
  assert.match(refused.because, 'read coalesce(total_eur, total) in models that read raw.e')
  const rows = await space.rows(sql`SELECT id, total::VARCHAR AS t, total_eur FROM raw.e`)
  assert.equal(rows, [{ id: 1, t: '1.50', total_eur: null }])
})

test('a value for a column that the model no longer lists goes into that column, and the run says so', async () => {
  await using space = await openProject()
  const { add, run } = runsOf(space)
  await add({ id: 1, total: 1.5, pair: [1, 2] })
  await run(before)
  await add({ id: 2, total: '2.50', pair: [3, 4] })
  await add({ id: 3, total: 'many', pair: [3] })
  await add({ id: 4, total: null })
  const without = events('raw.e', { id: 'INTEGER!', sum: 'DOUBLE' })
  const { warnings = [] } = resultOf(await run(without), 'raw.e')
  assert.equal(
    warnings.map((text) => text.replace(/, which.*/, '')),
    ['2 events have a value for "total"', '2 events have a value for "pair"'],
  )
  await add({ id: 'x', total: 5 })
  await add({ id: 6, total: 6, sum: 7 })
  assert.match(
    resultOf(await run(without), 'raw.e').warnings?.[0] ?? '',
    /^2 events have .* "total"/,
  )
  const rows = sql`SELECT id, total::VARCHAR AS t, pair::VARCHAR AS p FROM raw.e ORDER BY id`
  assert.equal(await space.rows(rows), [
    { id: 1, t: '1.50', p: '[1, 2]' },
    { id: 2, t: '2.50', p: '[3, 4]' },
    { id: 3, t: null, p: null },
    { id: 4, t: null, p: null },
    { id: 6, t: '6.00', p: null },
  ])
  const [rejected] = await space.rows(sql`SELECT event FROM _eider.rejected_events`)
  assert.equal(rejected, { event: '{"id":"x","total":5}' })
})

test('kept columns of each type get what the columns themselves did', async () => {
  await using space = await openProject()
  const { add, run } = runsOf(space)
  const values = {
    text: 'a "b"',
    json: { n: [1, null] },
    items: [{ sku: 'a', n: 1 }],
    map: { k: 1.25 },
    at: '2026-01-01T12:00:00Z',
    day: '2026-01-01',
    span: '2 days',
    yes: true,
    big: '12345678901234567890',
    num: '0.12345678901234567890',
  }
  const types = {
    text: 'VARCHAR',
    json: 'JSON',
    items: 'STRUCT(sku VARCHAR, n INTEGER)[]',
    map: 'MAP(VARCHAR, DECIMAL(4,2))',
    at: 'TIMESTAMPTZ',
    day: 'DATE',
    span: 'INTERVAL',
    yes: 'BOOLEAN',
    big: 'DECIMAL(38,0)',
    num: 'DECIMAL(38,20)',
  }
  await add({ id: 1, ...values })
  await run(events('raw.e', { id: 'INTEGER!', ...types }))
  await add({ id: 2, ...values })
  await run(events('raw.e', { id: 'INTEGER!' }))
  const [first, second] = await space.rows(sql`SELECT * EXCLUDE (id) FROM raw.e ORDER BY id`)
  assert.equal(second, first)
  assert.ok(Object.values(first!).every((value) => value !== null))
})

test('a name that differs in case alone is the same column', async () => {
  await using space = await openProject()
  const { add, run } = runsOf(space)
  await add({ id: 1, total: 1.5 })
  await run(before)
  const spelled = events('raw.e', {
    id: 'INTEGER!',
    Total: 'DECIMAL(10,2)!',
    Pair: 'INTEGER[2]',
    ΠΟΣ: 'INTEGER',
  })
  await add({ id: 2, total: 2.5, pair: [3, 4], ΠΟΣ: 7 })
  await add({ id: 3, total: 9, Total: 3.5, TOTAL: 8, '"o/~d"': 1 })
  await add({ id: 4, tOTAL: 'many' })
  await run(spelled)
  const rows = sql`SELECT id, total::VARCHAR AS t, pair::VARCHAR AS p, ΠΟΣ::VARCHAR AS o FROM raw.e ORDER BY id`
  assert.equal(await space.rows(rows), [
    { id: 1, t: '1.50', p: null, o: null },
    { id: 2, t: '2.50', p: '[3, 4]', o: '7' },
    { id: 3, t: '3.50', p: null, o: null },
  ])
  const reasons = await space.rows(sql`SELECT reason FROM _eider.rejected_events`)
  assert.equal(reasons, [{ reason: 'column "Total": cannot read "many" as DECIMAL(10,2)' }])
})

test.run()
