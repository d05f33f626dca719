// A trap of DuckLake: ALTER COLUMN … TYPE and an INSERT in one transaction leave wrong statistics for good, by which the
// engine then computes. So a column that gets another type has its table made once more (src/store/lake/tables.ts).
// When the first test here begins to fail, the engine has mended it, and ALTER may come back.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { modelName } from '../support/model-name.ts'
import { columnType } from '../../src/core/relation.ts'
import { sql } from '../../src/core/sql.ts'
import type { Connection } from '../../src/duckdb/database.ts'
import { LakeEngine } from '../../src/duckdb/open-lake.ts'
import { requireWhole } from '../../src/core/lake.ts'
import { lakeTables } from '../../src/store/lake/tables.ts'
import { lakeSettingsOf } from '../support/lake/lake-settings-of.ts'
import { lakeTest } from '../support/lake/lake-test.ts'
import { withLake } from '../support/lake/with-lake.ts'

const table = modelName('m.t')

lakeTest('a type that is altered beside an insert gives values that nobody wrote', () =>
  withTable(async (connection) => {
    const least = await widenedBy(connection, () =>
      connection.run(sql`ALTER TABLE m.t ALTER COLUMN v TYPE BIGINT`),
    )
    assert.is(least, '5000000000')
  }),
)

lakeTest('a column of a lake gets another type, and its values stay', () =>
  withTable(async (connection) => {
    const change = { name: 'v', type: columnType('BIGINT'), isNew: false }
    assert.is(
      await widenedBy(connection, () => lakeTables.change(connection, table, [change])),
      '1',
    )
  }),
)

async function withTable(look: (connection: Connection) => Promise<void>): Promise<void> {
  await using lake = await withLake()
  const target = requireWhole(lakeSettingsOf(lake))
  const engine = await LakeEngine.open(target, { applicationName: 'test' })
  await using database = engine.database
  await engine.attach({ makes: true })
  await using connection = await database.connect()
  await connection.run(sql`CREATE SCHEMA m; CREATE TABLE m.t AS SELECT 1::INTEGER AS v`)
  await look(connection)
}

/** The least value of the column, of which 1 is one. */
async function widenedBy(connection: Connection, widen: () => Promise<unknown>): Promise<unknown> {
  await connection.transact(async () => {
    await widen()
    await connection.run(sql`INSERT INTO m.t VALUES (2)`)
  })
  await connection.run(sql`INSERT INTO m.t VALUES (5000000000)`)
  return (await connection.row(sql`SELECT min(v) AS least FROM m.t`))?.['least']
}

test.run()
