// Published states as files, read by services; how they are written is said in snapshots.ts.

import { type FSWatcher, watch } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { readFileLater, readTextIfThere, readTextLater } from '../../files/read-file.ts'
import {
  catalogFile,
  retainedManifestFile,
  MANIFEST_FILE,
  parseManifestSteps,
  type PublishedRelation,
  type Snapshot,
} from '../../core/snapshot.ts'
import { resultInSlices } from '../../core/time-slices.ts'
import type { CatalogText, CurrentState, Following, SnapshotReader } from '../snapshot-reader.ts'
import { damagedFiles, markFiles, sizeProblem } from './damage.ts'
import { fileRows } from './rows.ts'

/** `dir` may not exist yet. */
export const fileReader = (dir: string, broughtBy = 'eider run'): SnapshotReader => ({
  broughtBy,
  rows: fileRows,
  current: () => readCurrent(dir),
  follow: (onChange) => watchManifest(dir, onChange),
  find: (id) => find(dir, id),
  retained: () => retained(dir),
  catalog: (id) => catalog(dir, id),
  open: ({ file }, name) => ({ name, path: join(dir, file) }),
  problemOf: (relation) => sizeProblem(dir, relation),
  identityOf: (relation) => fileIs(dir, relation),
  findDamage: (snapshot, engine, signal) => damagedFiles(dir, snapshot, engine, signal),
  markDamage: (found, logger) => markFiles(dir, found, logger),
})

/** The manifest itself is the mark: it is the same text for the same state, and read anyway. */
async function readCurrent(dir: string): Promise<CurrentState | null> {
  const mark = await readTextIfThere(join(dir, MANIFEST_FILE))
  return mark === null ? null : { mark, read: () => resultInSlices(parseManifestSteps(mark)) }
}

async function find(dir: string, id: string): Promise<Snapshot | null> {
  if (!/^[\w-]+$/.test(id)) return null
  try {
    const text = await readTextLater(join(dir, retainedManifestFile(id)))
    const snapshot = await resultInSlices(parseManifestSteps(text))
    return snapshot.id === id ? snapshot : null
  } catch {
    return null
  }
}

async function retained(dir: string): Promise<readonly Snapshot[]> {
  const names = await readdir(dir).catch(() => [])
  const ids = names.flatMap((name) => /^manifest-([\w-]+)\.json$/.exec(name)?.[1] ?? [])
  const all = await Promise.all(ids.map((id) => find(dir, id)))
  return all
    .filter((snapshot) => snapshot !== null)
    .toSorted((a, b) => b.publishedAt.getTime() - a.publishedAt.getTime())
}

async function catalog(dir: string, id: string): Promise<CatalogText | null> {
  const path = join(dir, catalogFile(id))
  const found = await stat(path, { bigint: true }).catch(() => null)
  if (found === null) return null
  const mark = `${id} ${found.ino} ${found.size} ${found.mtimeNs}`
  return { mark, bytes: Number(found.size), read: () => readFileLater(path) }
}

async function fileIs(dir: string, { file }: PublishedRelation): Promise<string> {
  const found = await stat(join(dir, file), { bigint: true }).catch(() => null)
  return found === null ? 'gone' : `${found.ino} ${found.size} ${found.mtimeNs}`
}

/** File events of the directory make a swap prompt. Where there are none, a timer finds it. */
function watchManifest(dir: string, onChange: () => void): Following {
  let watcher: FSWatcher | null = null
  const close = () => {
    watcher?.close()
    watcher = null
  }
  const ensure = () => {
    if (watcher !== null) return
    try {
      watcher = watch(dir, { persistent: false }, (_, file) => {
        if (file === null || file === MANIFEST_FILE) onChange()
      })
    } catch {
      return // looked for again with the next look at the manifest
    }
    watcher.on('error', close)
  }
  return { ensure, close }
}
