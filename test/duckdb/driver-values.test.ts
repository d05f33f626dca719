// Values as the driver reads them.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { columnType } from '../../src/core/relation.ts'
import { sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { textOf } from '../../src/duckdb/values.ts'

test('infinity is no day, also within lists and structs', async () => {
  await using database = await Database.open({ path: ':memory:' })
  await using connection = await database.connect()
  const types = ['DATE', 'TIMESTAMP', 'TIMESTAMPTZ', 'TIMESTAMP_S', 'TIMESTAMP_MS', 'TIMESTAMP_NS']
  for (const type of types) {
    const row = await connection.row(sql`
      SELECT CAST('infinity' AS ${sql.type(columnType(type))}) AS most, CAST('-infinity' AS ${sql.type(columnType(type))}) AS least,
        [{d: CAST('infinity' AS ${sql.type(columnType(type))})}] AS list,
        CAST('2024-02-29' AS ${sql.type(columnType(type))}) AS day`)
    assert.is(row?.['most'], 'infinity', type)
    assert.is(row?.['least'], '-infinity', type)
    assert.equal(row?.['list'], [{ d: 'infinity' }], type)
    assert.ok(textOf(row?.['day']).startsWith('2024-02-29'), type)
  }
})

test.run()
