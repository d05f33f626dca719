// The state that `serve` reads: each exposed model as an immutable DuckDB file, and a manifest that names them
// (core/snapshot.ts). A file is written under another name, checkpointed, synced and renamed; then one rename of the
// manifest shows all new files at once. A crash leaves the old manifest with its files, and files that nobody names.
//
// A file is named by what it holds, so an unchanged model keeps its file, and a model that failed keeps the relation
// of the manifest before.

import { mkdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { limits } from '../../core/limits.ts'
import type { Model } from '../../core/model.ts'
import { foldCase, type ModelName, sameName } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import {
  damageMarkerFile,
  type PublishedRelation,
  SNAPSHOT_FORMAT,
  SNAPSHOT_TABLE,
  type Snapshot,
} from '../../core/snapshot.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { hashOf } from '../../core/hash.ts'
import { describe } from '../../duckdb/catalog.ts'
import type { Connection } from '../../duckdb/database.ts'
import { isInterrupt } from '../../duckdb/errors.ts'
import { renameDurably } from '../../files/durable-files.ts'
import { checkKey } from '../build/materialize/check-key.ts'
import { countRows, relationOf } from '../build/materialize/relation.ts'
import {
  collectGarbage,
  readSnapshots,
  type Retention,
  type Snapshots,
  writeSnapshot,
} from './snapshots.ts'

export interface PublishOptions {
  readonly connection: Connection
  /** Directory of the snapshots. */
  readonly dir: string
  readonly runId: string
  readonly models: Iterable<Model>
  /** Names of models that are known and cannot be looked at; they keep what is published of them. */
  readonly failed?: ReadonlyMap<string, unknown>
  /** Version of each model whose relation is as the model says; the others keep what is published of them. */
  readonly versions: ReadonlyMap<ModelName, string>
  readonly now: Date
  /** By default the limits of core/limits.ts. */
  readonly retention?: Retention | undefined
  /** Told of a model that cannot be published. Throws what is no failure of the model. */
  readonly onFailure: (model: Model, error: unknown) => void
}

export interface Published {
  readonly snapshot: Snapshot
  readonly changed: boolean
}

const DEFAULT_RETENTION: Retention = {
  snapshots: limits.retainedSnapshots,
  ms: limits.retainedSnapshotMinutes * 60_000,
}

/** When it throws, what was published before is untouched. */
export async function publish(options: PublishOptions): Promise<Published> {
  const { dir, runId, now } = options
  await mkdir(dir, { recursive: true })
  const snapshots = await readSnapshots(dir)
  const { retention = DEFAULT_RETENTION } = options
  // What crashes have left goes first as well: runs that die here, one after the other, must not fill the disk.
  await collectGarbage(dir, snapshots, { now, retention })
  const relations = await publishRelations(options, snapshots)
  const id = hashOf(16, [SNAPSHOT_FORMAT, relations])
  const changed = snapshots.current?.id !== id
  const snapshot =
    snapshots.current?.id === id ? snapshots.current : { id, publishedAt: now, runId, relations }
  if (changed || !snapshots.isShown) await writeSnapshot(dir, snapshot)
  const kept = { current: snapshot, retained: snapshots.retained }
  await collectGarbage(dir, kept, { now, retention })
  return { snapshot, changed }
}

async function publishRelations(
  options: PublishOptions,
  { current, retained }: Snapshots,
): Promise<readonly PublishedRelation[]> {
  const all = [...retained, ...(current === null ? [] : [current])]
  const known = new Map(
    all.flatMap(({ relations }) => relations).map((relation) => [relation.file, relation]),
  )
  const relations: PublishedRelation[] = []
  for (const model of options.models) {
    if (model.expose === null) continue
    const before = current?.relations.find((relation) => relation.model === model.name)
    try {
      const version = options.versions.get(model.name)
      const relation =
        version === undefined ? before : await publishModel(options, model, version, known)
      if (relation !== undefined) relations.push(relation)
    } catch (error) {
      if (isInterrupt(error)) throw error
      options.onFailure(model, error)
      if (before !== undefined) relations.push(before)
    }
  }
  return withFailed(relations, current?.relations ?? [], options.failed ?? new Map())
}

/** In the order of the state before, so that what is the same has the same identity. */
function withFailed(
  relations: readonly PublishedRelation[],
  published: readonly PublishedRelation[],
  failed: ReadonlyMap<string, unknown>,
): readonly PublishedRelation[] {
  const kept = published.filter(({ model }) => failed.has(model))
  if (kept.length === 0) return relations
  const all = [...relations, ...kept]
  const places = new Map(published.map(({ model }, i) => [model, i]))
  const placeOf = ({ model }: PublishedRelation) => places.get(model) ?? published.length
  return all.toSorted((a, b) => placeOf(a) - placeOf(b))
}

async function publishModel(
  { connection, dir }: PublishOptions,
  model: Model,
  version: string,
  known: ReadonlyMap<string, PublishedRelation>,
): Promise<PublishedRelation> {
  const { name, description } = model
  const exposedKey = model.expose?.key ?? []
  const file = `m-${hashOf(16, [SNAPSHOT_FORMAT, name, version, exposedKey])}.duckdb`
  const same = known.get(file)
  if (same !== undefined && (await isWhole(dir, same)))
    return { ...same, description, columns: describedBy(model, same.columns) }
  const relation = relationOf(name)
  // Other kinds were checked in the transaction that built them; collected events cannot be taken back.
  if (model.kind === 'events') await checkKey(connection, relation, exposedKey, 'expose')
  const columns = await publishedColumns(connection, model, exposedKey)
  const key = exposedKey.map((column) => asSpelledIn(columns, column))
  const names = sql.join(columns.map((column) => sql.ident(column.name)))
  const rows = await writeFile(
    connection,
    join(dir, file),
    sql`SELECT ${names} FROM ${relation} ${orderBy(key)}`,
  )
  await rm(join(dir, damageMarkerFile(file)), { force: true })
  const bytes = (await sizeOf(join(dir, file))) ?? 0
  return { model: name, file, bytes, rows, key, description, columns }
}

/** False for a file that is missing or cut short, or in which a service has met damage: it is written anew. */
async function isWhole(dir: string, { file, bytes }: PublishedRelation): Promise<boolean> {
  const isMarked = (await sizeOf(join(dir, damageMarkerFile(file)))) !== null
  return !isMarked && (await sizeOf(join(dir, file))) === bytes
}

/** A table keeps the letter case that its columns were made with; the model may have changed its own since. */
function asSpelledIn(columns: readonly Column[], name: string): string {
  const found = columns.find((column) => sameName(column.name, name))
  if (found === undefined) throw new Error(`the relation has no column ${name}`)
  return found.name
}

const orderBy = (key: readonly string[]): Sql =>
  key.length === 0 ? sql.empty : sql`ORDER BY ${sql.join(key.map((name) => sql.ident(name)))}`

/** An events table may hold columns that its model no longer lists. */
async function publishedColumns(
  connection: Connection,
  model: Model,
  key: readonly string[],
): Promise<readonly Column[]> {
  const columns = await describe(connection, sql`FROM ${relationOf(model.name)}`)
  const required = new Set(key.map(foldCase))
  const listed = new Set<string>()
  if (model.kind === 'events')
    for (const { name, nullable } of model.columns) {
      listed.add(foldCase(name))
      if (!nullable && !(await holdsNull(connection, model.name, name)))
        required.add(foldCase(name))
    }
  const published = columns
    .filter(({ name }) => model.kind !== 'events' || listed.has(foldCase(name)))
    .map((column) => ({ ...column, nullable: !required.has(foldCase(column.name)) }))
  return describedBy(model, published)
}

/** Texts are no part of a version: they change without the rows. */
function describedBy(model: Model, columns: readonly Column[]): readonly Column[] {
  const texts = new Map(model.columns.map((column) => [foldCase(column.name), column.description]))
  return columns.map(({ name, type, nullable }) => {
    const description = texts.get(foldCase(name))
    return { name, type, nullable, ...(description === undefined ? {} : { description }) }
  })
}

/** Events from before a NOT NULL column was added have none. */
async function holdsNull(
  connection: Connection,
  model: ModelName,
  column: string,
): Promise<boolean> {
  const query = sql`SELECT 1 FROM ${relationOf(model)} WHERE ${sql.ident(column)} IS NULL LIMIT 1`
  return (await connection.row(query)) !== null
}

/** Returns the rows written. The engine holds the file only between ATTACH and DETACH, under its temporary name. */
async function writeFile(connection: Connection, path: string, query: Sql): Promise<number> {
  const temporary = `${path}.tmp`
  const database = sql.ident('_eider_snapshot')
  const table = sql`${database}.main.${sql.ident(SNAPSHOT_TABLE)}`
  await removeDatabase(temporary)
  await connection.run(sql`
    ATTACH ${sql.value(temporary)} AS ${database} (
      ROW_GROUP_SIZE ${sql.value(limits.snapshotRowGroupRows)}, BLOCK_SIZE ${sql.value(limits.snapshotBlockBytes)})`)
  let rows: number
  try {
    await connection.run(sql`CREATE TABLE ${table} AS ${query}`)
    await connection.run(sql`CHECKPOINT ${database}`)
    rows = await countRows(connection, table)
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
