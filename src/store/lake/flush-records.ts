// Which segments are in the tables of a lake. There are no ack records: a segment is committed if and only if the fence
// of its target covers it (positions.ts), and the fence moves in the transaction of the rows.
//
// Two commits with the same segments both update a row of one fence table, so the second fails with a conflict, whatever
// it had read; two inserts would not conflict, hence the sentinel where an opening is new.

import { limits } from '../../core/limits.ts'
import type { ModelName } from '../../core/names.ts'
import { sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { numberOf } from '../../duckdb/values.ts'
import {
  type FlushedSegment,
  type FlushRecords,
  moveFences,
  positionRows,
} from '../flush-records.ts'
import type { FlushPosition } from '../state.ts'
import { fenceTable } from './positions.ts'
import type { LakeSession } from './session.ts'

export const lakeFlushRecords = (session: LakeSession): FlushRecords => ({
  prepare,
  adopt,
  hold: (target, signal) => session.holdTurn(target, { waitMs: limits.runLockWaitMs, signal }),
  record: (connection, segments) =>
    moveFences(segments, (ofOpening) => moveFence(connection, ofOpening)),
  forget: () => Promise.resolve(),
  isCommitted,
})

/** In the transaction that makes the table of events; two of them at once conflict. */
async function prepare(connection: Connection, target: ModelName): Promise<void> {
  const table = fenceTable(target)
  await connection.run(sql`
    CREATE TABLE IF NOT EXISTS ${table} (target VARCHAR, opening UBIGINT, segment UBIGINT, flushed_at TIMESTAMPTZ)`)
  const sentinel = await connection.row(sql`SELECT 1 FROM ${table} WHERE opening = 0`)
  if (sentinel === null)
    await connection.run(sql`INSERT INTO ${table} VALUES (${sql.value(target)}, 0, 0, now())`)
}

async function adopt(
  connection: Connection,
  target: ModelName,
  position: FlushPosition,
): Promise<void> {
  await prepare(connection, target)
  const rows = positionRows(target, position)
  if (rows.length > 0)
    await connection.run(sql`INSERT INTO ${fenceTable(target)} VALUES ${sql.join(rows)}`)
}

/** `segments` are of one opening. */
async function moveFence(
  connection: Connection,
  segments: readonly FlushedSegment[],
): Promise<boolean> {
  const [first, last] = [segments[0]!, segments.at(-1)!]
  const { target, opening } = last
  const table = fenceTable(target)
  const row = sql`target = ${sql.value(target)} AND opening = ${sql.value(opening)}`
  const moved = await connection.run(sql`
    UPDATE ${table} SET segment = ${sql.value(last.segment)}, flushed_at = now()
    WHERE ${row} AND segment < ${sql.value(first.segment)}`)
  if (moved === 1) return true
  if ((await connection.row(sql`SELECT 1 FROM ${table} WHERE ${row}`)) !== null) return false
  const isGuarded = await connection.run(
    sql`UPDATE ${table} SET segment = segment + 1 WHERE opening = 0`,
  )
  if (isGuarded !== 1) throw new Error(`the fence of ${target} has no sentinel`)
  await connection.run(sql`
    INSERT INTO ${table}
    VALUES (${sql.value(target)}, ${sql.value(opening)}, ${sql.value(last.segment)}, now())`)
  return true
}

/** "Covered" is never wrong. "Not covered" may be, while a commit of a lost connection is under way: it is refused then. */
async function isCommitted(
  connection: Connection,
  { target, opening, segment }: FlushedSegment,
): Promise<boolean> {
  const row = await connection.row(sql`
    SELECT max(segment) AS segment FROM ${fenceTable(target)}
    WHERE target = ${sql.value(target)} AND opening = ${sql.value(opening)}`)
  return row?.['segment'] != null && numberOf(row['segment']) >= segment
}
