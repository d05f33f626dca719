import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../src/core/sql.ts'
import { compileTexts } from '../../support/compile-texts.ts'
import {
  openProject,
  type TestProject,
  resultOf,
  statuses,
} from '../../support/pipeline-project.ts'
import { query, type QueryModelOptions } from '../../support/handmade-models.ts'
import { planned, stepOf } from '../../support/plans.ts'

const columns = 't(id, v)'

const source = (values: string, list = columns) =>
  query('raw.s', `select * from (values ${values}) ${list}`)

const merge = (options: QueryModelOptions = {}, text = 'select * from raw.s') =>
  query('mart.t', text, { kind: 'merge', key: ['id'], reads: ['raw.s'], ...options })

const rowsOf = (space: TestProject) => space.rows(sql`FROM mart.t ORDER BY ALL`)

test('NULL to value, value to NULL, new and vanished rows', async () => {
  await using space = await openProject()
  await space.ok([source('(1, null::int), (2, 5), (3, 1), (4, null)'), merge()])
  const summary = await space.ok([source('(1, 7), (2, null::int), (4, null), (5, 9)'), merge()])
  assert.is(resultOf(summary, 'mart.t').rows, 3)
  assert.equal(await rowsOf(space), [
    { id: 1, v: 7 },
    { id: 2, v: null },
    { id: 3, v: 1 },
    { id: 4, v: null },
    { id: 5, v: 9 },
  ])
})

test('NULL and duplicate keys fail by name and leave the table as it was', async () => {
  await using space = await openProject()
  await space.ok([source('(1, 1)'), merge()])
  const duplicate = await space.run([source('(1, 2), (7, 1), (7, 2), (8, 1), (8, 1)'), merge()])
  assert.match(
    resultOf(duplicate, 'mart.t').because,
    /^models\/mart\/t\.sql:2:1: duplicate keys: id = 7 \(2 rows\); id = 8 \(2 rows\); filter them/,
  )
  const missing = await space.run([source('(null::int, 2), (2, 2)'), merge()])
  assert.match(resultOf(missing, 'mart.t').because, /NULL or duplicate keys: id = NULL/)
  assert.equal(await rowsOf(space), [{ id: 1, v: 1 }])
  const first = await space.run([
    source('(1, 1), (1, 2)'),
    query('mart.new', 'from raw.s', { kind: 'merge', key: ['id'], reads: ['raw.s'] }),
  ])
  assert.is(resultOf(first, 'mart.new').status, 'failed')
  assert.equal(await space.rows(sql`SELECT 1 FROM duckdb_tables() WHERE table_name = 'new'`), [])
})

test('intervals that the engine calls equal are two values, in a run and in a plan', async () => {
  await using space = await openProject()
  const shop = async (v: string) => {
    const reader = 'select id, v, [v] as vs from raw.s'
    const { models } = await compileTexts({
      'raw.s': `select 1 as id, interval '${v}' as v`,
      'mart.t': `-- @kind: merge\n-- @unique_key: id\n${reader}`,
      'mart.h': `-- @kind: scd2\n-- @unique_key: id\n${reader}`,
    })
    return [...models.values()]
  }
  await space.ok(await shop('1 month'))
  const models = await shop('30 days')
  const plan = await planned(space, models)
  for (const name of ['mart.t', 'mart.h'])
    assert.is(stepOf(plan, name).diff?.changes?.changed, 1, name)
  await space.ok(models)
  assert.equal(await space.rows(sql`SELECT v::VARCHAR AS v, vs::VARCHAR AS vs FROM mart.t`), [
    { v: '30 days', vs: '[30 days]' },
  ])
  assert.is((await space.rows(sql`SELECT id FROM mart.h`)).length, 2)
})

