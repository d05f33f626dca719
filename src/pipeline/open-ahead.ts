// Opens the warehouse of a target while its project is compiled, for the run that follows: with a thousand relations the
// engine takes a tenth of a second for that. Without it a run takes the lease and opens the warehouse itself.

import type { Store } from '../store/store.ts'
import type { WriteOptions } from '../store/warehouse.ts'
import type { TargetAhead } from './run-request.ts'

/**
 * The project may turn out to have mistakes, so no warehouse is made where there is none yet. null: another run is at work,
 * or which lease a run needs depends on its models. When it resolves, the warehouse is being opened.
 */
export async function openAhead(
  { lease, warehouse }: Pick<Store, 'lease' | 'warehouse'>,
  options: WriteOptions,
): Promise<TargetAhead | null> {
  if (!lease.isOne || !(await warehouse.exists().catch(() => false))) return null
  const taken = await lease.take({ waitMs: 0, signal: options.signal }).catch(() => null)
  if (taken === null) return null
  const unneeded = new AbortController()
  const signal = AbortSignal.any([options.signal, unneeded.signal])
  const opening = warehouse.open({ ...options, signal })
  opening.catch(() => {}) // the caller that takes it gets the error
  let isTaken = false
  return {
    takeWarehouse() {
      isTaken = true
      return opening
    },
    async [Symbol.asyncDispose]() {
      await using _lease = taken
      if (isTaken) return
      unneeded.abort() // it may be waiting for another program
      await using database = await opening.catch(() => null)
      if (database === null) return
      await using connection = await database.connect()
      await warehouse.checkpoint(connection, 'nothing')
    },
  }
}
