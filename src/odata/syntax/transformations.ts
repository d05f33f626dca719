// The names of the transformations of $apply (Data Aggregation 4.0, sections 3 and 6), which $metadata tells clients, and
// of the methods of aggregate.
export const servedTransformations: readonly string[] = [
  'addnested',
  'aggregate',
  'ancestors',
  'bottomcount',
  'bottompercent',
  'bottomsum',
  'compute',
  'concat',
  'descendants',
  'filter',
  'groupby',
  'identity',
  'join',
  'nest',
  'orderby',
  'outerjoin',
  'search',
  'skip',
  'top',
  'topcount',
  'toppercent',
  'topsum',
  'traverse',
]

export const unservedTransformations: readonly string[] = ['expand', 'rolluprecursive']

/** After `with`, in lower case. What each means is said in bind/apply/aggregate.ts. */
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
