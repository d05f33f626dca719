// What a model says of its numbers: what they are called, how rows become one of them, and how they are shown. None of it
// changes a row.

import type { ModelName } from './names.ts'
import type { ColumnType, Shown } from './relation.ts'

/** One number of any rows of a model. */
export interface Measure extends Shown {
  readonly name: string
  readonly text: string
  /**
   * One expression of aggregates over columns of the model, which the compiler has made of the text and has bound: nothing
   * of a request is in it.
   */
  readonly sql: string
  /** What the expression is cast to. */
  readonly type: ColumnType
  /** The columns that it reads, also by way of other measures. */
  readonly columns: readonly string[]
}

/** What rows of a rollup are made of. */
export interface RollupOf {
  readonly of: ModelName
  /** Columns whose values cannot be summed, and whether a measure of that name adds them up in another way. */
  readonly never: readonly { readonly name: string; readonly isMeasure: boolean }[]
}

export interface Meaning {
  readonly measures: readonly Measure[]
  /** Columns by which measures are mostly asked for. */
  readonly dimensions: readonly string[]
  /** The column with the time of a row; null: none is named. */
  readonly time: string | null
  readonly rollup?: RollupOf
  /** Absent where there are none. */
  readonly hierarchies?: readonly Hierarchy[]
  /** Absent where there are none. */
  readonly levels?: readonly LeveledHierarchy[]
}

/** Rows as a tree: the value of `parent` is that of `node` in the row above; null, or of no row: there is none. */
export interface Hierarchy {
  readonly name: string
  readonly node: string
  readonly parent: string
}

/** Groups within groups, such as countries, their regions, and the cities of these. */
export interface LeveledHierarchy {
  readonly name: string
  /** From the coarsest level to the finest; two at least. */
  readonly columns: readonly string[]
}

/** What is said of columns that are there. A measure of a column that is not there is not there either. */
export function visibleMeaning(
  columns: readonly { readonly name: string }[],
  { measures, dimensions, time }: Meaning,
): Pick<Meaning, 'measures' | 'dimensions' | 'time'> {
  const names = new Set(columns.map(({ name }) => name))
  return {
    measures: measures.filter((measure) => measure.columns.every((name) => names.has(name))),
    dimensions: dimensions.filter((name) => names.has(name)),
    time: time !== null && names.has(time) ? time : null,
  }
}

/** For people: what a measure is written as, and not what is made of it. */
export function toldMeaning<M extends Pick<Meaning, 'measures'>>(meaning: M) {
  return { ...meaning, measures: meaning.measures.map(({ sql: _sql, ...measure }) => measure) }
}
