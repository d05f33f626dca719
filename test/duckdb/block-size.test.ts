// Database files have small blocks from the day that they are made, and those that others made keep their own.

import { DuckDBInstance } from '@duckdb/node-api'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../src/core/limits.ts'
import { sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'

const ENGINE_BLOCK_BYTES = 262_144
const ROWS = 100_000

async function directory() {
  const dir = await mkdtemp(join(tmpdir(), 'eider-blocks-'))
  return {
    path: join(dir, 'test.duckdb'),
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }),
  }
}

/** As any program opens a database, and with nothing but the engine's own settings. */
async function plainly(path: string, statements: readonly string[]): Promise<unknown> {
  const instance = await DuckDBInstance.create(path)
  try {
    const connection = await instance.connect()
    let rows: unknown
    for (const statement of statements)
      rows = (await connection.runAndReadAll(statement)).getRowsJson()
    connection.closeSync()
    return rows
  } finally {
    instance.closeSync()
  }
}

async function make(path: string): Promise<void> {
  await using database = await Database.open({ path })
  await using connection = await database.connect()
  await connection.run(
    sql`CREATE TABLE t AS SELECT i, 'name ' || i AS name FROM range(${sql.value(ROWS)}) r(i)`,
  )
}

const SIZE = `SELECT block_size FROM pragma_database_size() WHERE database_name = 'test'`
const SUM = 'SELECT count(*)::INTEGER, sum(length(name))::INTEGER FROM test.t'
const ALL = [[ROWS, 988_890]]

test('a new file has small blocks, and is read and written by an engine with its own settings', async () => {
  await using space = await directory()
  await make(space.path)
  assert.equal(await plainly(space.path, [SIZE]), [[String(limits.databaseBlockBytes)]])
  assert.equal(await plainly(space.path, [SUM]), ALL)
  const attach = `ATTACH '${space.path}' AS test (READ_ONLY)`
  assert.equal(await plainly(':memory:', [attach, SUM]), ALL)
  const double = 'INSERT INTO test.t SELECT i, name FROM test.t'
  assert.equal(await plainly(space.path, [double, SUM]), [[2 * ROWS, 2 * 988_890]])
})

test('a file with the blocks of the engine is read and written, and keeps them', async () => {
  await using space = await directory()
  await plainly(space.path, [
    `CREATE TABLE t AS SELECT i, 'name ' || i AS name FROM range(${ROWS}) r(i)`,
  ])
  {
    await using database = await Database.open({ path: space.path, readOnly: true })
    await using connection = await database.connect()
    assert.equal(await connection.rows(sql`SELECT count(*)::INTEGER AS n FROM t`), [{ n: ROWS }])
  }
  {
    await using database = await Database.open({ path: space.path })
    await using connection = await database.connect()
    await connection.run(sql`CREATE TABLE u AS FROM t`)
    await connection.run(sql`DELETE FROM t WHERE i >= 10`)
    await connection.run(sql`CHECKPOINT`)
  }
  assert.equal(await plainly(space.path, [SIZE]), [[String(ENGINE_BLOCK_BYTES)]])
  assert.equal(await plainly(space.path, ['SELECT count(*)::INTEGER FROM t']), [[10]])
  assert.equal(await plainly(space.path, ['SELECT count(*)::INTEGER FROM u']), [[ROWS]])
})

test.run()