test('several key columns; a table of nothing but its key; a column named rowid', async () => {
  await using space = await openProject()
  const both = merge({ key: ['id', 'v'] })
  await space.ok([source('(1, 1), (1, 2)'), both])
  await space.ok([source('(1, 2), (2, 1)'), both])
  assert.equal(await rowsOf(space), [
    { id: 1, v: 1 },
    { id: 1, v: 2 },
    { id: 2, v: 1 },
  ])

  await using other = await openProject()
  await other.ok([source('(1, null::int)', 't(id, rowid)'), merge()])
  const same = await other.ok([source('(1, null::int), (2, 3)', 't(id, rowid)'), merge()])
  assert.is(resultOf(same, 'mart.t').rows, 1)
})

test('an empty delta is no new version: what reads the table does not run', async () => {
  await using space = await openProject()
  const reader = query('mart.r', 'select count(*) as n from mart.t', { reads: ['mart.t'] })
  await space.ok([source('(1, 1), (2, 2)'), merge(), reader])
  const same = await space.ok([source('(2, 2), (1, 1)'), merge(), reader])
  assert.equal(statuses(same), { 'raw.s': 'built', 'mart.t': 'built', 'mart.r': 'unchanged' })
  assert.is(resultOf(same, 'mart.t').rows, 0)
  const again = await space.ok([source('(2, 2), (1, 1)'), merge(), reader])
  assert.is(resultOf(again, 'mart.t').status, 'unchanged')
  const more = await space.ok([source('(2, 3)'), merge(), reader])
  assert.is(resultOf(more, 'mart.r').status, 'built')
})

test('a new column and a wider type evolve, also without rows', async () => {
  await using space = await openProject()
  await space.ok([source('(1::int, 1::int)'), merge()])
  await space.ok([source("(1::int, 1::bigint, 'x')", 't(id, v, "new column")'), merge()])
  await space.ok([source("(2::int, 5000000000, 'y')", 't(id, v, "new column")'), merge()])
  assert.equal(await rowsOf(space), [
    { id: 1, v: '1', 'new column': 'x' },
    { id: 2, v: '5000000000', 'new column': 'y' },
  ])
  const none = query(
    'raw.s',
    'select 1 as id, 1::bigint as v, null::varchar as "new column", 1 as z where false',
  )
  const reader = query('mart.r', 'select * from mart.t', { reads: ['mart.t'] })
  const evolved = await space.ok([none, merge(), reader])
  assert.is(resultOf(evolved, 'mart.r').status, 'built')
})

test('a dropped column and a narrower type are refused with the flag that rebuilds', async () => {
  await using space = await openProject()
  await space.ok([source('(1::bigint, 1)'), merge()])
  const dropped = [source('(1::bigint)', 't(id)'), merge()]
  assert.match(
    resultOf(await space.run(dropped), 'mart.t').because,
    /no longer has "v", .*--full-refresh/,
  )
  const narrower = await space.run([source('(1::int, 1)'), merge()])
  assert.match(
    resultOf(narrower, 'mart.t').because,
    /"id" cannot change from BIGINT to INTEGER .*--full-refresh/,
  )
  await space.ok(dropped, { fullRefresh: true })
  assert.equal(await rowsOf(space), [{ id: '1' }])
})

test('what was a table before is made anew, since its keys were never checked', async () => {
  await using space = await openProject()
  await space.ok([
    source('(1, 1), (1, 2)'),
    query('mart.t', 'select * from raw.s', { reads: ['raw.s'] }),
  ])
  await space.ok([source('(2, 2)'), merge()])
  assert.equal(await rowsOf(space), [{ id: 2, v: 2 }])
})

test('an exposed key other than the unique key is checked in the merged table', async () => {
  await using space = await openProject()
  const model = merge({ expose: ['v'] })
  await space.ok([source('(1, 1)'), model])
  const clash = await space.run([source('(2, 1)'), model])
  assert.match(resultOf(clash, 'mart.t').because, /duplicate keys: v = 1/)
  assert.equal(await rowsOf(space), [{ id: 1, v: 1 }])
})

