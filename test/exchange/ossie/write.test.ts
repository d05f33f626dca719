import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../src/core/sql.ts'
import { Database } from '../../../src/duckdb/database.ts'
import { reserved } from '../../../src/exchange/ossie/write.ts'

test('the words that are quoted are those that the engine reserves', async () => {
  await using database = await Database.open({ path: ':memory:', threads: 1 })
  await using connection = await database.connect()
  const rows = await connection.rows(sql`
    SELECT keyword_name AS name FROM duckdb_keywords()
    WHERE keyword_category = 'reserved' ORDER BY name`)
  assert.equal(
    [...reserved].toSorted(),
    rows.map(({ name }) => name),
  )
})

test.run()
