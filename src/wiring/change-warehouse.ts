// Shared by commands other than a run that change the warehouse.

import { EnvironmentError, UsageError } from '../core/failures.ts'
import { limits } from '../core/limits.ts'
import { parseModelName, splitModelName } from '../core/names.ts'
import type { Opened } from '../pipeline/orphans.ts'
import type { Store } from '../store/store.ts'
import type { Project } from '../project/project.ts'
import { runOptionsOf } from './run-options.ts'

/** `work` under the lock of the project. Throws as a run does; EnvironmentError `warehouse-missing` before the first run. */
export async function changeWarehouse<T>(
  project: Project,
  {
    waitMs = limits.runLockWaitMs,
    signal,
  }: { readonly waitMs?: number; readonly signal: AbortSignal },
  work: (opened: Opened & Store) => Promise<T>,
): Promise<T> {
  const { openStore } = await import('../store/open.ts')
  const store = openStore(project.paths)
  if (!(await store.warehouse.exists()))
    throw new EnvironmentError('warehouse-missing', 'there is no warehouse yet', {
      hint: 'eider run creates it',
    })
  try {
    await using _lease = await store.lease.take({ waitMs, signal })
    await using warehouse = await store.warehouse.open({
      ...runOptionsOf(project),
      lockWaitMs: waitMs,
      signal,
    })
    await using connection = await warehouse.connect()
    const result = await work({ ...store, connection })
    await store.warehouse.checkpoint(connection, 'much')
    return result
  } catch (error) {
    const { toEnvironmentError } = await import('../pipeline/failure.ts')
    throw toEnvironmentError(store.explain(error))
  }
}

/** Throws UsageError for what belongs to the engine or is the state of eider itself. */
export async function refuseReserved({ paths }: Project, name: string): Promise<void> {
  const parsed = parseModelName(name)
  if (parsed === null) return
  const { schema } = splitModelName(parsed)
  const { isReservedSchema } = await import('../project/files.ts')
  if (isReservedSchema(schema, paths.database))
    throw new UsageError(`"${name}" names no model: the schema "${schema}" is reserved`, {
      hint: 'it belongs to DuckDB or to eider itself; "eider ls" lists the models',
    })
}
