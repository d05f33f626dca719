// A model whose rows stay is edited: rows that are read again are those of the new rule, the others keep theirs, and what
// made which is remembered.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../src/core/sql.ts'
import { catalogKey } from '../../../src/duckdb/catalog.ts'
import { openStore } from '../../../src/store/open.ts'
import { query, type QueryModelOptions } from '../../support/handmade-models.ts'
import { openProject, resultOf, type TestProject } from '../../support/pipeline-project.ts'

/** `id ts amount` of each row. */
const orders = (...rows: readonly string[]) => {
  const values = rows.map((row) => `(${row.replaceAll(' ', ', ')})`).join()
  return query('raw.s', `select * from (values ${values}) t(id, ts, amount)`)
}

const times = (factor: number, options: QueryModelOptions = {}) =>
  query('mart.t', `select id, ts, amount * ${factor} as v from raw.s`, {
    kind: 'append',
    incremental: 'ts',
    reads: ['raw.s'],
    ...options,
  })

const rowsOf = async (space: TestProject) =>
  (await space.rows(sql`SELECT concat_ws(' ', id, ts, v) AS text FROM mart.t ORDER BY ALL`)).map(
    ({ text }) => text as string,
  )

async function recorded({ paths }: TestProject) {
  const { warehouse, state } = openStore(paths)
  await using database = await warehouse.openToRead({ memoryLimit: null, threads: 1 })
  await using connection = await database.connect()
  const { catalog, state: known } = await state.read(connection, [])
  const slices = await state.readSlices(connection, known.models.keys())
  const older = await state.olderRows.read(connection, known.models.keys())
  return { catalog, slices, left: [...older.values()].map(({ left }) => left) }
}

const rangesOf = async (space: TestProject) =>
  (await recorded(space)).slices.map(({ start, end, definition }) => [start, end, definition])

test('the row at the watermark is there once, after each change of the rule', async () => {
  await using space = await openProject()
  const source = orders('1 1 10', '7 7 20', '8 8 30')
  await space.ok([source, times(1)])
  await space.ok([source, times(2)])
  assert.equal(await rowsOf(space), ['1 1 10', '7 7 20', '8 8 60'])
  await space.ok([source, times(3)])
  assert.equal(await rowsOf(space), ['1 1 10', '7 7 20', '8 8 90'])
  assert.equal(await rangesOf(space), [
    [null, null, times(1).definition],
    ['8', null, times(3).definition],
  ])
})

test('rows within the lookback are those of the new rule, with a key too', async () => {
  for (const options of [{}, { key: ['id'] as const }]) {
    await using space = await openProject()
    const source = orders('1 1 10', '7 7 20', '8 8 30', '9 8 30')
    const back = { ...options, incremental: 'ts lookback 1' }
    await space.ok([source, times(1, back)])
    await space.ok([orders('7 7 20', '8 8 30', '9 8 30', '10 9 5'), times(2, back)])
    const expected = ['1 1 10', '7 7 40', '8 8 60', '9 8 60', '10 9 10']
    assert.equal((await rowsOf(space)).toSorted(), expected.toSorted())
    const same = await space.ok([orders('9 8 30', '10 9 5', '11 9 6'), times(2, back)])
    assert.is(resultOf(same, 'mart.t').rows, 1)
    assert.equal((await rowsOf(space)).toSorted(), [...expected, '11 9 12'].toSorted())
  }
})

test('two equal rows stay two, and nothing is written where both rules make the same', async () => {
  await using space = await openProject()
  const source = orders('1 1 10', '2 8 30', '2 8 30')
  await space.ok([source, times(1)])
  const same = query('mart.t', 'select id, ts, amount + amount - amount as v from raw.s', {
    kind: 'append',
    incremental: 'ts',
    reads: ['raw.s'],
  })
  const run = await space.ok([source, same])
  assert.is(resultOf(run, 'mart.t').rows, 0)
  await space.ok([source, times(2)])
  assert.equal(await rowsOf(space), ['1 1 10', '2 8 60', '2 8 60'])
})

test('what the source no longer has stays, also where rows are read again', async () => {
  for (const options of [{}, { key: ['id'] as const }]) {
    await using space = await openProject()
    const back = { ...options, incremental: 'ts lookback 5' }
    await space.ok([orders('1 1 10', '5 5 20', '8 8 30'), times(1, back)])
    await space.ok([orders('4 4 1', '8 8 30', '9 9 1'), times(2, back)])
    assert.equal(await rowsOf(space), ['1 1 10', '4 4 2', '5 5 20', '8 8 60', '9 9 2'])
    assert.equal((await recorded(space)).left, [1], 'the row of the fifth has the old rule')
  }
})

