// An append that becomes a merge keeps its rows where their keys allow it.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../src/core/sql.ts'
import { openProject, resultOf } from '../../support/pipeline-project.ts'
import { query, type QueryModelOptions } from '../../support/handmade-models.ts'

const source = (...rows: readonly string[]) =>
  query('raw.s', `select * from (values ${rows.join(', ')}) t(id, ts, v)`)

const model = (options: QueryModelOptions, text = 'from raw.s') =>
  query('mart.t', text, { reads: ['raw.s'], ...options })

const append: QueryModelOptions = { kind: 'append', incremental: 'ts' }
const merge: QueryModelOptions = { kind: 'merge', key: ['id'] }

const ROWS = sql`SELECT id, v FROM mart.t ORDER BY ALL`

test('rows that the source no longer has stay, and those that it changes are updated', async () => {
  await using space = await openProject()
  await space.ok([source('(1, 1, 10)', '(2, 2, 20)'), model(append)])
  const run = await space.ok([source('(2, 2, 21)', '(3, 3, 30)'), model(merge)])
  assert.match(resultOf(run, 'mart.t').because, 'kind changed from append to merge')
  assert.is(resultOf(run, 'mart.t').rows, 2)
  const rows = [
    { id: 1, v: 10 },
    { id: 2, v: 21 },
    { id: 3, v: 30 },
  ]
  assert.equal(await space.rows(ROWS), rows)
  await space.ok([source('(2, 2, 22)'), model(merge)])
  assert.equal(await space.rows(ROWS), rows.with(1, { id: 2, v: 22 }))
})

test('a column is renamed and the watermark kept in the same edit', async () => {
  await using space = await openProject()
  await space.ok([source('(1, 1, 10)', '(2, 5, 20)'), model(append)])
  const renamed = model(
    { ...merge, incremental: 'ts', renames: [{ from: 'v', to: 'w' }] },
    'select id, ts, v as w from raw.s',
  )
  // The first row is before the watermark.
  await space.ok([source('(1, 1, 11)', '(2, 5, 21)'), renamed])
  assert.equal(await space.rows(sql`SELECT id, w FROM mart.t ORDER BY id`), [
    { id: 1, w: 10 },
    { id: 2, w: 21 },
  ])
})

test('keys that are there twice or NULL are named, and the table stays as it was', async () => {
  await using space = await openProject()
  const rows = ['(1, 1, 10)', '(1, 2, 11)', '(null, 3, 12)']
  await space.ok([source(...rows), model(append)])
  const run = await space.run([source('(1, 2, 13)'), model(merge)])
  const { because } = resultOf(run, 'mart.t')
  assert.match(because, /NULL or duplicate keys: id = NULL \(1 rows\); id = 1 \(2 rows\)/)
  assert.match(because, /was built as kind append, .* eider run mart\.t --full-refresh/)
  assert.is((await space.rows(ROWS)).length, 3)
  const other = await space.run([
    source('(1, 2, 13)'),
    model({ kind: 'merge', key: ['no'] }, 'select id as no, * from raw.s'),
  ])
  assert.match(resultOf(other, 'mart.t').because, 'its rows have no column "no" to be their key')
  assert.is((await space.rows(ROWS)).length, 3)
})

test('with @deletes: mirror its rows would go, so that is refused as before', async () => {
  await using space = await openProject()
  await space.ok([source('(1, 1, 10)', '(2, 2, 20)'), model(append)])
  const mirror = model({ ...merge, deletes: 'mirror' })
  const run = await space.run([source('(2, 2, 20)'), mirror])
  assert.match(resultOf(run, 'mart.t').because, 'as kind merge it would lose them')
  assert.is((await space.rows(ROWS)).length, 2)
})

test('rows of an older rule are those that were not read again', async () => {
  await using space = await openProject()
  const of = (factor: number) => `select id, ts, v * ${factor} as v from raw.s`
  await space.ok([source('(1, 1, 10)', '(2, 2, 20)', '(3, 3, 30)'), model(append, of(1))])
  const edited = await space.ok([source('(3, 3, 30)', '(4, 4, 40)'), model(append, of(2))])
  assert.is(resultOf(edited, 'mart.t').older_rows?.rows, 2)
  const run = await space.ok([source('(3, 3, 30)', '(4, 4, 40)'), model(merge, of(2))])
  const { older_rows: older } = resultOf(run, 'mart.t')
  assert.is(older?.rows, 2)
  assert.match(older?.text ?? '', 'up to 2 of 4 rows were made before the rule of')
  const all = ['(1, 1, 10)', '(2, 2, 20)', '(3, 3, 30)', '(4, 4, 40)']
  const whole = await space.ok([source(...all), model(merge, of(2))])
  assert.is(resultOf(whole, 'mart.t').older_rows, undefined)
})

test.run()
