// What is recorded of the rules by which the rows of tables were made, read when a run or a plan begins.

import type { Model } from '../../core/model.ts'
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

/** By the connection of the process that asks: that of another may be interrupted. */
export type PartsBefore = (connection: Connection) => Promise<(model: ModelName) => RecordedParts>

interface Asking {
  readonly connection: Connection
  readonly partsBefore: PartsBefore
}

export const recordedParts = async (
  { connection, partsBefore }: Asking,
  { name }: Pick<Model, 'name'>,
): Promise<RecordedParts> => (await partsBefore(connection))(name)

/** Reads them once, for all models. What could not be read is read again. */
export function partsOnce({ state }: Store, names: readonly ModelName[]): PartsBefore {
  const readAll = async (connection: Connection) => ({
    summaries: await state.summarizeSlices(connection, names),
    left: await state.olderRows.read(connection, names),
  })
  let known: Awaited<ReturnType<typeof readAll>> | null = null
  const ranges = new Map<ModelName, readonly SliceRecord[]>()
  return async (connection) => {
    const { summaries, left } = (known ??= await readAll(connection))
    const rangesOf = async (name: ModelName) => {
      if (!summaries.has(name)) return []
      const some = ranges.get(name) ?? (await state.readSlices(connection, [name]))
      ranges.set(name, some)
      return some
    }
    return (name) => ({
      ranges: () => rangesOf(name),
      summary: summaries.get(name) ?? NO_SLICES,
      left: left.get(name) ?? NOTHING_LEFT,
    })
  }
}
