import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { EnvironmentError } from '../../src/core/failures.ts'
import { sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { runDefaults, openProject, statuses } from '../support/pipeline-project.ts'
import { query } from '../support/handmade-models.ts'
import { holdDatabase } from '../support/hold-database.ts'

const models = [query('a.t', 'select 1 as v')]

const failureOf = async (promise: Promise<unknown>): Promise<EnvironmentError> => {
  const error: unknown = await promise.then(
    () => null,
    (reason: unknown) => reason,
  )
  if (error instanceof EnvironmentError) return error
  throw new Error(`expected an EnvironmentError, got ${String(error)}`)
}

test('a warehouse that another process holds is named with that process, and waited for', async () => {
  await using space = await openProject()
  await space.ok(models)
  {
    await using other = await holdDatabase(space.paths.database)
    const error = await failureOf(space.run(models, { lockWaitMs: 200 }))
    assert.is(error.code, 'warehouse-locked')
    assert.match(error.message, new RegExp(`process ${other.pid} holds the warehouse`))
  }
  const other = await holdDatabase(space.paths.database)
  setTimeout(() => void other[Symbol.asyncDispose](), 200)
  assert.equal(statuses(await space.run(models, { lockWaitMs: 10_000 })), { 'a.t': 'unchanged' })
})

test('a damaged warehouse is said to be damaged, and is not written', async () => {
  await using space = await openProject()
  await space.ok(models)
  const whole = await readFile(space.paths.database)
  const flipped = Buffer.from(whole)
  for (const at of [100, 4200, 8300]) flipped[at] = flipped[at]! ^ 0xff
  const damages = [Buffer.from('this is not a database'), whole.subarray(0, 5000), flipped]
  for (const bytes of damages) {
    await rm(`${space.paths.database}.wal`, { force: true })
    await writeFile(space.paths.database, bytes)
    const error = await failureOf(space.run(models))
    assert.is(error.code, 'warehouse-damaged', error.message)
    assert.match(error.hint ?? '', /backup/)
    assert.equal(await readFile(space.paths.database), bytes)
  }
})

test('a directory in the place of the warehouse, a file in the place of its directory', async () => {
  await using space = await openProject()
  await mkdir(space.paths.database, { recursive: true })
  assert.is((await failureOf(space.run(models))).code, 'warehouse-unusable')
  const paths = { ...space.paths, database: space.path('file', 'w.duckdb') }
  await space.write('file', '')
  assert.is((await failureOf(space.run(models, { paths }))).code, 'warehouse-unusable')
})

test('a warehouse of a later version is left alone', async () => {
  await using space = await openProject()
  await space.ok(models)
  {
    await using database = await Database.open({ path: space.paths.database })
    await using connection = await database.connect()
    await connection.run(sql`UPDATE _eider.format SET format = 99`)
  }
  assert.is((await failureOf(space.run(models))).code, 'warehouse-format')
})

test('a run leaves its record in the warehouse and beside it', async () => {
  await using space = await openProject()
  const summary = await space.ok(models)
  assert.equal(await space.rows(sql`SELECT run_id, ok FROM _eider.runs`), [
    { run_id: summary.runId, ok: true },
  ])
  const results = JSON.parse(await readFile(space.path('target/run_results.json'), 'utf8')) as {
    schema_version: number
    run_id: string
    models: unknown[]
  }
  assert.is(results.schema_version, 1)
  assert.is(results.run_id, summary.runId)
  assert.is(results.models.length, 1)
  const manifest = JSON.parse(await readFile(space.path('target/manifest.json'), 'utf8')) as {
    schema_version: number
    models: { name: string }[]
  }
  assert.is(manifest.schema_version, 1)
  assert.is(manifest.models[0]?.name, 'a.t')
})

test('the engine keeps to the memory and the temporary directory of the project file', async () => {
  await using space = await openProject()
  const { logger: _logger, ...options } = runDefaults(space.paths)
  const tempDir = space.path('spill')
  const limited = { ...options, memoryLimit: '100MB', tempDir, maxTempSize: '300MB' }
  await using warehouse = await limited.store.warehouse.open(limited)
  await using connection = await warehouse.connect()
  const row = await connection.row(sql`
    SELECT current_setting('temp_directory') AS dir, current_setting('max_temp_directory_size') AS size,
      current_setting('memory_limit') AS memory`)
  assert.equal(row, { dir: tempDir, size: '286.1 MiB', memory: '95.3 MiB' })
})

test.run()
