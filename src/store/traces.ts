// What deleted rows leave behind: a DELETE takes them out of what is read, and their bytes stay in free space of a file, in
// older states, in copies and logs.

import type { LeaseOptions } from './run-lease.ts'
import type { WriteOptions } from './warehouse.ts'

export interface Traces {
  /**
   * Takes the lease, and may be repeated. Afterwards no file that the store owns holds a row that was deleted and is in no
   * published state, but for what `left` names. Throws EnvironmentError.
   */
  remove(options: TracesOptions): Promise<TracesRemoved>
}

export interface TracesOptions extends WriteOptions, Pick<LeaseOptions, 'waitMs'> {
  /** Deletes also what nobody can search, such as copies of torn files. */
  readonly unreadable: boolean
  /** For crash tests: called between the steps. */
  readonly onStep?: ((step: string) => void | Promise<void>) | undefined
}

export interface TracesRemoved {
  readonly bytesRewritten: number
  readonly filesRemoved: number
  /** Files that may hold such rows, with what removes them. */
  readonly left: readonly { readonly what: string; readonly next: string }[]
}
