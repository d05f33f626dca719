// Traces of deleted rows in a lake. A DELETE notes in another file which rows of a file no longer count, and older states
// name the files of before. So under the lock of a run of all models:
//
//   1 what is still in the catalog moves into files, and files with deleted rows are written without them
//   2 the newest published state names the state of now, in which its rows are the same, and is the only one that is left
//   3 no other state of the lake can be read any more
//   4 the files that nothing names are deleted, those that are still to be read somewhere too
//   5 this machine shows the newest state alone, if it shows any

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { LAKE_DATABASE, STORED_SCHEMA } from '../../core/lake.ts'
import { EnvironmentError } from '../../core/failures.ts'
import { foldCase, splitModelName } from '../../core/names.ts'
import { columnType } from '../../core/relation.ts'
import { MANIFEST_FILE } from '../../core/snapshot.ts'
import { sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { numberOf, textOf } from '../../duckdb/values.ts'
import type { Traces, TracesOptions, TracesRemoved } from '../traces.ts'
import { wideBounds } from './bounds.ts'
import { explainLake } from './failures.ts'
import { requireOwnLake } from './layout.ts'
import { lakeLease } from './lease.ts'
import {
  evaluatedTable,
  hasStates,
  type LakeRelation,
  printState,
  readNewest,
} from './published-states.ts'
import { openPuller } from './puller.ts'
import { retried } from './retried.ts'
import type { LakeSession } from './session.ts'
import { isStoredApart } from './tables.ts'
import { deleteUnused, dropOtherStates, readTables, rewriteTable } from './upkeep.ts'

const LAKE = sql.value(LAKE_DATABASE)
const BIGINT = columnType('BIGINT')

export const lakeTraces = (session: LakeSession): Traces => ({
  async remove(options) {
    try {
      const removed = await remove(session, options)
      await showNewest(session, options)
      return removed
    } catch (error) {
      throw explainLake(error, session.lake)
    }
  },
})

async function remove(session: LakeSession, options: TracesOptions): Promise<TracesRemoved> {
  await using _lease = await lakeLease(session).take({ ...options, name: 'erase' })
  const engine = await session.attached()
  if (engine === null) throw new Error('the lease has no engine')
  await using connection = await engine.database.connect()
  await requireOwnLake(connection, session.lake)
  const changed = await changedSince(connection)
  await retried(() => connection.rows(sql`FROM ducklake_flush_inlined_data(${LAKE})`))
  let bytesRewritten = 0
  for (const table of await readTables(connection, session.lake.schema)) {
    if (table.deleteFiles === 0) continue
    await retried(() => rewriteTable(connection, table))
    bytesRewritten += table.bytes
  }
  await options.onStep?.('copied')
  if (changed.length > 0)
    throw new EnvironmentError(
      'erase-unfinished',
      `${changed.join(', ')} changed while rows were erased, and the published state is of before`,
      { hint: 'eider run, then repeat the command' },
    )
  await retried(() => connection.transact(() => anchorNewest(connection)))
  await options.onStep?.('anchored')
  await dropOtherStates(connection)
  await options.onStep?.('rewritten')
  const filesRemoved = await deleteUnused(session)
  const bounds = await wideBounds(connection, session.lake.schema)
  const next = `eider maintain deletes them once they are ${session.lake.keepDays} days old`
  const left = [
    { what: 'objects of runs that were killed, which nothing names', next },
    ...(bounds.length === 0 ? [] : [boundsLeft(bounds)]),
    {
      what: 'events that wait in the buffers of other machines, and states that these have pulled',
      next: 'there: eider flush and eider pull; then repeat the command',
    },
  ]
  return { bytesRewritten, filesRemoved, left }
}

const boundsLeft = (columns: readonly string[]) => ({
  what: `${columns.join(', ')}: PostgreSQL keeps a smallest or largest value of these that no row has any more`,
  next: 'where a model can be made from nothing, eider run NAME --full-refresh, then this command with --rewrite',
})

/** Published tables with other rows than those of the state in which they are published. */
async function changedSince(connection: Connection): Promise<readonly string[]> {
  const newest = (await hasStates(connection)) ? await readNewest(connection) : null
  const now = BigInt(await currentState(connection))
  const changed: string[] = []
  for (const relation of newest?.snapshot.relations ?? []) {
    const next = BigInt(relation.at) + 1n
    if (next > now) continue
    const [schema, table] = await placeOf(connection, relation)
    const row = await connection.row(sql`
      SELECT count(*) AS n FROM ducklake_table_changes(${LAKE}, ${sql.value(schema)}, ${sql.value(table)},
        ${sql.value(next, BIGINT)}, ${sql.value(now, BIGINT)})`)
    if (numberOf(row?.['n']) > 0) changed.push(relation.model)
  }
  return changed
}

async function currentState(connection: Connection): Promise<string> {
  const row = await connection.row(
    sql`SELECT id::VARCHAR AS id FROM ${sql.ident(LAKE_DATABASE)}.current_snapshot()`,
  )
  return textOf(row?.['id'])
}

async function placeOf(
  connection: Connection,
  { model, evaluated }: LakeRelation,
): Promise<readonly [schema: string, table: string]> {
  if (evaluated) return [STORED_SCHEMA, evaluatedTable(model)]
  if (await isStoredApart(connection, model)) return [STORED_SCHEMA, foldCase(model)]
  const { schema, table } = splitModelName(model)
  return [schema, table]
}

/** In the transaction of the caller. */
async function anchorNewest(connection: Connection): Promise<void> {
  const newest = (await hasStates(connection)) ? await readNewest(connection) : null
  if (newest === null) return
  const at = await currentState(connection)
  const { seq, snapshot } = newest
  const relations = snapshot.relations.map((relation) => ({ ...relation, at }))
  await connection.run(sql`DELETE FROM _eider.published WHERE seq < ${sql.value(seq)}`)
  await connection.run(sql`
    UPDATE _eider.published SET manifest = ${sql.value(printState({ ...snapshot, relations }))}
    WHERE seq = ${sql.value(seq)}`)
}

/** Where a service of this machine shows pulled files. */
async function showNewest(session: LakeSession, { signal }: TracesOptions): Promise<void> {
  if (!existsSync(join(session.paths.snapshots, MANIFEST_FILE))) return
  await using puller = await openPuller(session)
  await puller.pull({ retention: { snapshots: 1, ms: 0 }, takeUpMs: 0, signal })
}
