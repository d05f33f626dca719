// `$these`: the rows that a transformation of $apply works on, as its expressions speak of them (Data Aggregation 4.0):
// `filter(amount ge $these/aggregate(amount with average))`. Within groupby they are those of the group.
//
// They become a subquery over the same relation, so each use writes that once more, and counts towards its size. A window
// would write it once, but only a list of columns can hold one, and without groups it keeps all rows in memory.

import { samePartition } from './parents.ts'
import { type RowSource, and } from '../bound.ts'
import { type ApplyRows, type Input, withinSize, partitionOf } from './rows.ts'
import { scopeOfRows } from './row-scope.ts'
import { type Scope, newRow } from '../scope.ts'

/** The scope of the expressions of a transformation. */
export function scopeOfInput({ rows, groups, context }: Input) {
  const plain = scopeOfRows(rows, context)
  let uses = 0
  const these = (scope: Scope) => {
    uses++
    const row = newRow(scope, rows.set)
    const same = samePartition(partitionOf(rows, groups, row), partitionOf(rows, groups))
    const key = same.length === 0 ? null : and(same)
    const source: RowSource = { kind: 'rows', row, link: null, key, relation: rows.relation }
    const { computed, marks, collections } = scopeOfRows(rows, context, row)
    return { source, named: { computed, marks, collections } }
  }
  return {
    scope: { ...plain, request: { ...plain.request, these } },
    /** Call it with what the transformation makes of its input. */
    made: (result: ApplyRows): ApplyRows =>
      uses === 0 ? result : withinSize({ ...result, size: result.size + uses * rows.size }),
  }
}
