// A place next to the project's state, to build and publish in without touching it. Its command removes it; what a
// killed one has left goes when the next is made.

import { join } from 'node:path'
import type { ProjectPaths } from '../core/project.ts'
import { makeOwnedDirectory } from '../files/owned-directory.ts'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/store.ts'

export interface Scratch extends AsyncDisposable {
  /** Those of the project, with a database, a buffer and snapshots in a separate directory. */
  readonly paths: ProjectPaths
  /** A store of files, also when that of the project is a lake. */
  readonly store: Store
}

/** On the disk of the project, so that its files can be linked. Shows what is published now. */
export async function makeScratch(project: ProjectPaths, store: Store): Promise<Scratch> {
  // A command that was killed leaves a copy of the whole warehouse.
  const owned = await makeOwnedDirectory(join(project.state, 'tmp'), 'scratch-')
  const { path: state } = owned
  const below = (name: string) => join(state, name)
  const paths = {
    ...project,
    lake: undefined,
    state,
    database: below('warehouse.duckdb'),
    buffer: below('buffer'),
    snapshots: below('snapshots'),
    runLock: below('run.lock'),
    collectLock: below('collect.lock'),
    target: below('target'),
  }
  try {
    await store.snapshots.fork(paths.snapshots)
  } catch (error) {
    await owned[Symbol.asyncDispose]()
    throw error
  }
  return {
    paths,
    store: openStore(paths),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  }
}
