// The upkeep of a lake, under the lock of a run of all models; flushes and readers go on meanwhile. The order matters:
// files are merged, states that nobody needs are dropped, and only then are the files deleted that no state names.
//
// A file may be that of a transaction which is about to commit, or may be read just now, so only those are deleted that
// nothing has named for `lake.keep_days`. Both clocks must say so, that of this machine and that of PostgreSQL.

import { LAKE_DATABASE, STORED_SCHEMA } from '../../core/lake.ts'
import { columnType } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { isConflict } from '../../duckdb/errors.ts'
import { numberOf, textOf } from '../../duckdb/values.ts'
import { DamagedRowsError } from '../table-storage.ts'
import { STATE_SCHEMA } from '../state.ts'
import type { TableUpkeep, Upkeep, UpkeepOptions, UpkeepReport } from '../store.ts'
import { explainLake } from './failures.ts'
import { requireOwnLake } from './layout.ts'
import { lakeLease } from './lease.ts'
import { dropRecords } from './records.ts'
import type { LakeSession } from './session.ts'
import { parseState } from './published-states.ts'
import { retried } from './retried.ts'

const LAKE = sql.value(LAKE_DATABASE)

/** The database of the tables in which DuckLake keeps a lake. */
const metadata = `__ducklake_metadata_${LAKE_DATABASE}`

const DAY_MS = 86_400_000

/** States are dropped in parts, so that no statement grows without bound. */
const STATES_AT_ONCE = 1_000

export const lakeUpkeep = (session: LakeSession): Upkeep => ({
  async maintain(options) {
    try {
      return await maintain(session, options)
    } catch (error) {
      throw explainLake(error, session.lake)
    }
  },
})

async function maintain(session: LakeSession, options: UpkeepOptions): Promise<UpkeepReport> {
  await using _lease = await lakeLease(session).take({ ...options, name: 'maintain' })
  if (options.migrate) await migrate(session)
  const engine = await session.attached()
  if (engine === null) throw new Error('the lease has no engine')
  await using connection = await engine.database.connect()
  await requireOwnLake(connection, session.lake)
  const cutoff = await cutoffOf(connection, session.lake.keepDays)

  const tables = await readTables(connection, session.lake.schema)
  const busy = new Set<string>()
  let damage: DamagedRowsError | null = null
  if (!options.dryRun)
    for (const table of tables) {
      options.signal.throwIfAborted()
      try {
        if (!(await mergeFiles(connection, table))) busy.add(table.id)
      } catch (error) {
        const explained = explainLake(error, session.lake)
        if (!(explained instanceof DamagedRowsError)) throw explained
        damage ??= explained
      }
    }
  const after = options.dryRun ? tables : await readTables(connection, session.lake.schema)
  let recordsDeleted = 0
  if (!options.dryRun) {
    await retried(() =>
      connection.rows(sql`
      FROM ducklake_flush_inlined_data(${LAKE}, schema_name => ${sql.value(STATE_SCHEMA)})`),
    )
    recordsDeleted = await dropRecords(connection, cutoff)
  }
  const states = await dropStates(connection, cutoff, options)
  const filesDeleted = await deleteFiles(session, cutoff, options)
  // One table that cannot be mended must not keep the others from it for ever.
  if (damage !== null) throw damage
  const reports = tables.map((table) => reportOf(table, after, busy))
  return { tables: reports, ...states, filesDeleted, recordsDeleted }
}

/** Uses a separate engine, so that the lake is attached afterwards as it is then. */
async function migrate(session: LakeSession): Promise<void> {
  const engine = await session.openEngine('maintain')
  await using _database = engine.database
  await engine.attach({ migrates: true })
}

interface Table {
  readonly id: string
  readonly schema: string
  readonly name: string
  readonly files: number
  readonly bytes: number
  readonly deleteFiles: number
}

/** One of the tables in which DuckLake keeps a lake. */
export const catalogTable = (schema: string, name: string): Sql => sql.ident(metadata, schema, name)

export async function readTables(
  connection: Connection,
  schema: string,
): Promise<readonly Table[]> {
  const schemas = catalogTable(schema, 'ducklake_schema')
  const rows = await connection.rows(sql`
    SELECT t.table_id::VARCHAR AS id, s.schema_name AS schema, t.table_name AS name, t.file_count AS files, t.file_size_bytes AS bytes,
      t.delete_file_count AS delete_files
    FROM ducklake_table_info(${LAKE}) t
    JOIN ${schemas} s ON s.schema_id = t.schema_id AND s.end_snapshot IS NULL ORDER BY schema, name`)
  return rows.map((row) => ({
    id: textOf(row['id']),
    schema: textOf(row['schema']),
    name: textOf(row['name']),
    files: numberOf(row['files']),
    bytes: numberOf(row['bytes']),
    deleteFiles: numberOf(row['delete_files']),
  }))
}

