// A relation and the file of its model move together or not at all.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ModelName } from '../../../src/core/names.ts'
import { sql } from '../../../src/core/sql.ts'
import { readEngineCatalog } from '../../../src/duckdb/catalog.ts'
import { type Connection, Database } from '../../../src/duckdb/database.ts'
import { renameRelation } from '../../../src/pipeline/rename/rename-model.ts'
import { fileState } from '../../../src/store/files/state.ts'
import { fileTables } from '../../../src/store/files/tables.ts'
import { ensureState } from '../../../src/store/files/layout.ts'

const [from, to] = ['a.old', 'b.next'] as readonly string[] as readonly [ModelName, ModelName]

async function withTable(work: (connection: Connection) => Promise<void>): Promise<void> {
  await using database = await Database.open({ path: ':memory:' })
  await using connection = await database.connect()
  await ensureState(connection, await readEngineCatalog(connection))
  await connection.run(sql`CREATE SCHEMA a`)
  await connection.run(sql`CREATE TABLE a.old AS SELECT 1 AS id`)
  await connection.run(sql`
    INSERT INTO _eider.models
    VALUES (${sql.value(from)}, 'merge', 'f', 'v', 'd', 'r', now(), NULL)`)
  await work(connection)
}

/** Notes what is done to the file. */
function fileThat(done: string[], refuses = false) {
  return {
    rename: () => {
      done.push('rename')
      return refuses ? Promise.reject(new Error('the disk refuses')) : Promise.resolve()
    },
    renameBack: () => {
      done.push('rename back')
      return Promise.resolve()
    },
  }
}

const state = fileState('/nowhere')

async function assertUnmoved(connection: Connection): Promise<void> {
  assert.equal([...(await readEngineCatalog(connection)).relations.keys()].includes('a.old'), true)
  assert.equal(
    [...(await readEngineCatalog(connection)).relations.keys()].includes('b.next'),
    false,
  )
  assert.is((await connection.row(sql`SELECT model FROM _eider.models`))?.['model'], from)
}

test('the file is renamed with the table', () =>
  withTable(async (connection) => {
    const done: string[] = []
    const moved = await renameRelation({ connection, state, tables: fileTables }, from, to, {
      replace: false,
      file: fileThat(done),
    })
    assert.equal(moved, { model: to, kind: 'merge', rows: 1 })
    assert.equal(done, ['rename'])
    assert.is((await connection.row(sql`SELECT model FROM _eider.models`))?.['model'], to)
  }))

test('a table keeps its name when the disk refuses the file', () =>
  withTable(async (connection) => {
    const done: string[] = []
    const options = { replace: false, file: fileThat(done, true) }
    const failure = await renameRelation(
      { connection, state, tables: fileTables },
      from,
      to,
      options,
    ).catch((error: Error) => error)
    assert.match((failure as Error).message, 'the disk refuses')
    assert.equal(done, ['rename'])
    await assertUnmoved(connection)
  }))

test('a file is renamed back when the engine refuses the commit', () =>
  withTable(async (connection) => {
    const run = connection.run.bind(connection)
    connection.run = (statement) =>
      statement.inline() === 'COMMIT' ? Promise.reject(new Error('no commit')) : run(statement)
    const done: string[] = []
    const options = { replace: false, file: fileThat(done) }
    const failure = await renameRelation(
      { connection, state, tables: fileTables },
      from,
      to,
      options,
    ).catch((error: Error) => error)
    assert.match((failure as Error).message, 'no commit')
    assert.equal(done, ['rename', 'rename back'])
    await assertUnmoved(connection)
  }))

test.run()
