// Database files of a DuckDB that is newer than the engine: as a source, and as the warehouse.

import { readFile, writeFile } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { workspace } from '../support/workspace.ts'

/** Later than any that this engine knows. */
const VERSION = 999n
const MULTIPLIER = 0xbf58476d1ce4e5b9n

/** A database whose header says so; its checksum is a XOR over its words. */
async function writeNewer(path: string): Promise<void> {
  {
    await using database = await Database.open({ path })
    await using connection = await database.connect()
    await connection.run(sql`CREATE TABLE c AS SELECT 1 AS id`)
  }
  const file = await readFile(path)
  const mixed = (at: number) => BigInt.asUintN(64, file.readBigUInt64LE(at) * MULTIPLIER)
  const words = () => mixed(8) ^ mixed(16)
  const before = words()
  file.writeBigUInt64LE(VERSION, 12)
  file.writeBigUInt64LE(file.readBigUInt64LE(0) ^ before ^ words(), 0)
  await writeFile(path, file)
}

test('a source that a newer DuckDB wrote is said so, with what to do there', async () => {
  await using space = await workspace({
    'eider.yml': 'name: t\nsources:\n  crm:\n    database: crm.duckdb\n    tables:\n      c:\n',
    'models/a/b.sql': 'SELECT id FROM crm.c',
  })
  await writeNewer(space.path('crm.duckdb'))
  const { stdout } = await space.ok(['check'], { exitCode: 1 })
  assert.match(stdout, 'the source "crm" cannot be read: a newer DuckDB wrote it')
  assert.match(stdout, "hint: write it there with ATTACH … (STORAGE_VERSION 'v1.5.0')")
})

test('a warehouse that a newer DuckDB wrote is left as it is', async () => {
  await using space = await workspace({
    'eider.yml': 'name: t\ndatabase: new.duckdb\n',
    'models/a/b.sql': 'SELECT 1 AS id',
  })
  await writeNewer(space.path('new.duckdb'))
  const before = await readFile(space.path('new.duckdb'))
  const { stderr } = await space.ok(['run'], { exitCode: 3 })
  assert.match(stderr, /a newer DuckDB than that of eider wrote the warehouse \S+new\.duckdb/)
  assert.match(stderr, 'hint: use the version of eider or DuckDB that wrote it')
  assert.equal(await readFile(space.path('new.duckdb')), before)
})

test.run()
