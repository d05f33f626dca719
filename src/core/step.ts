// The steps of a run: one list, made in pipeline/plan/steps.ts, which `ls` and `plan` show and `run` executes.

import type { Diagnostic } from './diagnostics.ts'
import type { FailedModel, Model } from './model.ts'

/**
 * The rows of a model that a step is about: all that its kind builds in a run, or those of a range of its watermark, or of
 * its periods.
 */
export type Slice = 'whole' | WatermarkRange

/** Both ends are as they were written: DuckDB reads them as values of the watermark column. */
export interface WatermarkRange {
  readonly start: string
  /** The first value that is no longer in the range. */
  readonly end: string
}

/** Values of a column from `start` on and below `end`, as texts; null: no limit. */
export interface ValueRange {
  readonly start: string | null
  readonly end: string | null
}

/** One that a run makes anew, and why. */
export interface PlannedRange extends ValueRange {
  readonly because: string
}

/** Rows of a table that a rule before that of its model has made; named as in JSON. */
export interface OlderRows {
  readonly rows: number
  /** Rows of the table. */
  readonly of: number
  /** When the rule in force was first used; null: it has made no rows yet. ISO 8601. */
  readonly since: string | null
  /** One line. */
  readonly text: string
  /** How to rebuild or to keep them, one line. */
  readonly ways: string
}

export const olderLine = ({ text, ways }: OlderRows): string => `${text}: ${ways}`

/** A step of a model that does not compile says no more than why. */
export interface Step<M extends Model | FailedModel = Model> {
  readonly model: M
  readonly slice: Slice
  /** Ranges that the slice is built in, each in its own transaction; empty: it is built at once. */
  readonly pieces: readonly WatermarkRange[]
  /**
   * What happens to the slice; `remove`: rows that are older than the model keeps them go, and nothing is built; `skip`: a
   * model that it reads fails.
   */
  readonly action: 'build' | 'remove' | 'unchanged' | 'skip'
  /**
   * `here`: in a transaction of the run, which may hold several steps. `elsewhere`: another program or engine makes the
   * rows and commits them; the run checks and records them afterwards.
   */
  readonly runs: 'here' | 'elsewhere'
  readonly because: string
  /** What makes the step fail before a row is read, with its place; else null. */
  readonly problem: string | null
  /** What a problem says that was found before the run began, where there are any. */
  readonly diagnostics: readonly Diagnostic[]
  /** One line for each source that the model reads and that is getting old. */
  readonly warnings: readonly string[]
  /** The periods that the run makes anew; empty for other kinds, and where that is not known yet. */
  readonly ranges: readonly PlannedRange[]
  /** What the run would not see of its inputs, one line each. */
  readonly notes: readonly string[]
  /** What the run would replace or drop, one line each. */
  readonly losses: readonly string[]
  /** Rows that an older rule has made, or will have made once the step is done; absent where there are none. */
  readonly older?: OlderRows
}
