// The rows of a set that the reader may see, as a FROM item without an alias.
//
// A condition of a request must not be asked of a hidden row: an error in it, such as a division by zero, would reveal the
// row. So a subquery with a LIMIT that lets all rows through keeps the engine from moving it below that of the token. A
// comparison of a stored value with a constant cannot fail, and so tells nothing; without it below, the engine would read
// the whole table to find a row by its key. The conditions of tokens do not fail either: each was tried on all rows.

import type { TableName } from '../../core/snapshot.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { conjunctsOf, type Expression, typeOf } from '../bind/bound.ts'
import type { EntitySet } from '../edm/model.ts'
import { isStoredInOrder } from '../edm/stored-order.ts'
import { conditionSql } from './expression.ts'

export const tableSql = (set: Pick<EntitySet, 'table' | 'only'>): Sql =>
  visibleSql(set.only, set.table, [], BARRIER)

/** Those of the earlier state, where two are compared. */
export const tableBeforeSql = ({ only }: Pick<EntitySet, 'only'>, tableBefore: TableName): Sql =>
  visibleSql(only, tableBefore, [], BARRIER)

const BARRIER = sql` LIMIT 9223372036854775807`

/**
 * At least the rows for which `filter` holds; the query around them has it too. `values`: what else the query calculates
 * of each row.
 */
export function rowsWithSql(
  set: EntitySet,
  filter: Expression | null,
  values: readonly Expression[] = [],
): Sql {
  const conditions = conjunctsOf(filter)
  const safe = conditions.filter(isSafe)
  const isAllSafe = safe.length === conditions.length && values.every(isStored)
  if (isAllSafe) return visibleSql(set.only, set.table, [], sql.empty)
  const alias = set.table.at(-1)!
  const below = safe.map((condition) => conditionSql(ofAlias(alias, condition)))
  return visibleSql(set.only, set.table, below, BARRIER)
}

function visibleSql(
  filters: EntitySet['only'],
  table: EntitySet['table'],
  below: readonly Sql[],
  barrier: Sql,
): Sql {
  const rows = sql.ident(...table)
  if (filters.length === 0) return rows
  const all = filters.map(
    ({ condition }) => sql`(${sql.body(condition)}
    )`,
  )
  return sql`(SELECT * FROM ${rows} WHERE ${sql.all([...below, ...all])}${barrier})`
}

/** Whether it can be calculated of every row. */
function isSafe(condition: Expression): boolean {
  switch (condition.kind) {
    case 'property':
      return isStored(condition)
    case 'logical':
      return condition.operands.every(isSafe)
    case 'not':
      return isSafe(condition.operand)
    case 'compare':
      return isStored(condition.left) && isComparable(condition.left, condition.right)
    case 'in':
      return (
        isStored(condition.operand) &&
        condition.list.every((item) => isComparable(condition.operand, item))
      )
    default:
      return false
  }
}

const isStored = (value: Expression): boolean =>
  value.kind === 'property' && isStoredInOrder(value.property)

/** Whether neither of them is made another type for it, which may have no place for the value. */
const isComparable = (left: Expression, right: Expression): boolean =>
  right.kind === 'null' || (right.kind === 'constant' && right.type.engine === typeOf(left)?.engine)

/** The same of the columns of a table that has no other name. */
function ofAlias(alias: string, condition: Expression): Expression {
  switch (condition.kind) {
    case 'property':
      return { ...condition, row: { ...condition.row, alias } }
    case 'logical':
      return { ...condition, operands: condition.operands.map((one) => ofAlias(alias, one)) }
    case 'not':
    case 'in':
      return { ...condition, operand: ofAlias(alias, condition.operand) }
    case 'compare':
      return { ...condition, left: ofAlias(alias, condition.left) }
    default:
      return condition
  }
}
