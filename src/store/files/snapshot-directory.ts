// The directory of snapshots: manifests, which one is current, and what is obsolete.
//
//   manifest.json             the current snapshot
//   manifest-<id>.json        each retained snapshot, the current one included; the same format
//   catalog-<id>.json         what the explorer shows of it (core/catalog.ts); written after it, and by later runs again
//   m-<hash>.duckdb           files of published models
//   m-<hash>.duckdb.damaged   written by a service: the next run rewrites the file (core/snapshot.ts)
//   current.sql               the current snapshot as views, for analysts
//   *.tmp, *.tmp.wal          being written, or left by a crash
//
// Only a run deletes, under the run lock, so nothing here is being written by another process. A file is deleted when
// no retained manifest names it; a server that still has it open keeps its content.

import { type Catalog, statesIn } from '../../core/catalog.ts'
import { readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readTextIfThere, readTextLater } from '../../files/read-file.ts'
import { splitModelName } from '../../core/names.ts'
import {
  catalogFile,
  damageMarkerFile,
  retainedManifestFile,
  MANIFEST_FILE,
  parseManifest,
  printManifest,
  rowsInAnyOrder,
  type Snapshot,
} from '../../core/snapshot.ts'
import { sql } from '../../core/sql.ts'
import { replaceDurably } from '../../files/durable-files.ts'
import { type Stamp, stampOf } from '../../files/stamps.ts'
import type { Retention } from '../snapshots.ts'
import { fileRows } from './rows.ts'

export interface SnapshotFiles {
  /** null before the first publication. When its manifest is damaged, the youngest that is retained. */
  readonly current: Snapshot | null
  /** False when manifest.json or current.sql do not show `current`: a crash came between, or damage. */
  readonly isShown: boolean
  /** Youngest first. */
  readonly retained: readonly Snapshot[]
}

const VIEWS_FILE = 'current.sql'
const RETAINED = /^manifest-([0-9a-f]+)\.json$/
const CATALOG = /^catalog-[0-9a-f]+\.json$/
const PUBLISHED = /^m-[0-9a-f]+\.duckdb$/
const MARKER = /^m-[0-9a-f]+\.duckdb\.damaged$/
const TEMPORARY = /\.tmp(\.wal)?$/

export async function readSnapshots(dir: string): Promise<SnapshotFiles> {
  const names = (await readdir(dir)).filter((name) => RETAINED.test(name))
  const retained: Snapshot[] = []
  for (const name of names) {
    const snapshot = await readManifest(join(dir, name))
    if (snapshot !== null) retained.push(snapshot)
  }
  retained.sort((a, b) => b.publishedAt.getTime() - a.publishedAt.getTime())
  const shown = await readCurrentSnapshot(dir)
  const current = shown ?? retained[0] ?? null
  const views = await readTextIfThere(join(dir, VIEWS_FILE))
  const isShown = shown !== null && views === printViews(dir, shown)
  return { current, retained, isShown }
}

/** null before the first publication, and when the manifest is damaged. */
export const readCurrentSnapshot = (dir: string): Promise<Snapshot | null> =>
  readManifest(join(dir, MANIFEST_FILE))

/** null when it is missing or damaged. */
async function readManifest(path: string): Promise<Snapshot | null> {
  const text = await readTextIfThere(path)
  if (text === null) return null
  try {
    return parseManifest(text)
  } catch {
    return null
  }
}

/** The rename of manifest.json is the moment of publication. */
export async function writeSnapshot(dir: string, snapshot: Snapshot): Promise<void> {
  await writeRetained(dir, snapshot)
  await replaceDurably(join(dir, MANIFEST_FILE), printManifest(snapshot))
  await replaceDurably(join(dir, VIEWS_FILE), printViews(dir, snapshot))
}

/** For links that name it, whether or not it is current. */
export const writeRetained = (dir: string, snapshot: Snapshot): Promise<void> =>
  replaceDurably(join(dir, retainedManifestFile(snapshot.id)), printManifest(snapshot))

