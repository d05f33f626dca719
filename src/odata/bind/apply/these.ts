// `$these`: the rows that a transformation of $apply works on, as its expressions speak of them (Data Aggregation 4.0):
// `filter(amount ge $these/aggregate(amount with average))`. Within groupby they are those of the group.
//
// They become a subquery over the same relation, so each use writes that once more, and counts towards its size. A window
// would write it once, but only a list of columns can hold one, and without groups it keeps all rows in memory.

import {
  type ApplyContext,
  type ApplyRows,
  partitionOf,
  rowVariable,
  scopeOfRows,
  withinSize,
} from './rows.ts'
import { type Expression, type RowSource, call } from '../bound.ts'
import { newRow, type Scope } from '../scope.ts'
import { edm } from '../../edm/types.ts'

interface Input {
  readonly scope: Scope
  /** Call it with what the transformation makes of its input. */
  readonly made: (rows: ApplyRows) => ApplyRows
}

/** The scope of expressions of a transformation of `rows`, which are grouped by the values at the paths `groups`. */
export function inputOf(rows: ApplyRows, groups: readonly string[], context: ApplyContext): Input {
  const plain = scopeOfRows(rows, context)
  let uses = 0
  const these = (scope: Scope) => {
    uses++
    const row = newRow(scope, rows.set)
    const key = sameGroup(
      partitionOf(rows, groups, row),
      partitionOf(rows, groups, rowVariable(rows)),
    )
    const source: RowSource = { kind: 'rows', row, link: null, key, relation: rows.relation }
    const { computed, marks } = scopeOfRows(rows, context, row)
    return { source, named: { computed, marks } }
  }
  return {
    scope: { ...plain, request: { ...plain.request, these } },
    made: (result) =>
      uses === 0 ? result : withinSize({ ...result, size: result.size + uses * rows.size }),
  }
}

/** Null where nothing is grouped. To groupby all NaN are one value, as all nulls are. */
function sameGroup(theirs: readonly Expression[], ours: readonly Expression[]): Expression | null {
  const operands = theirs.map((value, i): Expression => call('same', edm.Boolean, value, ours[i]!))
  return operands.length === 0 ? null : { kind: 'logical', operator: 'and', operands }
}
