// Shared by commands that read a project and its warehouse without changing either.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { WaitingSegment } from '../buffer/claim-source.ts'
import { Resources } from '../core/resources.ts'
import type { CompiledProject } from '../core/model.ts'
import { type ModelName, targetsOf } from '../core/names.ts'
import type { Connection } from '../duckdb/database.ts'
import type { Project } from '../project/project.ts'
import type { Store } from '../store/store.ts'

export interface Reading extends AsyncDisposable {
  readonly project: CompiledProject
  readonly store: Store
  readonly connection: Connection
  /** Events models for which events wait in the buffer. */
  readonly withNewEvents: ReadonlySet<ModelName>
  /** Those events, as files to be read. */
  readonly waitingSegments: (model: ModelName) => Promise<readonly WaitingSegment[]>
}

/** Throws DiagnosticsError for mistakes in the project, EnvironmentError when a run holds the warehouse. */
export async function openToRead({ paths, files, settings }: Project): Promise<Reading> {
  const { compileOnce } = await import('../compiler/compile-once.ts')
  const { openWarehouseToRead } = await import('../pipeline/store/open-warehouse.ts')
  const { openStore } = await import('../store/open-store.ts')
  const { waitingBytes, waitingSegments } = await import('../buffer/waiting.ts')
  const { dir, state } = paths
  const project = await compileOnce(files, { dir, state, save: false })
  await using resources = new Resources()
  // What DuckDB cannot hold in memory, and copies of what is still written to, must not lie in the project.
  const scratchDir = await mkdtemp(join(tmpdir(), 'eider-'))
  resources.defer(() => rm(scratchDir, { recursive: true, force: true }))
  const engine = { memoryLimit: settings.memory_limit, tempDir: join(scratchDir, 'engine') }
  const store = openStore(paths)
  const { sources = [] } = files
  const warehouse = resources.use(
    await openWarehouseToRead(store.warehouse, engine, { dir, sources }),
  )
  const connection = await warehouse.connect()
  const waiting = [...(await waitingBytes(paths.buffer)).keys()]
  const withNewEvents = new Set(
    [...project.models.keys()].filter((model) => targetsOf(model, waiting).length > 0),
  )
  const opened = resources.move()
  return {
    project,
    store,
    connection,
    withNewEvents,
    waitingSegments: async (model) => {
      const read = (target: ModelName) => waitingSegments(paths.buffer, target, scratchDir)
      return (await Promise.all(targetsOf(model, waiting).map(read))).flat()
    },
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  }
}
