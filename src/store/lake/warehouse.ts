// The tables of a target in a lake. Any number of processes read and write it at once, so nobody waits here.

import { describeLake, LAKE_DATABASE } from '../../core/lake.ts'
import { sql } from '../../core/sql.ts'
import type { Database } from '../../duckdb/database.ts'
import { numberOf } from '../../duckdb/values.ts'
import type { ReadOptions, Warehouse, WriteOptions } from '../warehouse.ts'
import { explainLake, isMissing } from './failures.ts'
import { adjust, type LakeSession } from './session.ts'

export const lakeWarehouse = (session: LakeSession): Warehouse => ({
  get name() {
    return describeLake(session.lake)
  },
  readersHoldRuns: false,
  exists: () => exists(session),
  open: (options) => open(session, options),
  openToRead: (options) => openToRead(session, options),
  // An engine without a database file, to which the lake is attached.
  openBeside: (options) => openToRead(session, options),
  openLastState: () => Promise.resolve(null),
  checkpoint: () => Promise.resolve(),
  fork: null,
})

async function exists(session: LakeSession): Promise<boolean> {
  if (session.isMade !== null) return session.isMade
  // Without parameters, which would take another transaction.
  const row = await session.read((connection) =>
    connection.row(sql`
      SELECT count(*) AS n FROM duckdb_schemas()
      WHERE database_name = current_database() AND schema_name = '_eider'`),
  )
  return row !== null && numberOf(row['n']) > 0
}

async function open(session: LakeSession, options: WriteOptions): Promise<Database> {
  const engine = await session.attached()
  if (engine === null) throw new Error('a lake is opened for writing under its lease')
  const { database, control } = engine
  await adjust(control, options)
  await control.loadExtensions(options.extensions?.names ?? [])
  return database
}

/** One state of the lake from the first statement to the last. */
async function openToRead(session: LakeSession, options: ReadOptions): Promise<Database> {
  try {
    const engine = await session.openAttached('read', options)
    await engine.pin()
    session.readWith(engine)
    // A plan or a query may run for long, and what it reads may go away meanwhile.
    engine.database.explainBy((error) => explainLake(error, session.lake))
    return engine.database
  } catch (error) {
    if (!isMissing(error)) throw explainLake(error, session.lake)
    const { database } = await session.openEngine('read', options)
    await using connection = await database.connect()
    const name = sql.ident(LAKE_DATABASE)
    await connection.run(sql`ATTACH ':memory:' AS ${name}`)
    database.onConnect([sql`USE ${name}`])
    return database
  }
}
