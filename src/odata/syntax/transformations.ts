// The names of the transformations of $apply (Data Aggregation 4.0, sections 3 and 6), which $metadata tells clients.

export const servedTransformations: readonly string[] = [
  'aggregate',
  'bottomcount',
  'bottompercent',
  'bottomsum',
  'compute',
  'concat',
  'filter',
  'groupby',
  'identity',
  'orderby',
  'search',
  'skip',
  'top',
  'topcount',
  'toppercent',
  'topsum',
]

export const unservedTransformations: readonly string[] = [
  'addnested',
  'ancestors',
  'descendants',
  'expand',
  'join',
  'nest',
  'outerjoin',
  'rolluprecursive',
  'traverse',
]
