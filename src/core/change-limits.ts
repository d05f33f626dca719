// Limits of what a run follows of changes, and of tables that it updates by them.

export const changeLimits = {
  /** Ranges of values that one change of a table is said in, and that one SELECT is asked for: more are joined. */
  changedRanges: 64,
  /** Ranges that one statement follows to another column: more of them are followed in several. */
  ledRanges: 1_000,
  /** Columns by which a table finds what a changed row touches: with more of them hardly fewer rows are meant. */
  addressKeys: 3,
  /** Values of a column that one change of a table is said in: to build a table anew costs no more than to look for more. */
  changedKeys: 250_000,
  /** Of so many the process keeps the texts: a table of the engine for them takes four statements more. */
  fewChangedKeys: 1_000,
  /** A longer one stays in the engine, too: who sends events may send keys of any length. */
  shortKeyBytes: 1_000,
  /** Rows of a table that is built anew, up to which its old and new rows are compared for those who follow values. */
  comparedRows: 1_000_000,
  /** Rows of a table and of its inputs up to which the table is made anew and compared, which takes fewer statements. */
  smallTableRows: 5_000,
  /** Tables that a run builds from which on it reads the columns of all with one query, and not those of each. */
  columnsTogether: 5,
  /** Rows of a table of which as many as are touched are made anew; of more rows a share is. */
  maintainedRows: 10_000,
  /** The share of the rows of a table above which it is built anew. */
  maintainedShare: 0.2,
} as const
