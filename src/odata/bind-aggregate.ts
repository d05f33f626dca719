// aggregate: one row of totals, or one for each group (Data Aggregation 4.0, section 3.2.1). Null values are no values.
//
// Totals are exact: integers are added as 128-bit numbers, decimals with twelve digits more than they have, 38 at most;
// what is beyond fails in the engine, which the service answers with 400.

import { type Sql, sql } from '../core/sql.ts'
import { didYouMean } from '../core/suggest.ts'
import { isODataIdentifier } from '../core/names.ts'
import {
  type ApplyContext,
  type ApplyRows,
  newProperty,
  pathKey,
  propertyValue,
  rowsOfValues,
  rowVariable,
  type ValueColumn,
  withRowCount,
} from './apply-rows.ts'
import { bindExpression } from './bind-expression.ts'
import { bindDistinctKey, bindGathered } from './bind-path.ts'
import { inputOf } from './bind-these.ts'
import { type Expression, typeOf } from './bound.ts'
import type { Property } from './entity-model.ts'
import { odataError } from './errors.ts'
import { withinLimits } from './expression-size.ts'
import { isInteger, isNumber, MAX_PRECISION } from './numbers.ts'
import type { NamedColumn } from './relation.ts'
import { type Scope, unsupported } from './scope.ts'
import type { AggregateItem, ExpressionSyntax } from './syntax.ts'
import { decimalType, edm, type EdmType, hugeDecimal } from './type-map.ts'

interface Total {
  readonly type: EdmType
  readonly value: Expression | null
  readonly sql: (value: Sql) => Sql
}

export function bindAggregate(
  items: readonly AggregateItem[],
  rows: ApplyRows,
  groups: readonly string[],
  context: ApplyContext,
): ApplyRows {
  const { scope, made: madeOf } = inputOf(rows, groups, context)
  const grouped = groups.map((key) => rows.values.find(({ path }) => pathKey(path) === key)!)
  const keys: NamedColumn[] = []
  const keyOf = (old: Property) => {
    const property = newProperty(old.name, old.type, context)
    keys.push({ column: property.column.name, value: propertyValue(rows, old) })
    return property
  }
  const values = grouped.map(({ path, property, entity, mark }): ValueColumn => ({
    path,
    property: keyOf(property),
    entity,
    ...(mark === undefined ? {} : { mark: keyOf(mark) }),
  }))
  const aggregates = items.map((item) => {
    const { type, value, sql: toSql } = bindTotal(item, scope)
    requireFreeName(item, values)
    const property = newProperty(item.name, type, context)
    values.push({ path: [item.name], property })
    return { column: property.column.name, value, sql: toSql }
  })
  const { relation: from } = rows
  const row = rowVariable(rows)
  const made = madeOf(rowsOfValues(rows, { kind: 'group', from, row, keys, aggregates }, values))
  const counted = keys.length === 0 ? withRowCount(made, 1) : made
  return { ...counted, unique: groups }
}

function requireFreeName({ name, at }: AggregateItem, values: readonly ValueColumn[]): void {
  if (!isODataIdentifier(name))
    throw odataError('invalid-option-value', `no name can be given at character ${at + 1}`)
  if (values.some(({ path }) => path[0] === name))
    throw odataError('invalid-option-value', `the name "${name}" is taken (at character ${at + 1})`)
}

export function bindTotal(
  { value: syntax, method, at }: Pick<AggregateItem, 'value' | 'method' | 'at'>,
  scope: Scope,
): Total {
  if (syntax === null) return { type: edm.Int64, value: null, sql: () => sql`count(*)` }
  if (method === null) {
    const values = countedValues(syntax, scope)
    if (values !== null) return bindTotal(values, scope)
    const value = withinLimits(bindExpression(syntax, scope))
    return {
      type: edm.Int64,
      value,
      sql: (count) => sql`CAST(coalesce(sum(${count}), 0) AS BIGINT)`,
    }
  }
  const folded = method.toLowerCase()
  const gathered = bindGathered(syntax, scope, folded === 'countdistinct')
  const key =
    folded === 'countdistinct' && gathered === null ? bindDistinctKey(syntax, scope) : null
  const value = withinLimits(gathered?.value ?? key ?? bindExpression(syntax, scope))
  const type = typeOf(value)
  const isCounted = folded === 'count' || folded === 'countdistinct'
  if (type === null || (type.kind !== 'primitive' && !isCounted))
    throw odataError('type-mismatch', `${method} does not take ${type?.name ?? 'null'}`)
  const bound = methodNamed(method, at)
  if (gathered === null) return { ...bound(type, method, ofRows), value }
  // An entity that several rows lead to counts once (Data Aggregation, section 3.2.1.1).
  const total = bound(type, method, ofList)
  const list = (pairs: Sql) =>
    sql`list_transform(list_distinct(flatten(list(${pairs}))), lambda pair: pair.v)`
  return {
    type: total.type,
    value: withinLimits({ kind: 'gathered', type, ...gathered }),
    sql: (pairs) => total.sql(list(pairs)),
  }
}

/** `customer/$count` and `orders/amount/$count` count what is found there: entities once, and values that are not null. */
function countedValues(syntax: ExpressionSyntax, scope: Scope) {
  if (syntax.kind !== 'count' || syntax.filter !== null) return null
  const path = { ...syntax.path, kind: 'path', at: syntax.at } as const
  const gathered = bindGathered(path, scope, true)
  if (gathered === null || gathered.end === 'many') return null
  const method = gathered.end === 'one' ? 'countdistinct' : 'count'
  return { value: path, method, at: syntax.at }
}

