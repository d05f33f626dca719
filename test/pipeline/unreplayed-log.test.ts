import { existsSync, statSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../src/core/limits.ts'
import { sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { openStore } from '../../src/store/open.ts'
import { type TestProject, openProject, statuses } from '../support/pipeline-project.ts'
import { query } from '../support/handmade-models.ts'

const models = [query('a.t', 'select 1 as v')]
const logOf = ({ paths }: TestProject) => `${paths.database}.wal`

test('a run without work leaves its record in the log, where readers and the next run find it', async () => {
  await using space = await openProject()
  await space.ok(models)
  assert.not(existsSync(logOf(space)), 'a run that built something has cleared the log')
  await space.ok(models)
  const { size } = statSync(logOf(space))
  assert.ok(size > 0)
  assert.is(await runsRead(space), 2)
  await space.ok(models)
  assert.ok(statSync(logOf(space)).size > size)
  assert.is(await runsRead(space), 3)

  const changed = [query('a.t', 'select 2 as v')]
  assert.equal(statuses(await space.run(changed)), { 'a.t': 'built' })
  assert.not(existsSync(logOf(space)))
  assert.is(await runsRead(space), 4)
})

test('a relation that was dropped by hand beside a log that was left is built again', async () => {
  await using space = await openProject()
  await space.ok(models)
  await space.ok(models)
  {
    await using database = await Database.open({ path: space.paths.database })
    await using connection = await database.connect()
    await connection.run(sql`DROP TABLE a.t`)
  }
  assert.equal(statuses(await space.run(models)), { 'a.t': 'built' })
})

test('a warehouse that is removed beside its log is made again', async () => {
  await using space = await openProject()
  await space.ok(models)
  await space.ok(models)
  await rm(space.paths.database)
  assert.equal(statuses(await space.run(models)), { 'a.t': 'built' })
  assert.is(await runsRead(space), 1)
})

test('the log of another state of the warehouse does not stand in the way of a backup', async () => {
  await using space = await openProject()
  await space.ok(models)
  const backup = await readFile(space.paths.database)
  const changed = [query('a.t', 'select 2 as v')]
  await space.ok(changed)
  await space.ok(changed)
  assert.ok(existsSync(logOf(space)))
  await writeFile(space.paths.database, backup)
  assert.equal(statuses(await space.run(changed)), { 'a.t': 'built' })
})

test('the log of several runs is left, however many models they tell of', async () => {
  await using space = await openProject()
  const many = Array.from({ length: 100 }, (_, i) => query(`a.t${i}`, 'select 1 as v'))
  await space.ok(many)
  await space.ok(many)
  const { size } = statSync(logOf(space))
  for (let i = 0; i < 4; i++) await space.ok(many)
  assert.ok(statSync(logOf(space)).size > 4 * size)
  assert.is(await runsRead(space), 6)
})

const hundred = (changed: readonly number[], text: string) =>
  Array.from({ length: 2 * limits.leftLogModels }, (_, i) =>
    query(`a.t${i}`, changed.includes(i) ? text : 'select 1 as v'),
  )

test('a run that built few of many models leaves the log, and what it built is there', async () => {
  await using space = await openProject()
  await space.ok(hundred([], ''))
  await space.ok(hundred([7, 8], "select 'few' as v"))
  assert.ok(existsSync(logOf(space)))
  assert.equal(await space.rows(sql`FROM a.t7`), [{ v: 'few' }])
  assert.is(await runsRead(space), 2)
  const { models: results } = await space.ok(hundred([7, 8], "select 'few' as v"))
  assert.ok(results.every(({ status }) => status === 'unchanged'))

  await space.ok(hundred([7, 8, 9], "select 'more' as v"))
  assert.not(existsSync(logOf(space)), 'three of a hundred are more than one of fifty')
  assert.equal(await space.rows(sql`FROM a.t9`), [{ v: 'more' }])
})

test('a run that built a large model clears the log', async () => {
  await using space = await openProject()
  await space.ok(hundred([], ''))
  const rows = (count: number) => `select 1 as v from range(${count})`
  await space.ok(hundred([7], rows(limits.leftLogRows + 1)))
  assert.not(existsSync(logOf(space)))
})

test('the log of many runs is cleared', async () => {
  await using space = await openProject()
  await space.ok(models)
  let cleared = false
  for (let i = 0; i < limits.leftLogRuns && !cleared; i++) {
    await space.ok(models)
    cleared = !existsSync(logOf(space))
  }
  assert.ok(cleared)
})

test('a log that has grown is cleared', async () => {
  await using space = await openProject()
  await space.ok(models)
  await space.ok(models)
  {
    await using database = await Database.open({ path: space.paths.database })
    await using connection = await database.connect()
    await connection.run(sql`PRAGMA disable_checkpoint_on_shutdown`)
    const text = sql.value('x'.repeat(64 * 1024))
    await connection.run(sql`CREATE TABLE main.grown AS SELECT ${text} AS v`)
  }
  assert.ok(statSync(logOf(space)).size > 64 * 1024)
  await space.ok(models)
  assert.not(existsSync(logOf(space)))
  assert.is(await runsRead(space), 3)
})

async function runsRead({ paths }: TestProject): Promise<number> {
  await using database = await openStore(paths).warehouse.openToRead({ memoryLimit: null })
  await using connection = await database.connect()
  return (await connection.rows(sql`SELECT run_id FROM _eider.runs`)).length
}

test.run()