/** What the catalog of the current state says of each model; null where there is none. */
export async function readStateFiles(dir: string): Promise<Catalog['states'] | null> {
  const current = await readCurrentSnapshot(dir)
  const text = current === null ? null : await readCatalog(dir, current.id)
  return text === null ? null : statesIn(text)
}

/** null when it is missing or cannot be read. */
export const readCatalog = (dir: string, id: string): Promise<string | null> =>
  readTextLater(join(dir, catalogFile(id))).catch(() => null)

/** Not synced: after a power cut it may be empty, and the next run writes it again. */
export async function writeCatalog(dir: string, id: string, text: string): Promise<void> {
  const path = join(dir, catalogFile(id))
  await writeFile(`${path}.tmp`, text)
  await rename(`${path}.tmp`, path)
}

/** Those of all states, youngest first, that are retained. */
export const retainedOf = <T extends Pick<Snapshot, 'publishedAt'>>(
  states: readonly T[],
  { now, retention }: { readonly now: Date; readonly retention: Retention },
): readonly T[] =>
  states.filter((_, i) => {
    const replacedAt = states[i - 1]?.publishedAt ?? now
    const recently = now.getTime() - replacedAt.getTime() < retention.ms
    return i < retention.snapshots || recently
  })

export async function collectGarbage(
  dir: string,
  { current, retained }: Pick<SnapshotFiles, 'current' | 'retained'>,
  { now, retention }: { readonly now: Date; readonly retention: Retention },
): Promise<void> {
  const newest = current === null ? [] : [current]
  const others = retained.filter(({ id }) => id !== current?.id)
  const kept = retainedOf([...newest, ...others], { now, retention })
  const keep = new Set(
    kept.flatMap((snapshot) => [
      retainedManifestFile(snapshot.id),
      catalogFile(snapshot.id),
      ...snapshot.relations.flatMap(({ file }) => [file, damageMarkerFile(file)]),
    ]),
  )
  for (const name of await readdir(dir)) {
    const isOurs = [RETAINED, CATALOG, PUBLISHED, MARKER, TEMPORARY].some((pattern) =>
      pattern.test(name),
    )
    if (isOurs && !keep.has(name)) await rm(join(dir, name), { force: true })
  }
}

/**
 * A stamp of all that a run finds here when it publishes; null when it has something to write or to delete, or may have it
 * later though nothing changes. `changedMs`: the time of the last change.
 */
export async function stampSnapshots(
  dir: string,
  { snapshots }: Pick<Retention, 'snapshots'>,
): Promise<Stamp | null> {
  const names = (await readdir(dir)).filter((name) => !CATALOG.test(name)).toSorted()
  if (names.filter((name) => RETAINED.test(name)).length > snapshots) return null
  if (names.some((name) => MARKER.test(name) || TEMPORARY.test(name))) return null
  const stamps = names.map((name) => stampOf(join(dir, name)))
  if (!stamps.every((stamp) => stamp !== null)) return null
  return {
    text: stamps.map(({ text }, i) => `${names[i]} ${text}`).join('\n'),
    changedMs: Math.max(0, ...stamps.map(({ changedMs }) => changedMs)),
  }
}

/** Absolute paths, since the script may be read from any directory. */
function printViews(dir: string, snapshot: Snapshot): string {
  const statements = snapshot.relations.flatMap((relation) => {
    const { model, file } = relation
    const { schema, table } = splitModelName(model)
    const database = file.replace(/\.duckdb$/, '')
    return [
      sql`ATTACH IF NOT EXISTS ${sql.value(join(dir, file))} AS ${sql.ident(database)} (READ_ONLY)`,
      sql`CREATE SCHEMA IF NOT EXISTS ${sql.ident(schema)}`,
      sql`CREATE OR REPLACE VIEW ${sql.ident(schema, table)} AS FROM ${sql.ident(...rowsInAnyOrder(fileRows, relation, database))}`,
    ]
  })
  const lines = statements.map((statement) => `${statement.inline()};\n`)
  return `-- Snapshot ${snapshot.id}, published ${snapshot.publishedAt.toISOString()}. In the duckdb shell: .read current.sql\n${lines.join('')}`
}
