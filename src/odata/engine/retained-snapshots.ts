// Snapshots that were current once and whose files a run still keeps (store/files/snapshot-directory.ts says for how long).

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { keptManifestFile, parseManifestSteps, type Snapshot } from '../../core/snapshot.ts'
import { resultInSlices } from '../edm/time-slices.ts'

/** null when it is gone, or cannot be read. */
export async function readRetainedSnapshot(dir: string, id: string): Promise<Snapshot | null> {
  if (!/^[\w-]+$/.test(id)) return null
  try {
    const text = await readFile(join(dir, keptManifestFile(id)), 'utf8')
    const snapshot = await resultInSlices(parseManifestSteps(text))
    return snapshot.id === id ? snapshot : null
  } catch {
    return null
  }
}

/** Youngest first; those that cannot be read are not among them. */
export async function retainedSnapshots(dir: string): Promise<readonly Snapshot[]> {
  const names = await readdir(dir).catch(() => [])
  const ids = names.flatMap((name) => /^manifest-([\w-]+)\.json$/.exec(name)?.[1] ?? [])
  const all = await Promise.all(ids.map((id) => readRetainedSnapshot(dir, id)))
  return all
    .filter((snapshot) => snapshot !== null)
    .toSorted((a, b) => b.publishedAt.getTime() - a.publishedAt.getTime())
}
