import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../src/core/sql.ts'
import { openProject, type TestProject, resultOf } from '../../support/pipeline-project.ts'
import { query, type QueryModelOptions } from '../../support/handmade-models.ts'

const source = (values: string, list = 't(id, ts)') =>
  query('raw.s', `select * from (values ${values}) ${list}`)

const append = (options: QueryModelOptions = {}) =>
  query('mart.t', 'from raw.s', {
    kind: 'append',
    incremental: 'ts',
    reads: ['raw.s'],
    ...options,
  })

const idsOf = async (space: TestProject) =>
  (await space.rows(sql`SELECT id::VARCHAR AS id FROM mart.t ORDER BY ALL`)).map(({ id }) => id)

test('ties of the watermark come in, what is older does not, the lookback says how much older', async () => {
  await using space = await openProject()
  const day = (id: number, date: string) => `(${id}, date '${date}')`
  await space.ok([source([day(1, '2024-01-01'), day(2, '2024-01-10')].join()), append()])
  const later = [day(2, '2024-01-10'), day(3, '2024-01-10'), day(4, '2024-01-09')]
  const tie = await space.ok([source(later.join()), append()])
  assert.is(resultOf(tie, 'mart.t').rows, 1)
  assert.equal(await idsOf(space), ['1', '2', '3'])
  const late = await space.ok([source(later.join()), append({ incremental: 'ts lookback 1 day' })])
  assert.is(resultOf(late, 'mart.t').rows, 1)
  assert.equal(await idsOf(space), ['1', '2', '3', '4'])
})

test('a key decides what is new, and is checked', async () => {
  await using space = await openProject()
  const keyed = append({ key: ['id'] })
  await space.ok([source('(1, 1), (2, 5)'), keyed])
  await space.ok([source('(2, 6), (3, 6)'), keyed])
  assert.equal(await space.rows(sql`FROM mart.t ORDER BY id`), [
    { id: 1, ts: 1 },
    { id: 2, ts: 5 },
    { id: 3, ts: 6 },
  ])
  const twice = await space.run([source('(4, 7), (4, 8)'), keyed])
  assert.match(resultOf(twice, 'mart.t').because, /duplicate keys: id = 4/)
})

test('rows with intervals that the engine calls equal are two rows', async () => {
  await using space = await openProject()
  const give = (...values: readonly string[]) =>
    source(values.map((v) => `(${v}, 1)`).join(), 't(v, ts)')
  const [month, days] = [`interval '1 month'`, `interval '30 days'`]
  await space.ok([give(month), append()])
  await space.ok([give(days, month), append()])
  await space.ok([give(days), append()])
  assert.equal(await space.rows(sql`SELECT v::VARCHAR AS v FROM mart.t ORDER BY ALL`), [
    { v: '1 month' },
    { v: '30 days' },
  ])
  const widened = query('raw.s', `select *, v::varchar as text from (values (${days}, 1)) t(v, ts)`)
  await space.ok([widened, append()])
  assert.equal(await space.rows(sql`SELECT v::VARCHAR AS v, text FROM mart.t ORDER BY ALL`), [
    { v: '1 month', text: null },
    { v: '30 days', text: '30 days' },
  ])
})

test('NULL in the watermark is refused with the number of rows', async () => {
  await using space = await openProject()
  await space.ok([source('(1, 1)'), append()])
  const failed = await space.run([source('(2, 2), (3, null), (4, null)'), append()])
  assert.match(
    resultOf(failed, 'mart.t').because,
    /^models\/mart\/t\.sql:2:1: 2 rows have NULL in the watermark column "ts"/,
  )
  assert.equal(await idsOf(space), ['1'])
})

test('nothing new is no new version; an unsigned watermark may look back below zero', async () => {
  await using space = await openProject()
  const reader = query('mart.r', 'from mart.t', { reads: ['mart.t'] })
  const model = append({ incremental: 'ts lookback 100' })
  await space.ok([source('(1, 5::ubigint)'), model, reader])
  const same = await space.ok([source('(1, 5::ubigint) -- again\n'), model, reader])
  assert.is(resultOf(same, 'mart.t').status, 'built')
  assert.is(resultOf(same, 'mart.r').status, 'unchanged')
})

test('a new column fills the rows that are read again', async () => {
  await using space = await openProject()
  const model = append({ incremental: 'ts lookback 5' })
  await space.ok([source('(1, 1), (2, 8)'), model])
  const wider = source('(1, 1, 10), (2, 8, 20), (3, 9, 30)', 't(id, ts, z)')
  await space.ok([wider, model])
  await space.ok([source('(2, 8, 20), (3, 9, 30)', 't(id, ts, z)'), model])
  assert.equal(await space.rows(sql`FROM mart.t ORDER BY id`), [
    { id: 1, ts: 1, z: null },
    { id: 2, ts: 8, z: 20 },
    { id: 3, ts: 9, z: 30 },
  ])
})

test('a watermark that the table does not have is refused with the flag that rebuilds', async () => {
  await using space = await openProject()
  await space.ok([source('(1, 1)'), append()])
  const other = [source('(1, 1, 1)', 't(id, ts, seen)'), append({ incremental: 'seen' })]
  const because = resultOf(await space.run(other), 'mart.t').because
  assert.match(because, /no column "seen" .*--full-refresh/)
  await space.ok(other, { fullRefresh: true })
})

test('a backfill replaces its range and nothing else', async () => {
  await using space = await openProject()
  const dates = (...ids: readonly string[]) =>
    source(ids.map((id) => `('${id}', date '2024-01-0${id[0]}')`).join())
  await space.ok([dates('1a', '2a', '3a', '4a'), append()])
  const range = { start: '2024-01-02', end: '2024-01-04' }
  const summary = await space.ok([dates('1b', '2b', '2c', '4b'), append()], { range })
  assert.is(resultOf(summary, 'mart.t').because, 'backfill')
  assert.equal(await idsOf(space), ['1a', '2b', '2c', '4a'])
  const wrong = await space.run([dates('1b'), append()], { range: { start: 'x', end: 'y' } })
  assert.is(resultOf(wrong, 'mart.t').status, 'failed')
  assert.equal(await idsOf(space), ['1a', '2b', '2c', '4a'])
})

test.run()