const reportOf = (
  { id, schema, name, files, bytes }: Table,
  after: readonly Table[],
  busy: ReadonlySet<string>,
): TableUpkeep => ({
  table: schema === STORED_SCHEMA ? name : `${schema}.${name}`,
  filesBefore: files,
  filesAfter: after.find((table) => table.id === id)?.files ?? files,
  bytes,
  busy: busy.has(id),
})

/** Small files become one, and files with many deleted rows are written without them. False: others were in the way. */
async function mergeFiles(connection: Connection, table: Table): Promise<boolean> {
  const [name, schema] = [sql.value(table.name), sql.value(table.schema)]
  const work = [
    ...(table.files > 1 ? [sql`ducklake_merge_adjacent_files`] : []),
    ...(table.deleteFiles > 0 ? [sql`ducklake_rewrite_data_files`] : []),
  ]
  try {
    for (const call of work)
      await connection.run(sql`CALL ${call}(${LAKE}, ${name}, schema => ${schema})`)
    return true
  } catch (error) {
    if (isConflict(error)) return false
    throw error
  }
}

/** Without its deleted rows, however few they are. */
export async function rewriteTable(connection: Connection, table: Table): Promise<void> {
  const [name, schema] = [sql.value(table.name), sql.value(table.schema)]
  await connection.run(
    sql`CALL ducklake_rewrite_data_files(${LAKE}, ${name}, schema => ${schema}, delete_threshold => 0)`,
  )
}

const ALL_TIMES = sql.value('infinity', columnType('TIMESTAMPTZ'))

/** All but the newest, and those that a published state names. */
export async function dropOtherStates(connection: Connection): Promise<void> {
  await dropStates(connection, ALL_TIMES, { dryRun: false })
}

/** Also what others may be about to read. What nothing has ever named stays: it may be about to be committed. */
export async function deleteUnused(session: LakeSession): Promise<number> {
  const engine = await session.openEngine('erase')
  await using database = engine.database
  await engine.attachToDelete()
  await using connection = await database.connect()
  const rows = await connection.rows(
    sql`FROM ducklake_cleanup_old_files(${LAKE}, cleanup_all => true)`,
  )
  return rows.length
}

/** A timestamp: what is older may be deleted. */
async function cutoffOf(connection: Connection, keepDays: number): Promise<Sql> {
  const now = sql`SELECT extract(epoch FROM now())::BIGINT AS seconds`
  const row = await connection.row(
    sql`FROM postgres_query(${sql.value(metadata)}, ${sql.value(now.inline())})`,
  )
  const nowMs = Math.min(Date.now(), numberOf(row?.['seconds']) * 1000)
  const cutoff = new Date(nowMs - keepDays * DAY_MS).toISOString()
  return sql.value(cutoff, columnType('TIMESTAMPTZ'))
}

/** Those that are old, but for the newest, and those that services may show. */
async function dropStates(
  connection: Connection,
  cutoff: Sql,
  { dryRun }: Pick<UpkeepOptions, 'dryRun'>,
): Promise<Pick<UpkeepReport, 'statesDropped' | 'statesKept'>> {
  const published = await connection.rows(
    sql`SELECT manifest::VARCHAR AS manifest FROM _eider.published`,
  )
  const named = new Set(
    published.flatMap(({ manifest }) => parseState(textOf(manifest)).relations.map(({ at }) => at)),
  )
  const rows = await connection.rows(sql`
    SELECT snapshot_id AS id, snapshot_time < ${cutoff} AND snapshot_id < max(snapshot_id) OVER () AS old
    FROM ducklake_snapshots(${LAKE}) ORDER BY id`)
  const old = rows.filter((row) => row['old'] === true).map(({ id }) => textOf(id))
  const dropped = old.filter((id) => !named.has(id))
  if (!dryRun)
    for (let at = 0; at < dropped.length; at += STATES_AT_ONCE) {
      const ids = dropped.slice(at, at + STATES_AT_ONCE).map((id) => sql.value(BigInt(id)))
      await retried(() =>
        connection.run(
          sql`CALL ducklake_expire_snapshots(${LAKE}, versions => [${sql.join(ids)}])`,
        ),
      )
    }
  return { statesDropped: dropped.length, statesKept: rows.length - dropped.length }
}

/** The only place of the tool that has the right to delete objects. */
async function deleteFiles(
  session: LakeSession,
  cutoff: Sql,
  { dryRun }: UpkeepOptions,
): Promise<number> {
  const engine = await session.openEngine('maintain')
  await using database = engine.database
  await engine.attachToDelete()
  await using connection = await database.connect()
  let deleted = 0
  for (const call of [sql`ducklake_cleanup_old_files`, sql`ducklake_delete_orphaned_files`]) {
    const rows = await connection.rows(
      sql`FROM ${call}(${LAKE}, older_than => ${cutoff}, dry_run => ${dryRun ? sql`true` : sql`false`})`,
    )
    deleted += rows.length
  }
  return deleted
}
