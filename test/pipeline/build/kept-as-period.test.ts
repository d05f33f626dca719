// An append or a merge that becomes a model of periods keeps its rows, but for those of the periods that are made anew.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../src/core/sql.ts'
import { openProject, resultOf, type TestProject } from '../../support/pipeline-project.ts'
import { query, type QueryModelOptions } from '../../support/handmade-models.ts'

const source = (...rows: readonly string[]) =>
  query('raw.s', `select * from (values ${rows.join(', ')}) t(id, day, v)`)

const model = (options: QueryModelOptions, text = 'from raw.s') =>
  query('mart.t', text, { reads: ['raw.s'], ...options })

const append: QueryModelOptions = { kind: 'append', incremental: 'day' }
const merge: QueryModelOptions = { kind: 'merge', key: ['id'], incremental: 'day' }
const hundreds: QueryModelOptions = { kind: 'period', period: '100 of day' }

const rowsOf = async (space: TestProject) =>
  (await space.rows(sql`SELECT concat_ws(' ', *COLUMNS(*)) AS text FROM mart.t ORDER BY ALL`)).map(
    ({ text }) => text,
  )

for (const [kind, before] of [
  ['append', append],
  ['merge', merge],
] as const)
  test(`the rows of a ${kind} that the source no longer has stay, but in the newest period`, async () => {
    await using space = await openProject()
    await space.ok([source('(1, 110, 10)', '(2, 210, 20)', '(3, 220, 30)'), model(before)])
    const run = await space.ok([source('(3, 220, 31)', '(4, 310, 40)'), model(hundreds)])
    assert.is(resultOf(run, 'mart.t').because, `kind changed from ${kind} to period`)
    assert.equal(await rowsOf(space), ['1 110 10', '3 220 31', '4 310 40'])
    // Nor does a later run take them for periods that were never built.
    const next = await space.ok([source('(4, 310, 41)', '(5, 420, 50)'), model(hundreds)])
    assert.is(resultOf(next, 'mart.t').rows, 2)
    assert.equal(await rowsOf(space), ['1 110 10', '3 220 31', '4 310 41', '5 420 50'])
  })

test('a range that is built first leaves the rows outside of it to later runs, too', async () => {
  await using space = await openProject()
  const rows = ['(1, 110, 10)', '(2, 210, 20)', '(3, 310, 30)'] as const
  await space.ok([source(...rows), model(append)])
  const range = { start: '200', end: '300' }
  await space.ok([source('(2, 210, 21)', '(3, 310, 30)'), model(hundreds)], { range })
  assert.equal(await rowsOf(space), ['1 110 10', '2 210 21', '3 310 30'])
  await space.ok([source('(3, 310, 32)'), model(hundreds)])
  assert.equal(await rowsOf(space), ['1 110 10', '2 210 21', '3 310 32'])
})

test('what an older SELECT has made is named', async () => {
  await using space = await openProject()
  await space.ok([source('(1, 110, 10)', '(2, 210, 20)'), model(append)])
  const edited = model(hundreds, 'select id, day, v * 2 as v from raw.s')
  const run = await space.ok([source('(1, 110, 10)', '(2, 210, 20)'), edited])
  assert.equal(await rowsOf(space), ['1 110 10', '2 210 40'])
  const { older_rows: older } = resultOf(run, 'mart.t')
  assert.equal([older?.rows, older?.of], [1, 2])
})

test('rows without a period, and keys that are there twice, are refused, and all stays as it was', async () => {
  await using space = await openProject()
  const rows = ['(1, 110, null::int)', '(1, 210, 20)'] as const
  await space.ok([source(...rows), model(append)])
  const before = await rowsOf(space)
  const byValue = await space.run([
    source('(1, 210, 20)'),
    model({ ...hundreds, period: '100 of v' }),
  ])
  assert.match(
    resultOf(byValue, 'mart.t').because,
    'the table was built as kind append, and 1 row of it has NULL in "v", so no period would have it; choose another column, or rebuild the table: eider run mart.t --full-refresh',
  )
  const keyed = await space.run([source('(1, 210, 20)'), model({ ...hundreds, key: ['id'] })])
  assert.match(
    resultOf(keyed, 'mart.t').because,
    /duplicate keys: id = 1 \(2 rows\); the table was/,
  )
  assert.equal(await rowsOf(space), before)
})

test.run()
