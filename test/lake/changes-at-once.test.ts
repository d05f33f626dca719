// Several connections of one engine that make relations at once, as a run does that builds several models at a time.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../src/core/sql.ts'
import { openStore } from '../../src/store/open.ts'
import { lakeSettingsOf } from '../support/lake/lake-settings-of.ts'
import { lakeTest } from '../support/lake/lake-test.ts'
import { withLake } from '../support/lake/with-lake.ts'
import { pathsOf } from '../support/pipeline-project.ts'

const ROUNDS = 8
const AT_ONCE = 6

lakeTest('relations that are made at the same moment are where they were made', async () => {
  await using lake = await withLake()
  const paths = { ...pathsOf('/nowhere'), lake: lakeSettingsOf(lake) }
  const { lease, warehouse, state } = openStore(paths)
  const { signal } = new AbortController()
  await using _lease = await lease.take({ waitMs: 0, signal, name: 'test' })
  await using database = await warehouse.open({ memoryLimit: null, lockWaitMs: 0, signal })
  await using connection = await database.connect()
  await state.begin(connection, [])
  await connection.run(sql`CREATE SCHEMA mart`)
  const connections = await Promise.all(Array.from({ length: AT_ONCE }, () => database.connect()))
  for (let round = 0; round < ROUNDS; round++)
    await Promise.all(
      connections.map((one, i) =>
        state.change(one, async () => {
          await one.run(
            sql`CREATE VIEW ${sql.ident('mart', `v${round}_${i}`)} AS SELECT ${sql.value(i)} AS i`,
          )
        }),
      ),
    )
  const made = await connection.rows(sql`
    SELECT schema_name AS schema, count(*)::INTEGER AS views FROM duckdb_views()
    WHERE database_name = current_database() AND view_name LIKE 'v%' GROUP BY ALL`)
  assert.equal(made, [{ schema: 'mart', views: ROUNDS * AT_ONCE }])
})

test.run()
