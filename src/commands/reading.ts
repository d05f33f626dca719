// What commands share that look at a project and its warehouse without changing either.

import { Resources } from '../core/resources.ts'
import type { CompiledProject } from '../core/model.ts'
import type { ModelName } from '../core/names.ts'
import type { Connection } from '../duckdb/database.ts'
import type { Project } from '../project/project.ts'

export interface Reading extends AsyncDisposable {
  readonly project: CompiledProject
  readonly connection: Connection
  /** Events models for which events wait in the buffer. */
  readonly withNewEvents: ReadonlySet<ModelName>
}

/** Throws DiagnosticsError for mistakes in the project, EnvironmentError when a run holds the warehouse. */
export async function openToRead({ paths, files, settings }: Project): Promise<Reading> {
  const { compileOnce } = await import('../compiler/compile-once.ts')
  const { openWarehouseToRead } = await import('../pipeline/warehouse.ts')
  const { waitingBytes } = await import('../buffer/waiting.ts')
  const { dir, state } = paths
  const project = await compileOnce(files, { dir, state, save: false })
  const withNewEvents = new Set((await waitingBytes(paths.buffer)).keys())
  await using resources = new Resources()
  const warehouse = resources.use(
    await openWarehouseToRead(paths, settings.memory_limit, files.sources),
  )
  const connection = await warehouse.connect()
  const opened = resources.move()
  return {
    project,
    connection,
    withNewEvents,
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  }
}
