// Shared by commands other than a run that change the warehouse.

import { EnvironmentError } from '../core/failures.ts'
import type { Connection } from '../duckdb/database.ts'
import type { Project } from '../project/project.ts'
import { runOptionsOf } from './run-options.ts'

/** `work` under the lock of the project. Throws as a run does; EnvironmentError `warehouse-missing` before the first run. */
export async function changeWarehouse<T>(
  project: Project,
  { waitMs, signal }: { readonly waitMs: number; readonly signal: AbortSignal },
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const { openStore } = await import('../store/open-store.ts')
  const store = openStore(project.paths)
  if (!(await store.warehouse.exists()))
    throw new EnvironmentError('warehouse-missing', 'there is no warehouse yet', {
      hint: 'eider run creates it',
    })
  await using _lease = await store.lease.take({ waitMs, signal })
  await using warehouse = await store.warehouse.open({
    ...runOptionsOf(project),
    lockWaitMs: waitMs,
    signal,
  })
  await using connection = await warehouse.connect()
  const result = await work(connection)
  await store.warehouse.settle(connection, null)
  return result
}
