// A place beside the project's own state, to build and publish in without touching it. It ends with its command; what a
// killed one has left goes when the next is made.

import { constants } from 'node:fs'
import { copyFile, link, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeOwnedDirectory } from '../../files/owned-directory.ts'
import type { ProjectPaths } from '../../core/project.ts'
import { MANIFEST_FILE } from '../../core/snapshot.ts'
import { takeRunLock } from '../run-lock.ts'
import { readCurrentSnapshot } from './snapshots.ts'
import { openWarehouseToRead } from './warehouse.ts'

export interface Scratch extends AsyncDisposable {
  /** Those of the project, with a database, a buffer and snapshots in a directory of their own. */
  readonly paths: ProjectPaths
}

/** On the disk of the project, so that its files can be linked. Shows what is published now. */
export async function makeScratch(paths: ProjectPaths): Promise<Scratch> {
  // A command that was killed leaves a copy of the whole warehouse behind.
  const owned = await makeOwnedDirectory(join(paths.state, 'tmp'), 'scratch-')
  const { path: state } = owned
  const below = (name: string) => join(state, name)
  const scratch = {
    paths: {
      ...paths,
      state,
      database: below('warehouse.duckdb'),
      buffer: below('buffer'),
      snapshots: below('snapshots'),
      runLock: below('run.lock'),
      collectLock: below('collect.lock'),
      target: below('target'),
    },
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  }
  try {
    await linkPublished(paths.snapshots, scratch.paths.snapshots)
  } catch (error) {
    await scratch[Symbol.asyncDispose]()
    throw error
  }
  return scratch
}

/** Published files never change, so a link is as good as a copy. */
async function linkPublished(from: string, to: string): Promise<void> {
  await mkdir(to)
  const current = await readCurrentSnapshot(from)
  if (current === null) return
  for (const { file } of current.relations)
    await link(join(from, file), join(to, file)).catch(() => copy(join(from, file), join(to, file)))
  await copy(join(from, MANIFEST_FILE), join(to, MANIFEST_FILE))
}

/**
 * Copies the warehouse as the last run left it over the scratch's own. Throws EnvironmentError `run-locked`, and those
 * of openWarehouseToRead().
 */
export async function copyWarehouse(
  from: ProjectPaths,
  to: ProjectPaths,
  { lockWaitMs, signal }: { readonly lockWaitMs: number; readonly signal: AbortSignal },
): Promise<void> {
  await using _lock = await takeRunLock(from.runLock, lockWaitMs, signal)
  // Opening it shows that no other program writes it now; closing it leaves no descriptor whose lock a copy would drop.
  await (await openWarehouseToRead(from, { memoryLimit: null }))[Symbol.asyncDispose]()
  for (const suffix of ['', '.wal']) {
    await rm(to.database + suffix, { force: true })
    await copy(from.database + suffix, to.database + suffix).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    })
  }
}

const copy = (from: string, to: string) => copyFile(from, to, constants.COPYFILE_FICLONE)
