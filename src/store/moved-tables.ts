// What `eider move` has brought into a target so far, in the table `_eider.moved`, which is there from its first step to
// its last. While it is there the target is not whole, and nobody else may work with it.
//
//   source         the target that the tables come from; empty for the default one
//   model          a table that is there whole, and was compared with its source; empty in the row that is made first
//   rows, content  of that table (pipeline/move/copy-table.ts)

import { EnvironmentError } from '../core/failures.ts'
import type { ModelName } from '../core/names.ts'
import { sql } from '../core/sql.ts'
import { type EngineCatalog, catalogKey } from '../duckdb/catalog.ts'
import type { Connection } from '../duckdb/database.ts'
import { numberOf, textOf } from '../duckdb/values.ts'
import { STATE_SCHEMA } from './state.ts'

export interface TableContent {
  readonly rows: number
  /** Equal for the same rows in any order. */
  readonly hash: string
}

const isMoving = ({ relations }: EngineCatalog): boolean =>
  relations.has(catalogKey(STATE_SCHEMA, 'moved'))

/** Throws EnvironmentError `move-unfinished`. */
export function refuseUnfinishedMove(catalog: EngineCatalog): void {
  if (!isMoving(catalog)) return
  throw new EnvironmentError(
    'move-unfinished',
    'tables are being moved into this target, and not all of them are here',
    { hint: 'wait for eider move to end; if it was interrupted, start it again to continue' },
  )
}

/** null: nothing is under way. */
export async function readMove(connection: Connection, catalog: EngineCatalog) {
  if (!isMoving(catalog)) return null
  const rows = await connection.rows(sql`
    SELECT source, model, rows::VARCHAR AS rows, content FROM _eider.moved ORDER BY model`)
  const tables = rows
    .filter(({ model }) => model !== '')
    .map(({ model, rows: count, content }): [ModelName, TableContent] => [
      textOf(model) as ModelName,
      { rows: numberOf(count), hash: textOf(content) },
    ])
  return { source: textOf(rows[0]?.['source']), tables: new Map(tables) }
}

// Each of these in the transaction of the caller.

export async function startMove(connection: Connection, source: string): Promise<void> {
  await connection.run(sql`
    CREATE TABLE _eider.moved (source VARCHAR, model VARCHAR, rows BIGINT, content VARCHAR)`)
  await connection.run(sql`INSERT INTO _eider.moved VALUES (${sql.value(source)}, '', 0, '')`)
}

export async function noteMoved(
  connection: Connection,
  source: string,
  model: ModelName,
  { rows, hash }: TableContent,
): Promise<void> {
  const values = sql.values([source, model, rows, hash])
  await connection.run(sql`INSERT INTO _eider.moved VALUES (${values})`)
}

export async function forgetMoved(connection: Connection, model: ModelName): Promise<void> {
  await connection.run(sql`DELETE FROM _eider.moved WHERE model = ${sql.value(model)}`)
}

export async function endMove(connection: Connection): Promise<void> {
  await connection.run(sql`DROP TABLE _eider.moved`)
}