test('a source that gives nothing at first does not make the old rule the new one', async () => {
  await using space = await openProject()
  const none = query('raw.s', 'select 1 as id, 1 as ts, 1 as amount where false')
  await space.ok([orders('1 1 10', '8 8 30'), times(1)])
  await space.ok([none, times(2)])
  assert.equal(await rangesOf(space), [[null, null, times(1).definition]])
  await space.ok([orders('8 8 30', '9 9 1'), times(2)])
  assert.equal(await rowsOf(space), ['1 1 10', '8 8 60', '9 9 2'])
  assert.equal(await rangesOf(space), [
    [null, null, times(1).definition],
    ['8', null, times(2).definition],
  ])
})

test('a backfill by a new rule is remembered as that, and so is what it leaves', async () => {
  await using space = await openProject()
  const source = orders('1 1 10', '5 5 20', '8 8 30')
  await space.ok([source, times(1)])
  await space.ok([source, times(2)], { range: { start: '4', end: '6' } })
  assert.equal(await rowsOf(space), ['1 1 10', '5 5 40', '8 8 30'])
  assert.equal(await rangesOf(space), [
    [null, null, times(1).definition],
    ['4', '6', times(2).definition],
  ])
  await space.ok([orders('8 8 30', '9 9 1'), times(2)])
  assert.equal(await rowsOf(space), ['1 1 10', '5 5 40', '8 8 60', '9 9 2'])
})

test('a merge with a watermark remembers from where on its rows are of the new rule', async () => {
  await using space = await openProject()
  const merge = (factor: number) => times(factor, { kind: 'merge', key: ['id'] })
  await space.ok([orders('1 1 10', '7 8 20', '8 8 30'), merge(1)])
  await space.ok([orders('8 8 30', '1 9 11'), merge(2)])
  assert.equal(await rowsOf(space), ['1 9 22', '7 8 20', '8 8 60'])
  assert.equal(await rangesOf(space), [
    [null, null, merge(1).definition],
    ['8', null, merge(2).definition],
  ])
  assert.equal((await recorded(space)).left, [1], 'row 7 is gone from the source')
})

test('of a merge that reads all, what the source no longer has is counted', async () => {
  await using space = await openProject()
  const merge = (factor: number) => times(factor, { kind: 'merge', key: ['id'], incremental: '' })
  await space.ok([orders('1 1 10', '7 8 20', '8 8 30'), merge(1)])
  await space.ok([orders('8 8 30'), merge(2)])
  assert.equal(await rowsOf(space), ['1 1 10', '7 8 20', '8 8 60'])
  assert.equal((await recorded(space)).left, [2])
  await space.ok([orders('7 8 20', '9 9 1'), merge(2)])
  assert.equal((await recorded(space)).left, [2], 'one of those may be of the new rule')
  await space.ok([orders('1 1 10', '7 8 20', '8 8 30'), merge(2)])
  assert.equal((await recorded(space)).left, [1])
  await space.ok([orders('1 1 10'), merge(2)], { fullRefresh: true })
  assert.equal((await recorded(space)).left, [])
})

test('checks, keys and white space change no rule; a model that is not edited remembers nothing', async () => {
  await using space = await openProject()
  const source = orders('1 1 10', '8 8 30')
  const served = (factor: number, ...key: readonly string[]) => times(factor, { expose: key })
  await space.ok([source, served(1)])
  const run = await space.ok([source, served(1, 'id')])
  assert.is(resultOf(run, 'mart.t').because, 'definition changed')
  const { catalog } = await recorded(space)
  assert.not(catalog.relations.has(catalogKey('_eider', 'slices')))
  await space.ok([source, served(2, 'id')])
  const [whole] = await rangesOf(space)
  await space.ok([source, served(2, 'id', 'ts')])
  assert.equal(await rangesOf(space), [whole, ['8', null, served(2, 'id', 'ts').definition]])
  const back = await space.ok([source, served(1, 'id', 'ts')])
  assert.equal(await rowsOf(space), ['1 1 10', '8 8 30'])
  assert.is(resultOf(back, 'mart.t').older_rows, undefined, 'the first rule is back')
})

test.run()
