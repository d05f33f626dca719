import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Database } from '../../../src/duckdb/database.ts'
import { sql } from '../../../src/core/sql.ts'
import { engineVersion, extensionFile } from './parts.ts'

test('the extensions of the parts are those of the engine and of this machine', async () => {
  await using database = await Database.open({ path: ':memory:' })
  await using connection = await database.connect()
  const row = await connection.row(sql`SELECT version() AS version, * FROM pragma_platform()`)
  assert.is(row?.['version'], `v${engineVersion}`)
  const [, ...directories] = extensionFile('ducklake').split('/').toReversed()
  assert.equal(directories.slice(0, 2), [row?.['platform'], `v${engineVersion}`])
})

test.run()
