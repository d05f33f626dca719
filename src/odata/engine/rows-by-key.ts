// Rows of a set by their keys, as the engine prints them. Where none is found, and it is not known that there is none, the
// engine does the lookup, so nothing but time depends on what is found here.

import type { EntitySet } from '../edm/model.ts'
import type { OpenSnapshot } from './open-snapshot.ts'

export interface RowLookup {
  readonly snapshot: Pick<OpenSnapshot, 'snapshot' | 'rowsKeys'>
  /** The set of that snapshot, as the reader has it who asks. */
  readonly set: EntitySet
  /** The texts of its parts, as sql/keyed-rows.ts writes them. */
  readonly key: readonly string[]
}

export interface RowsByKey {
  /** The row as the engine prints it, `,{…}`; null where the engine is to be asked. */
  find(lookup: RowLookup): Buffer | null
  /** All rows with that key, at least one; null where the engine is to be asked. */
  findAll(lookup: RowLookup): readonly PlacedRow[] | null
  /**
   * Whether no row has that key, as it was written; false where the engine is to be asked. Of some types a value has more
   * than one text, so a caller asks for those alone of which it has only one.
   */
  lacks(lookup: RowLookup): boolean
  stats(): RowsByKeyStats
}

/** `start` grows in the order in which rows are stored. */
export interface PlacedRow {
  readonly row: Buffer
  readonly start: number
}

export interface RowsByKeyStats {
  readonly files: number
  readonly bytes: number
  /** Rows found since the start, and keys found missing. */
  readonly found: number
}

export const leftToEngine: RowsByKey = {
  find: () => null,
  findAll: () => null,
  lacks: () => false,
  stats: () => ({ files: 0, bytes: 0, found: 0 }),
}
