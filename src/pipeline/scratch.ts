// A place next to the project's state, to build and publish in without touching it. Its command removes it; what a
// killed one has left goes when the next is made.

import { join } from 'node:path'
import type { ProjectPaths } from '../core/project.ts'
import { makeOwnedDirectory } from '../files/owned-directory.ts'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/store.ts'
import { randomUUID } from 'node:crypto'
import type { Extensions } from '../core/extensions.ts'
import { EnvironmentError } from '../core/failures.ts'
import type { Model } from '../core/model.ts'
import { foldCase, type ModelName } from '../core/names.ts'
import { readEngineCatalog } from '../duckdb/catalog.ts'
import type { Connection } from '../duckdb/database.ts'
import { explainFailure } from './failure.ts'
import { materializationOf } from './build/materialize/kinds.ts'
import type { SnapshotStore } from '../store/snapshots.ts'
import type { Warehouse } from '../store/warehouse.ts'
import { publishModels } from './publish.ts'

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

interface PreviewOptions {
  readonly warehouse: Warehouse
  readonly memoryLimit: string | null
  readonly extensions?: Extensions | undefined
  readonly models: ReadonlyMap<ModelName, Model>
  readonly model: Model
  readonly snapshots: SnapshotStore
}

/**
 * The other sets of `snapshots` stay as they are; the model's rows are those of the warehouse, which is only read. Throws
 * EnvironmentError: `not-built`, `not-published`, and those of the warehouse.
 */
export async function publishPreview(options: PreviewOptions): Promise<void> {
  const { warehouse, snapshots, memoryLimit, models, model } = options
  const { extensions } = options
  await using database = await warehouse.openBeside({ memoryLimit, extensions })
  await using connection = await database.connect()
  await requireBuilt(connection, model)
  const key = materializationOf(model).rowKey(model)
  const asExposed = { ...model, expose: model.expose ?? { key, span: NOWHERE } }
  const others = [...models.values()].filter(({ name }) => name !== model.name)
  await publishModels({
    connection,
    snapshots,
    runId: 'preview',
    models: [...others, asExposed],
    versions: new Map([[model.name, randomUUID()]]),
    now: new Date(),
    onFailure: (failed, error) => {
      throw new EnvironmentError('not-published', explainFailure(error, failed, null))
    },
  })
}

const NOWHERE = { start: 0, end: 0 }

async function requireBuilt(connection: Connection, { name }: Model): Promise<void> {
  const { relations } = await readEngineCatalog(connection)
  if (relations.has(foldCase(name))) return
  throw new EnvironmentError('not-built', `${name} is not in the warehouse yet`, {
    hint: `build it: eider run +${name}`,
  })
}
