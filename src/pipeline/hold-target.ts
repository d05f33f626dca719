// What a run has of its target from beginning to end: the lease, and the warehouse. A warehouse of a thousand relations
// takes the engine a tenth of a second to open, in which the project can be compiled.

import type { Database } from '../duckdb/database.ts'
import { sql } from '../core/sql.ts'
import type { LeaseOptions } from '../store/run-lease.ts'
import type { Store } from '../store/store.ts'
import type { WriteOptions } from '../store/warehouse.ts'

export class HeldTarget implements AsyncDisposable {
  readonly #lease: AsyncDisposable
  readonly #unneeded = new AbortController()
  #opening: Promise<Database> | null

  constructor(
    lease: AsyncDisposable,
    open: ((unneeded: AbortSignal) => Promise<Database>) | null = null,
  ) {
    this.#lease = lease
    this.#opening = open === null ? null : open(this.#unneeded.signal)
    this.#opening?.catch(() => {}) // whoever takes it is told
  }

  /** From now on it is the caller's to close; null: it has to be opened. */
  takeWarehouse(): Promise<Database> | null {
    const opening = this.#opening
    this.#opening = null
    return opening
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await using _lease = this.#lease
    this.#unneeded.abort() // it may be waiting for another program
    await using unused = (await this.takeWarehouse()?.catch(() => null)) ?? null
    if (unused === null) return
    await using connection = await unused.connect()
    await connection.run(sql`PRAGMA disable_checkpoint_on_shutdown`) // nothing was changed
  }
}

export const holdTarget = async ({ lease }: Store, options: LeaseOptions): Promise<HeldTarget> =>
  new HeldTarget(await lease.take(options))

/**
 * Of a project that is being compiled, and may have mistakes: where there is no warehouse yet, none is made. null: another
 * run is at work. When it resolves, the warehouse is being opened.
 */
export async function holdAhead(
  { lease, warehouse }: Store,
  options: WriteOptions,
): Promise<HeldTarget | null> {
  const { signal } = options
  if (!(await warehouse.exists().catch(() => false))) return null
  const taken = await lease.take({ waitMs: 0, signal }).catch(() => null)
  return (
    taken &&
    new HeldTarget(taken, (unneeded) =>
      warehouse.open({ ...options, signal: AbortSignal.any([signal, unneeded]) }),
    )
  )
}
