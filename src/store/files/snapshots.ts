// Published states as files: each relation an immutable DuckDB file (published.ts), and a manifest that names them
// (core/snapshot.ts). One rename of the manifest shows all new files at once. A crash leaves the old manifest with its
// files, and files that no manifest names.

import { constants } from 'node:fs'
import { copyFile, link, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { hashOf } from '../../core/hash.ts'
import {
  catalogFile,
  MANIFEST_FILE,
  type PublishedRelation,
  SNAPSHOT_FORMAT,
} from '../../core/snapshot.ts'
import { sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import {
  fileOf,
  type ChooseRelations,
  type RowsContent,
  type NewRows,
  type Published,
  type PublishedRows,
  type PublishOptions,
  type SnapshotStore,
} from '../snapshots.ts'
import { continueFile } from './continued.ts'
import { isWhole, orderBy, writePublished } from './published.ts'
import { earlierTimes } from './published-times.ts'
import {
  collectGarbage,
  readCatalog,
  readCurrentSnapshot,
  readSnapshots,
  type SnapshotFiles,
  writeCatalog,
  writeSnapshot,
} from './snapshot-directory.ts'

export const fileSnapshots = (dir: string): SnapshotStore => ({
  current: () => readCurrentSnapshot(dir),
  publish: (options, choose) => publish(dir, options, choose),
  catalog: (id) => readCatalog(dir, id),
  writeCatalog: (id, text) => writeCatalog(dir, id, text),
  catalogsIdleRuns: true,
  takesChanges: true,
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
  const relations = await choose(rowsIn(dir, connection, snapshots, retention.apartPercent ?? 0))
  const id = hashOf(16, [SNAPSHOT_FORMAT, relations])
  const changed = snapshots.current?.id !== id
  const snapshot =
    snapshots.current?.id === id
      ? snapshots.current
      : { id, publishedAt: now, runId, relations, earlier: earlierTimes(snapshots, id, now) }
  if (changed || !snapshots.isShown) await writeSnapshot(dir, snapshot)
  const kept = { current: snapshot, retained: snapshots.retained }
  await collectGarbage(dir, kept, { now, retention })
  return { snapshot, changed, before: snapshots.current }
}

function rowsIn(
  dir: string,
  connection: Connection,
  { current, retained }: SnapshotFiles,
  apartPercent: number,
): PublishedRows {
  const all = [...retained, ...(current === null ? [] : [current])]
  const known = new Map(
    all.flatMap(({ relations }) => relations).map((relation) => [relation.file, relation]),
  )
  return {
    current,
    async find(content) {
      const same = known.get(fileOf(content))
      if (same === undefined || (same.apart !== undefined && apartPercent === 0)) return null
      return (await isWhole(dir, same)) ? same : null
    },
    async write(content, rows) {
      const before = current?.relations.find(({ model }) => model === content.model)
      const made =
        before === undefined
          ? null
          : await continueFile({ dir, connection, content, before, rows, apartPercent })
      return made ?? (await writeRelation(dir, connection, content, rows))
    },
  }
}

async function writeRelation(
  dir: string,
  connection: Connection,
  content: RowsContent,
  { relation, metadata }: NewRows,
): Promise<PublishedRelation> {
  const { columns, key } = metadata
  const file = fileOf(content)
  const names = sql.join(columns.map(({ name }) => sql.ident(name)))
  const query = sql`SELECT ${names} FROM ${relation} ${orderBy(key)}`
  const { rows, bytes } = await writePublished(dir, connection, file, query)
  return { model: content.model, file, bytes, rows, ...metadata }
}

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
