// The methods of aggregate (Data Aggregation 4.0, section 3.2.1): what each means is said in bind/apply/aggregate.ts, and
// its SQL is in sql/aggregate.ts.

/** After `with`, in lower case. */
export const aggregateMethods = [
  'sum',
  'min',
  'max',
  'average',
  'avg',
  'count',
  'countdistinct',
] as const

export type AggregateMethod = (typeof aggregateMethods)[number]

/** `name` in lower case. */
export const isAggregateMethod = (name: string): name is AggregateMethod =>
  (aggregateMethods as readonly string[]).includes(name)
