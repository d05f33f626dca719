// Published states as files: each relation an immutable DuckDB file, and a manifest that names them (core/snapshot.ts). A
// file is written under another name, checkpointed, synced and renamed; then one rename of the manifest shows all new
// files at once. A crash leaves the old manifest with its files, and files that no manifest names.
//
// A file is named by what it holds, so an unchanged model keeps its file.

import { constants } from 'node:fs'
import { copyFile, link, mkdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { hashOf } from '../../core/hash.ts'
import { limits } from '../../core/limits.ts'
import {
  catalogFile,
  damageMarkerFile,
  MANIFEST_FILE,
  type PublishedRelation,
  SNAPSHOT_FORMAT,
} from '../../core/snapshot.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { numberOf } from '../../duckdb/values.ts'
import { renameDurably } from '../../files/durable-files.ts'
import type {
  ChooseRelations,
  Content,
  NewRows,
  Published,
  PublishedRows,
  PublishOptions,
  SnapshotStore,
} from '../snapshot-store.ts'
import { fileRows } from './file-rows.ts'
import {
  collectGarbage,
  readCatalog,
  readCurrentSnapshot,
  readSnapshots,
  type Snapshots,
  writeCatalog,
  writeSnapshot,
} from './snapshot-directory.ts'

export const fileSnapshots = (dir: string): SnapshotStore => ({
  current: () => readCurrentSnapshot(dir),
  publish: (options, choose) => publish(dir, options, choose),
  catalog: (id) => readCatalog(dir, id),
  writeCatalog: (id, text) => writeCatalog(dir, id, text),
  fork: (to) => fork(dir, to),
})

async function publish(
  dir: string,
  { connection, runId, now, retention }: PublishOptions,
  choose: ChooseRelations,
): Promise<Published> {
  await mkdir(dir, { recursive: true })
  const snapshots = await readSnapshots(dir)
  // What crashes have left goes first as well: runs that die here, one after the other, must not fill the disk.
  await collectGarbage(dir, snapshots, { now, retention })
  const relations = await choose(rowsIn(dir, connection, snapshots))
  const id = hashOf(16, [SNAPSHOT_FORMAT, relations])
  const changed = snapshots.current?.id !== id
  const snapshot =
    snapshots.current?.id === id ? snapshots.current : { id, publishedAt: now, runId, relations }
  if (changed || !snapshots.isShown) await writeSnapshot(dir, snapshot)
  const kept = { current: snapshot, retained: snapshots.retained }
  await collectGarbage(dir, kept, { now, retention })
  return { snapshot, changed, before: snapshots.current?.id ?? null }
}

function rowsIn(
  dir: string,
  connection: Connection,
  { current, retained }: Snapshots,
): PublishedRows {
  const all = [...retained, ...(current === null ? [] : [current])]
  const known = new Map(
    all.flatMap(({ relations }) => relations).map((relation) => [relation.file, relation]),
  )
  return {
    current,
    async find(content) {
      const same = known.get(fileOf(content))
      return same !== undefined && (await isWhole(dir, same)) ? same : null
    },
    write: (content, rows) => writeRelation(dir, connection, content, rows),
  }
}

const fileOf = ({ model, version, exposedKey }: Content): string =>
  `m-${hashOf(16, [SNAPSHOT_FORMAT, model, version, exposedKey])}.duckdb`

/** False for a file that is missing or cut short, or in which a service has met damage: it is written again. */
async function isWhole(dir: string, { file, bytes }: PublishedRelation): Promise<boolean> {
  const isMarked = (await sizeOf(join(dir, damageMarkerFile(file)))) !== null
  return !isMarked && (await sizeOf(join(dir, file))) === bytes
}

async function writeRelation(
  dir: string,
  connection: Connection,
  content: Content,
  { relation, columns, key, description }: NewRows,
): Promise<PublishedRelation> {
  const file = fileOf(content)
  const path = join(dir, file)
  const names = sql.join(columns.map(({ name }) => sql.ident(name)))
  const query = sql`SELECT ${names} FROM ${relation} ${orderBy(key)}`
  const rows = await writeFile(connection, path, query)
  await rm(join(dir, damageMarkerFile(file)), { force: true })
  const bytes = (await sizeOf(path)) ?? 0
  return { model: content.model, file, bytes, rows, key, description, columns }
}

const orderBy = (key: readonly string[]): Sql =>
  key.length === 0 ? sql.empty : sql`ORDER BY ${sql.join(key.map((name) => sql.ident(name)))}`

/** Returns the rows written. DuckDB holds the file only between ATTACH and DETACH, under its temporary name. */
async function writeFile(connection: Connection, path: string, query: Sql): Promise<number> {
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
  } catch (error) {
    await connection.run(sql`DETACH ${database}`).catch(() => {}) // `error` says what happened
    await removeDatabase(temporary)
    throw error
  }
  await connection.run(sql`DETACH ${database}`)
  await renameDurably(temporary, path)
  return rows
}

async function removeDatabase(path: string): Promise<void> {
  for (const name of [path, `${path}.wal`]) await rm(name, { force: true })
}

/** Bytes; null when there is no such file. */
const sizeOf = (path: string): Promise<number | null> =>
  stat(path).then(
    ({ size }) => size,
    () => null,
  )

/** Published files never change, so a link is as good as a copy. */
async function fork(from: string, to: string): Promise<void> {
  await mkdir(to)
  const current = await readCurrentSnapshot(from)
  if (current === null) return
  for (const { file } of current.relations)
    await link(join(from, file), join(to, file)).catch(() => copy(join(from, file), join(to, file)))
  await copy(join(from, MANIFEST_FILE), join(to, MANIFEST_FILE))
  const name = catalogFile(current.id)
  await copy(join(from, name), join(to, name)).catch(() => {}) // there may be none
}

const copy = (from: string, to: string) => copyFile(from, to, constants.COPYFILE_FICLONE)
