// The names of the transformations of $apply (Data Aggregation 4.0, sections 3 and 6), which $metadata tells clients.
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

export const unservedTransformations: readonly string[] = ['expand']
