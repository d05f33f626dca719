// One published file: what it is called, how it is written, whether it is whole. It is written under another name,
// checkpointed, synced and renamed.

import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { limits } from '../../core/limits.ts'
import { damageMarkerFile, type PublishedRelation } from '../../core/snapshot.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { numberOf } from '../../duckdb/values.ts'
import { renameDurably } from '../../files/durable-files.ts'
import { fileRows } from './rows.ts'

/** False for a file that is missing or cut short, or in which a service has met damage: it is written again. */
export async function isWhole(dir: string, { file, bytes }: PublishedRelation): Promise<boolean> {
  const isMarked = (await fileBytes(join(dir, damageMarkerFile(file)))) !== null
  return !isMarked && (await fileBytes(join(dir, file))) === bytes
}

export const orderBy = (key: readonly string[]): Sql =>
  key.length === 0 ? sql.empty : sql`ORDER BY ${sql.idents(key)}`

/** Makes the file of a relation; it is whole from then on. `check` throws for rows that must not be published. */
export async function writePublished(
  dir: string,
  connection: Connection,
  file: string,
  query: Sql,
  check: (rows: number) => void = () => {},
): Promise<{ readonly rows: number; readonly bytes: number }> {
  const path = join(dir, file)
  const rows = await writeFile(connection, path, query, check)
  await rm(join(dir, damageMarkerFile(file)), { force: true })
  return { rows, bytes: (await fileBytes(path)) ?? 0 }
}

/** Returns the rows written. DuckDB holds the file only between ATTACH and DETACH, under its temporary name. */
async function writeFile(
  connection: Connection,
  path: string,
  query: Sql,
  check: (rows: number) => void,
): Promise<number> {
  const temporary = `${path}.tmp`
  const name = '_eider_snapshot'
  const database = sql.ident(name)
  const table = sql.ident(...fileRows.tableOf(name))
  await removeDatabase(temporary)
  await connection.run(sql`
    ATTACH ${sql.value(temporary)} AS ${database} (
      ROW_GROUP_SIZE ${sql.value(limits.snapshotRowGroupRows)}, BLOCK_SIZE ${sql.value(limits.snapshotBlockBytes)})`)
  let rows: number
  try {
    await connection.run(sql`CREATE TABLE ${table} AS ${query}`)
    await connection.run(sql`CHECKPOINT ${database}`)
    const counted = await connection.row(sql`SELECT count(*) AS rows FROM ${table}`)
    rows = numberOf(counted?.['rows'])
    check(rows)
  } catch (error) {
    await connection.run(sql`DETACH ${database}`).catch(() => {}) // `error` says what happened
    await removeDatabase(temporary)
    throw error
  }
  await connection.run(sql`DETACH ${database}`)
  await renameDurably(temporary, path)
  return rows
}

export async function removeDatabase(path: string): Promise<void> {
  for (const name of [path, `${path}.wal`]) await rm(name, { force: true })
}

/** null when there is no such file. */
export const fileBytes = (path: string): Promise<number | null> =>
  stat(path).then(
    ({ size }) => size,
    () => null,
  )
