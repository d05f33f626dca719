// For each line of stdin an engine takes the lock of a run, attaches a lake, writes in two transactions, the second of which
// it leaves open, and is closed. It is answered by a line.

import { createInterface } from 'node:readline'
import { requireWhole } from '../../../src/core/lake.ts'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import { LakeEngine } from '../../../src/duckdb/open-lake.ts'
import { LakeLock } from '../../../src/store/lake/lock.ts'
import { lakeSettingsOf } from './lake-settings-of.ts'

type Given = Parameters<typeof lakeSettingsOf>[0]

const lake = requireWhole(lakeSettingsOf(JSON.parse(process.env['LAKE']!) as Given))
const signal = new AbortController().signal

for await (const _ of createInterface(process.stdin)) {
  const said = await round().catch(String)
  process.stdout.write(`${JSON.stringify(said)}\n`)
}

async function round(): Promise<string> {
  await using resources = new Resources()
  const engine = await LakeEngine.open(lake, { applicationName: 'eider test', threads: 1 })
  resources.use(engine.database)
  await LakeLock.take(engine, { name: 'test', waitMs: 60_000, signal })
  await engine.attach({ makes: true })
  const connection = await engine.database.connect()
  await connection.transact(() => connection.run(sql`CREATE OR REPLACE TABLE t AS SELECT 1 AS n`))
  await connection.run(sql`BEGIN TRANSACTION`)
  await connection.run(sql`INSERT INTO t VALUES (2)`)
  return 'whole'
}
