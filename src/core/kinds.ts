// What is true of every model of a kind, wherever it is used: one row for each kind. How a kind is built is in the pipeline
// (build/materialize/), what its header says in the compiler (kinds.ts).

import type { Kind, Model } from './model.ts'
import { type ColumnType, columnType } from './relation.ts'
import type { Step } from './step.ts'

interface KindTraits {
  /** What it is in the warehouse. */
  readonly relation: 'table' | 'view'
  /** Its rows are those of a SELECT; the others bring them in from outside. */
  readonly hasQuery: boolean
  /** The table persists from run to run, so it may hold rows that its source no longer has. */
  readonly keepsRows: boolean
  /** A step may be about a range of a column, whose rows are replaced (`--start`, `--end`). */
  readonly takesRange: boolean
  /** Where its rows are made. */
  readonly runs: Step['runs']
  /** Columns that a run adds after those of the SELECT. */
  readonly addedColumns: readonly AddedColumn[]
}

interface AddedColumn {
  readonly name: string
  readonly type: ColumnType
}

const query = { hasQuery: true, takesRange: false, runs: 'here', addedColumns: [] } as const
const fromOutside = { ...query, hasQuery: false } as const

/** From when to when a version of a row was valid, and whether it still is. */
const versionColumns: readonly AddedColumn[] = [
  { name: 'valid_from', type: columnType('TIMESTAMP WITH TIME ZONE') },
  { name: 'valid_to', type: columnType('TIMESTAMP WITH TIME ZONE') },
  { name: 'is_current', type: columnType('BOOLEAN') },
]

export const kinds: Readonly<Record<Kind, KindTraits>> = {
  view: { ...query, relation: 'view', keepsRows: false },
  table: { ...query, relation: 'table', keepsRows: false },
  append: { ...query, relation: 'table', keepsRows: true, takesRange: true },
  merge: { ...query, relation: 'table', keepsRows: true, takesRange: true },
  period: { ...query, relation: 'table', keepsRows: true, takesRange: true },
  scd2: { ...query, relation: 'table', keepsRows: true, addedColumns: versionColumns },
  events: { ...fromOutside, relation: 'table', keepsRows: true },
  seed: { ...fromOutside, relation: 'table', keepsRows: false },
}

/** A merge that reads its whole input in each run has no column for it. */
export const takesRange = (model: Model): boolean =>
  kinds[model.kind].takesRange && !(model.kind === 'merge' && model.watermark === null)
