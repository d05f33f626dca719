// The fences of a lake, a table for each target, in which spellings that differ only in case share one:
//
//   _eider."flushed raw.orders" (target VARCHAR, opening UBIGINT, segment UBIGINT, flushed_at TIMESTAMPTZ)
//
// Each row is the last segment of an opening of a buffer that is in the table. The row of opening 0 is the sentinel: it
// is updated where an opening is new, so that two processes that insert the same one conflict.

import { foldCase, type ModelName } from '../../core/names.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { type EngineCatalog, catalogKey } from '../../duckdb/catalog.ts'
import type { Connection } from '../../duckdb/database.ts'
import { type FlushPosition, positionsOf, STATE_SCHEMA } from '../state.ts'

const PREFIX = 'flushed '

export const fenceTable = (target: ModelName): Sql =>
  sql.ident(STATE_SCHEMA, PREFIX + foldCase(target))

/** In the transaction of the caller. */
export async function readPositions(
  connection: Connection,
  { relations }: EngineCatalog,
): Promise<ReadonlyMap<ModelName, FlushPosition>> {
  const start = catalogKey(STATE_SCHEMA, PREFIX)
  const fences = [...relations.keys()]
    .filter((key) => key.startsWith(start))
    .map((key) => fenceTable(key.slice(start.length) as ModelName))
  if (fences.length === 0) return new Map()
  const parts = fences.map(
    (table) => sql`SELECT target, opening, segment FROM ${table} WHERE opening <> 0`,
  )
  const rows = await connection.rows(
    sql`FROM (${sql.join(parts, sql` UNION ALL `)}) ORDER BY target, opening`,
  )
  return positionsOf(rows)
}
