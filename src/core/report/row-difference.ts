// The rows of a model that differ from those that a test expects.

/** Values as texts, by column; null is NULL. */
export type TextRow = Readonly<Record<string, string | null>>

/** A row that was expected with other values in `columns`. */
export interface ChangedRow {
  readonly expected: TextRow
  readonly built: TextRow
  readonly columns: readonly string[]
}

export interface RowDifference {
  readonly path: string
  /** The line of the first row that is missing; null: none is, or it is not known. */
  readonly line: number | null
  readonly columns: readonly string[]
  /** Expected, and not there; at most limits.shownTestRows, as below. */
  readonly missing: readonly TextRow[]
  /** There, and not expected. */
  readonly unexpected: readonly TextRow[]
  /** Pairs of these that are the same row with other values. */
  readonly changed: readonly ChangedRow[]
  readonly missingRows: number
  readonly unexpectedRows: number
}