test('latest() takes one row of each key, the same one each time', async () => {
  await using space = await openProject()
  const model = query('mart.t', 'from raw.s', {
    kind: 'merge',
    key: ['id'],
    latest: 'v',
    reads: ['raw.s'],
  })
  const list = 't(id, v, note)'
  await space.ok([source("(1, 1, 'old'), (1, 2, 'a'), (1, 2, 'b'), (2, null, 'x')", list), model])
  const again = await space.ok([
    source("(1, 2, 'b'), (1, 2, 'a'), (2, null, 'x'), (1, 1, 'old')", list),
    model,
  ])
  assert.is(resultOf(again, 'mart.t').rows, 0)
  assert.equal(await rowsOf(space), [
    { id: 1, v: 2, note: 'b' },
    { id: 2, v: null, note: 'x' },
  ])
  const missing = await space.run([source("(null::int, 1, 'x')", list), model])
  assert.match(resultOf(missing, 'mart.t').because, /NULL or duplicate keys/)
})

test('mirror deletes what the source no longer gives, and refuses to delete everything', async () => {
  await using space = await openProject()
  const model = merge({ deletes: 'mirror' })
  await space.ok([source('(1, 1), (2, 2), (3, 3)'), model])
  const fewer = await space.ok([source('(1, 1), (2, 5)'), model])
  assert.is(resultOf(fewer, 'mart.t').rows, 2)
  assert.equal(await rowsOf(space), [
    { id: 1, v: 1 },
    { id: 2, v: 5 },
  ])
  const empty = [query('raw.s', 'select 1 as id, 1 as v where false'), model]
  const refused = await space.run(empty)
  assert.match(
    resultOf(refused, 'mart.t').because,
    /no rows, so @deletes: mirror would delete all 2 .*--allow-empty/,
  )
  assert.is((await rowsOf(space)).length, 2)
  await space.ok(empty, { allowEmpty: true })
  assert.equal(await rowsOf(space), [])
})

test('an incremental merge reads from the watermark on', async () => {
  await using space = await openProject()
  const model = merge({ incremental: 'v lookback 1' })
  await space.ok([source('(1, 1), (2, 5)'), model])
  const summary = await space.ok([source('(1, 3), (2, 6), (3, 4), (4, 2)'), model])
  assert.is(resultOf(summary, 'mart.t').rows, 2)
  assert.equal(await rowsOf(space), [
    { id: 1, v: 1 },
    { id: 2, v: 6 },
    { id: 3, v: 4 },
  ])
})

test('a table that was filled under another key is checked under the new one', async () => {
  await using space = await openProject()
  await space.ok([source('(1, 1), (2, 1)'), merge()])
  const failed = await space.run([source('(3, 3)'), merge({ key: ['v'] })])
  assert.match(
    resultOf(failed, 'mart.t').because,
    /duplicate keys: v = 1 \(2 rows\); the table was built with another key; .*--full-refresh$/,
  )
})

test('a range is replaced: what left it goes, what came or changed is merged, the rest stays', async () => {
  await using space = await openProject()
  const rows = (...values: readonly string[]) =>
    query('raw.s', `select * from (values ${values.join()}) t(id, ts, v)`)
  const model = query('mart.t', 'from raw.s', {
    kind: 'merge',
    key: ['id'],
    incremental: 'ts',
    reads: ['raw.s'],
  })
  const read = async () =>
    (await space.rows(sql`SELECT concat(id, '.', ts, '.', v) AS row FROM mart.t ORDER BY id`)).map(
      ({ row }) => row,
    )
  await space.ok([rows('(1, 1, 0)', '(2, 2, 0)', '(3, 3, 0)', '(4, 4, 0)', '(5, 9, 0)'), model])
  const later = rows('(1, 1, 7)', '(3, 3, 7)', '(6, 2, 7)', '(5, 3, 7)')
  const range = { start: '2', end: '4' }
  const summary = await space.ok([later, model], { range })
  assert.is(resultOf(summary, 'mart.t').rows, 4)
  assert.equal(await read(), ['1.1.0', '3.3.7', '4.4.0', '5.3.7', '6.2.7'])
  const same = await space.ok([later, model], { range, by: '1' })
  assert.is(resultOf(same, 'mart.t').rows, 0)
  assert.is(resultOf(same, 'mart.t').because, 'backfill in 2 pieces')
})

test.run()