/** How values are put together: those of the rows of a group, or those of a list. */
export interface Aggregator {
  readonly sum: (values: Sql) => Sql
  readonly min: (values: Sql) => Sql
  readonly max: (values: Sql) => Sql
  readonly average: (values: Sql) => Sql
  readonly count: (values: Sql) => Sql
  readonly distinct: (values: Sql) => Sql
}

const ofRows: Aggregator = {
  sum: (values) => sql`sum(${values})`,
  min: (values) => sql`min(${values})`,
  max: (values) => sql`max(${values})`,
  average: (values) => sql`avg(${values})`,
  count: (values) => sql`count(${values})`,
  distinct: (values) => sql`count(DISTINCT ${values})`,
}

const ofList: Aggregator = {
  sum: (values) => sql`list_sum(${values})`,
  min: (values) => sql`list_min(${values})`,
  max: (values) => sql`list_max(${values})`,
  average: (values) => sql`list_avg(${values})`,
  count: (values) => sql`CAST(coalesce(list_count(${values}), 0) AS BIGINT)`,
  distinct: (values) => sql`CAST(coalesce(len(list_distinct(${values})), 0) AS BIGINT)`,
}

type Method = (type: EdmType, name: string, of: Aggregator) => Omit<Total, 'value'>

const methods: Readonly<Record<string, Method>> = {
  sum: sumOf,
  min: (type, _, { min }) => ({ type, sql: min }),
  max: (type, _, { max }) => ({ type, sql: max }),
  average: averageOf,
  avg: averageOf,
  count: (_, _name, { count }) => ({ type: edm.Int64, sql: count }),
  countdistinct: (_, _name, { distinct }) => ({ type: edm.Int64, sql: distinct }),
}

function methodNamed(name: string, at: number): Method {
  const folded = name.toLowerCase()
  if (Object.hasOwn(methods, folded)) return methods[folded]!
  if (name.includes('.')) throw unsupported(`the aggregation method ${name}`)
  const hint = didYouMean(name, Object.keys(methods))
  const problem = `there is no aggregation method "${name}" (at character ${at + 1})`
  throw odataError('unknown-function', hint === undefined ? problem : `${problem}: ${hint}`)
}

function requireNumber(type: EdmType, method: string): void {
  if (type.name === 'Edm.Duration') throw unsupported(`${method} of Edm.Duration`)
  if (!isNumber(type)) throw odataError('type-mismatch', `${method} does not take ${type.name}`)
}

/** Rows are never so many that a sum of 32-bit integers leaves 64 bits. */
function sumOf(type: EdmType, method: string, { sum }: Aggregator): Omit<Total, 'value'> {
  requireNumber(type, method)
  const result = sumType(type)
  return { type: result, sql: (value) => sql`CAST(${sum(value)} AS ${sql.type(result.engine)})` }
}

function sumType(type: EdmType): EdmType {
  if (type.name === 'Edm.Int64') return hugeDecimal
  if (isInteger(type)) return edm.Int64
  if (type.name !== 'Edm.Decimal') return edm.Double
  if (type.precision! > MAX_PRECISION) return type
  return decimalType(Math.min(MAX_PRECISION, type.precision! + ROW_DIGITS), type.scale!)
}

/** Digits of the number of rows: no table has more. A sum that took all digits would leave none for its average. */
const ROW_DIGITS = 12

/** Digits that the average of decimals has beyond those of the values, as far as there is room. */
const AVERAGE_DIGITS = 10

function averageOf(type: EdmType, method: string, of: Aggregator): Omit<Total, 'value'> {
  requireNumber(type, method)
  if (type.name !== 'Edm.Decimal' || type.precision! > MAX_PRECISION)
    return { type: edm.Double, sql: (value) => sql`CAST(${of.average(value)} AS DOUBLE)` }
  const more = Math.min(AVERAGE_DIGITS, MAX_PRECISION - type.precision!)
  const result = decimalType(MAX_PRECISION, type.scale! + more)
  return {
    type: result,
    sql: (value) => decimalAverage(of.sum(value), of.count(value), type.scale!, more, result),
  }
}

/**
 * The engine divides decimals as doubles. Here the sum is divided as an integer, in units of its last digit; quotient
 * and remainder apart, so that nothing leaves 128 bits. The last digit is rounded half away from zero.
 */
function decimalAverage(
  sum: Sql,
  count: Sql,
  scale: number,
  more: number,
  { engine }: EdmType,
): Sql {
  const shift = sql.value(`1${'0'.repeat(more)}`, hugeDecimal.engine)
  const units = sql`CAST(replace(CAST(abs(${sum}) AS VARCHAR), '.', '') AS HUGEINT)`
  const values = sql`CAST(${count} AS HUGEINT)`
  const rest = sql`((${units} % ${values}) * ${shift} * 2 + ${values}) // (2 * ${values})`
  const digits = sql`lpad(CAST((${units} // ${values}) * ${shift} + ${rest} AS VARCHAR), ${sql.value(60)}, '0')`
  const places = sql.value(scale + more)
  const text = sql`concat(CASE WHEN ${sum} < 0 THEN '-' END, left(${digits}, 60 - ${places}), '.', right(${digits}, ${places}))`
  return sql`CASE WHEN ${count} > 0 THEN CAST(${text} AS ${sql.type(engine)}) END`
}
