// What `eider erase` reports. Members are named as in JSON.

import type { ModelName } from '../names.ts'

/** Where rows were, and how many. */
export interface ErasedPlace {
  readonly place: 'table' | 'rejected-events' | 'damaged-events'
  readonly model: ModelName
  /** Rows; of damaged events, files. */
  readonly count: number
}

/** Something that may hold the rows, and stays as it is. */
export interface LeftPlace {
  readonly what: string
  readonly next: string
}

export interface Erased {
  readonly model: ModelName
  readonly dry_run: boolean
  readonly erased: readonly ErasedPlace[]
  /** Models that were made again from what is left. */
  readonly rebuilt: readonly ModelName[]
  /** Files that were written again, or deleted since they held deleted rows. */
  readonly files_removed: number
  /** Bytes of the tables that were written again. */
  readonly bytes_rewritten: number
  readonly left: readonly LeftPlace[]
  readonly ms: number
}
