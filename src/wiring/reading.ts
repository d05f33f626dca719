// Shared by commands that read a project and its warehouse without changing either.

import { join } from 'node:path'
import type { WaitingSegment } from '../buffer/claim-source.ts'
import { Resources } from '../core/resources.ts'
import type { CompiledProject } from '../core/model.ts'
import { EnvironmentError } from '../core/failures.ts'
import { type ModelName, targetsOf } from '../core/names.ts'
import type { Connection } from '../duckdb/database.ts'
import { temporaryDirectory } from '../files/temporary-directory.ts'
import type { Project } from '../project/project.ts'
import type { Store } from '../store/store.ts'

interface Reading extends AsyncDisposable {
  readonly project: CompiledProject
  readonly store: Store
  readonly connection: Connection
  /** Events models for which events wait in the buffer. */
  readonly withNewEvents: ReadonlySet<ModelName>
  /** A run holds the warehouse: this is what it began with, and relations have columns and no rows. */
  readonly isLastState: boolean
  /** Those events, as files to be read. */
  readonly waitingSegments: (model: ModelName) => Promise<readonly WaitingSegment[]>
}

interface ReadingOptions {
  readonly orLastState?: boolean
  /** The next command finds the project compiled; nothing happens where that cannot be written. */
  readonly keepsCompiled?: boolean
  /** The project, if it is compiled already. */
  readonly compiled?: CompiledProject | undefined
}

/**
 * Throws DiagnosticsError for mistakes in the project, EnvironmentError when a run holds the warehouse; with `orLastState`
 * it then gives the state before that run, and says so on stderr.
 */
export async function openToRead(
  { paths, files, settings }: Project,
  { orLastState = false, keepsCompiled = false, compiled }: ReadingOptions = {},
): Promise<Reading> {
  const { compileOnce } = await import('../compiler/compile-once.ts')
  const { openWarehouseToRead, withSources } = await import('../pipeline/open-warehouse.ts')
  const { openStore } = await import('../store/open.ts')
  const { waitingBytes, waitingSegments } = await import('../buffer/waiting.ts')
  const { dir } = paths
  const project = compiled ?? (await compileOnce(files, { ...paths, save: keepsCompiled }))
  await using resources = new Resources()
  // What DuckDB cannot hold in memory, and copies of what is still written to, must not lie in the project.
  const scratchDir = await temporaryDirectory(resources)
  const engine = {
    memoryLimit: settings.memory_limit,
    tempDir: join(scratchDir, 'engine'),
    extensions: files.extensions,
  }
  const store = openStore(paths)
  const { sources = [] } = files
  const opening = openWarehouseToRead(store.warehouse, engine, { dir, sources })
  let isLastState = false
  const warehouse = resources.use(
    await opening.catch(async (error: unknown) => {
      const run = isHeld(error) ? await runAtWork(store) : null
      if (!orLastState || run === null) throw error
      const last = await store.warehouse.openLastState(engine)
      if (last === null) throw error
      process.stderr.write(`a run is in progress (${run}); this is the state after the last one\n`)
      isLastState = true
      return withSources(last, { dir, sources })
    }),
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
    isLastState,
    waitingSegments: async (model) => {
      const read = (target: ModelName) => waitingSegments(paths.buffer, target, scratchDir)
      return (await Promise.all(targetsOf(model, waiting).map(read))).flat()
    },
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  }
}

export const isHeld = (error: unknown): error is EnvironmentError =>
  error instanceof EnvironmentError && error.code === 'warehouse-locked'

/** Who it is; null: nobody, or a process that is gone. */
export async function runAtWork({ lease }: Store): Promise<string | null> {
  const holder = await lease.holder()
  return holder?.alive === true ? holder.name : null
}
