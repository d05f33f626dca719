// What is recorded of the rules by which the rows of tables were made, read when a run or a plan begins.

import type { ModelName } from '../../core/names.ts'
import type { Connection } from '../../duckdb/database.ts'
import type { LeftRows } from '../../store/older-rows.ts'
import type { SliceRecord } from '../../store/state.ts'
import type { Store } from '../../store/store.ts'

/** What earlier runs have recorded of the parts of a table. */
interface RecordedParts {
  /** Oldest first; the newest that contains a value counts. */
  readonly ranges: readonly SliceRecord[]
  readonly left: LeftRows
}

const NOTHING_LEFT: LeftRows = { left: 0, meantAt: null, meantFor: null }

export type PartsBefore = () => Promise<(model: ModelName) => RecordedParts>

/** Reads them once, for all models. */
export function partsOnce(
  connection: Connection,
  { state }: Store,
  names: readonly ModelName[],
): PartsBefore {
  let read: Promise<(model: ModelName) => RecordedParts> | null = null
  const readAll = async () => {
    const slices = await state.readSlices(connection, names)
    const left = await state.olderRows.read(connection, names)
    return (name: ModelName): RecordedParts => ({
      ranges: slices.filter(({ model }) => model === name),
      left: left.get(name) ?? NOTHING_LEFT,
    })
  }
  return () => (read ??= readAll())
}
