// What is recorded of the rules by which the rows of tables were made, read when a run or a plan begins.

import type { ModelName } from '../../core/names.ts'
import type { Connection } from '../../duckdb/database.ts'
import type { LeftRows } from '../../store/older-rows.ts'
import type { SliceRecord, SlicesSummary } from '../../store/state.ts'
import type { Store } from '../../store/store.ts'

/** What earlier runs have recorded of the parts of a table. */
interface RecordedParts {
  /**
   * Oldest first; the newest that contains a value counts. They may be many, so they are read where they are asked for.
   * For a model that is built it is asked before any build begins.
   */
  readonly ranges: () => Promise<readonly SliceRecord[]>
  readonly summary: SlicesSummary
  readonly left: LeftRows
}

const NO_SLICES: SlicesSummary = { isWhole: false, madeBy: [] }

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
    const summaries = await state.summarizeSlices(connection, names)
    const left = await state.olderRows.read(connection, names)
    const ranges = new Map<ModelName, Promise<readonly SliceRecord[]>>()
    const rangesOf = (name: ModelName) => {
      const some = summaries.has(name)
        ? (ranges.get(name) ?? state.readSlices(connection, [name]))
        : Promise.resolve([])
      ranges.set(name, some)
      return some
    }
    return (name: ModelName): RecordedParts => ({
      ranges: () => rangesOf(name),
      summary: summaries.get(name) ?? NO_SLICES,
      left: left.get(name) ?? NOTHING_LEFT,
    })
  }
  return () => (read ??= readAll())
}
