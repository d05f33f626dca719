// What totals are called in the bound request. Each has its SQL in sql/aggregate.ts.

export type TotalMethod =
  | 'sum'
  | 'min'
  | 'max'
  | 'average'
  /** The average of decimals. */
  | 'exactAverage'
  /** These two count values that are not null. */
  | 'count'
  | 'countdistinct'
  /** The number of rows. */
  | 'rowCount'
  /** The sum of values that are counts. */
  | 'sumOfCounts'
  /** The expression of a measure. */
  | 'measure'
