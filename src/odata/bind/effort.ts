// How much work DuckDB has with a query, and so which engine it goes to and what it may run beside.
//
// Several threads give one query its answer sooner, and many small ones theirs later. They add up doubles in an order that
// differs each time, so that the last digit of a sum does, and with it an order and a page. So only a query goes to them
// that reads many rows and whose answer is the same in any order.

import { limits } from '../../core/limits.ts'
import type { BoundQuery } from './bound-request.ts'
import type { AggregateColumn, ColumnValue, Expression, Relation } from './bound.ts'
import { typeOf } from './bound.ts'
import { type Extent, hasSubquery, isSmallQuery } from './size.ts'
import type { EntitySet } from '../edm/model.ts'
import { isWholeNumber } from '../../core/relation.ts'

/** `small`: it is known to end soon. `shared`: it is not, and threads may share it. */
export function effortOf(query: BoundQuery, extent: Extent): 'small' | 'large' | 'shared' {
  if (isSmallQuery(query, extent)) return 'small'
  return extent !== 'more' && mayBeShared(query) ? 'shared' : 'large'
}

function mayBeShared({ relation, expand, filter, order, output, set }: BoundQuery): boolean {
  const base = baseOf(relation)
  if (base === null || base.storedRows < limits.sharedQueryRows) return false
  // The order of what $apply makes is always total, that of a set by its key.
  const isOrdered = relation.kind !== 'set' || set.type.key.length > 0
  const values = [filter, ...order.map(({ value }) => value), ...output.map(({ value }) => value)]
  return isOrdered && expand.length === 0 && arePlain(values) && isExact(relation, base)
}

/** The set that all rows come from; null where there are several. */
function baseOf(relation: Relation): EntitySet | null {
  if (relation.kind === 'set') return relation.set
  const isSimple = relation.kind === 'filter' || relation.kind === 'project'
  return isSimple || relation.kind === 'group' ? baseOf(relation.from) : null
}

function isExact(relation: Relation, base: EntitySet): boolean {
  switch (relation.kind) {
    case 'set':
      return true
    case 'filter':
      return arePlain([relation.condition]) && isExact(relation.from, base)
    case 'project':
      return arePlain(relation.columns.map(({ value }) => value)) && isExact(relation.from, base)
    case 'group':
      return (
        relation.keys.every(isExactKey) &&
        relation.aggregates.every((total) => isExactTotal(total, base)) &&
        isExact(relation.from, base)
      )
    default:
      return false
  }
}

const arePlain = (values: readonly (Expression | null)[]): boolean =>
  values.every((value) => value === null || !hasSubquery(value))

/** 0.0 and -0.0 are one group, which bears the sign of whichever comes first. */
const isExactKey = ({ value }: ColumnValue): boolean => arePlain([value]) && !isFloating(value)

const isFloating = (value: Expression): boolean =>
  /\b(?:FLOAT|DOUBLE)\b/.test(typeOf(value)?.engine ?? '')

function isExactTotal({ method, value, measure }: AggregateColumn, base: EntitySet): boolean {
  if (!arePlain([value])) return false
  switch (method) {
    case 'sum':
    case 'average':
      return isExactNumber(typeOf(value!)?.engine ?? '')
    case 'measure':
      return isExactMeasure(measure!, base)
    case 'min':
    case 'max':
      return !isFloating(value!)
    default:
      return true
  }
}

/** What DuckDB adds up as an integer of 128 bits. */
const isExactNumber = (engine: string): boolean =>
  engine.startsWith('DECIMAL(') || (isWholeNumber(engine) && !engine.endsWith('HUGEINT'))

/** One aggregate of one column, in the words of the author of the measure. */
const SIMPLE_AGGREGATE = /\b(?:sum|avg|min|max|count)\((?:DISTINCT )?(?:\*|\w+|"[^"]*")\)/gi

/** What else may be called in a measure: functions of the numbers that aggregates give, and the condition on their rows. */
const AROUND = new Set(['', 'nullif', 'coalesce', 'round', 'abs', 'filter'])

function isExactMeasure(
  { sql, columns }: NonNullable<AggregateColumn['measure']>,
  base: EntitySet,
) {
  const isExactColumn = (name: string) => {
    const column = base.relation.columns.find((each) => each.name === name)
    return column !== undefined && !/FLOAT|REAL|DOUBLE|HUGEINT|INTERVAL/.test(column.type)
  }
  const rest = sql.replaceAll(SIMPLE_AGGREGATE, '0')
  // A name in quotes is none of these, whatever it says.
  const called = Array.from(rest.matchAll(/([\w"]*)\s*\(/g), ([, name]) => name!.toLowerCase())
  return columns.every(isExactColumn) && called.every((name) => AROUND.has(name))
}
