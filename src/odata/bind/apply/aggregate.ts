// aggregate: one row of totals, or one for each group (Data Aggregation 4.0, section 3.2.1). Nulls are ignored.

import { isODataIdentifier } from '../../../core/names.ts'
import {
  type ApplyRows,
  newProperty,
  pathKey,
  propertyValue,
  rowsOfValues,
  rowVariable,
  type ValueColumn,
  withRowCount,
  type Input,
} from './rows.ts'
import { scopeOfInput } from './these.ts'
import { measureOf, measureTotal, withStoredColumns } from './measure.ts'
import { bindExpression } from '../expression/expression.ts'
import {
  type ColumnValue,
  type Total,
  typeOf,
  type Expression,
  propertyOf,
  type RowSource,
} from '../bound.ts'
import { odataError, typeMismatch, unsupported, invalidOption } from '../../protocol/errors.ts'
import { withinLimits } from '../size.ts'
import { type Scope, findNavigation } from '../scope.ts'
import type { AggregateItem, ExpressionSyntax } from '../../syntax/syntax.ts'
import { edm, isCastTo, decimalType, type EdmType, hugeDecimal } from '../../edm/types.ts'
import type { Property } from '../../edm/model.ts'
import { asIs, bindPath, pathTarget, follow, memberOf, type Step } from '../expression/path.ts'
import { didYouMean } from '../../../core/suggest.ts'
import {
  type AggregateMethod,
  aggregateMethods,
  isAggregateMethod,
} from '../../syntax/aggregate.ts'
import { isGeoName } from '../../edm/geo.ts'
import { isInteger, isNumberType, MAX_PRECISION } from '../../edm/numbers.ts'

export function bindAggregate(items: readonly AggregateItem[], given: Input): ApplyRows {
  const measures = items.map((item) => measureOf(item, given))
  const input = withStoredColumns(
    given,
    measures.filter((measure) => measure !== null),
  )
  const { rows, groups, context } = input
  const { scope, made: madeOf } = scopeOfInput(input)
  const grouped = groups.map((key) => rows.values.find(({ path }) => pathKey(path) === key)!)
  const keys: ColumnValue[] = []
  const keyOf = (old: Property) => {
    const property = newProperty(old.name, old.type, context)
    keys.push({ column: property.column.name, value: propertyValue(rows, old) })
    return property
  }
  const values = grouped.map(({ path, property, entity, mark, isNullObject }): ValueColumn => ({
    path,
    property: keyOf(property),
    entity: entity ?? input.entities?.get(pathKey(path)),
    mark: mark && keyOf(mark),
    isNullObject,
  }))
  const aggregates = items.map((item, i) => {
    const measure = measures[i] ?? null
    const total = measure === null ? bindTotal(item, scope) : measureTotal(measure)
    requireFreeName(item, values)
    const property = newProperty(item.name, total.type, context)
    values.push({ path: [item.name], property })
    return { column: property.column.name, ...total }
  })
  const { relation: from } = rows
  const row = rowVariable(rows)
  const made = madeOf(rowsOfValues(rows, { kind: 'group', from, row, keys, aggregates }, values))
  const counted = keys.length === 0 ? withRowCount(made, 1) : made
  return { ...counted, unique: groups }
}

function requireFreeName({ name, at }: AggregateItem, values: readonly ValueColumn[]): void {
  if (!isODataIdentifier(name))
    throw invalidOption(
      `"${name}" cannot be a name (at character ${at + 1}): a name is letters, digits and underscores`,
    )
  if (values.some(({ path }) => path[0] === name))
    throw invalidOption(`the name "${name}" is taken (at character ${at + 1})`)
}

export function bindTotal(
  { value, method, at }: Pick<AggregateItem, 'value' | 'method' | 'at'>,
  scope: Scope,
): Total {
  if (value === null) return { method: 'rowCount', type: edm.Int64, value: null }
  return method === null ? bindSumOfCounts(value, scope) : bindMethod(value, method, at, scope)
}

/** `orders/$count`: how many there are of all rows. */
function bindSumOfCounts(syntax: ExpressionSyntax, scope: Scope): Total {
  const counted = countedValues(syntax, scope)
  if (counted !== null) return bindTotal(counted, scope)
  const value = withinLimits(bindExpression(syntax, scope), scope.request)
  return { method: 'sumOfCounts', type: edm.Int64, value }
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

function bindMethod(syntax: ExpressionSyntax, method: string, at: number, scope: Scope): Total {
  const folded = method.toLowerCase()
  const isDistinct = folded === 'countdistinct'
  const gathered = bindGathered(syntax, scope, isDistinct)
  const key = isDistinct && gathered === null ? bindDistinctKey(syntax, scope) : null
  const value = withinLimits(gathered?.value ?? key ?? bindExpression(syntax, scope), scope.request)
  const type = typeOf(value)
  const isCounted = isDistinct || folded === 'count'
  if (type === null || (type.kind !== 'primitive' && !isCounted))
    throw typeMismatch(`${method} does not take ${type?.name ?? 'null'}`)
  const total = methodNamed(method, at)(type, method)
  if (gathered === null) return { ...total, value }
  // An entity that several rows lead to counts once (Data Aggregation, section 3.2.1.1).
  const { end: _, ...pairs } = gathered
  return { ...total, value: withinLimits({ kind: 'gathered', type, ...pairs }, scope.request) }
}

/**
 * What an aggregated path leads to through navigation properties, which may each lead to many; null when it begins with
 * none. The key tells apart the entities that several rows lead to. `ofEntities`: whether the path may end at entities.
 * `end` of the result: what it ends at.
 */
function bindGathered(syntax: ExpressionSyntax, scope: Scope, ofEntities: boolean) {
  if (syntax.kind !== 'path' || scope.item !== null || syntax.keys.size > 0) return null
  if (scope.computed.has(syntax.names.join('/'))) return null
  const { sources, row, rest, end } = alongNavigation(syntax.names, syntax.at, scope)
  const { key } = row.set.type
  const [part] = key
  if (sources.length === 0 || part === undefined) return null
  const endsAtEntities = rest.length === 0
  if (endsAtEntities && (!ofEntities || key.length > 1)) return null
  const steps = (endsAtEntities ? [part.name] : rest).map((name): Step => ({ name, key: null }))
  const found = follow({ kind: 'row', row, wrap: asIs }, steps, syntax.at, scope)
  if (found.kind !== 'value') return null
  return {
    sources,
    key: key.map((property) => propertyOf(row, property)),
    value: found.value,
    end: endsAtEntities ? end : ('value' as const),
  }
}

/** The rows that each of the first names leads to, as long as they are no values, and the other names. */
function alongNavigation(names: readonly string[], at: number, scope: Scope) {
  const added = scope.collections.get(names[0] ?? '')?.(scope)
  const sources: RowSource[] = added === undefined ? [] : [added.source]
  let end = added?.kind ?? 'one'
  let row = added?.source.row ?? scope.row
  let rest = names.slice(sources.length)
  for (;;) {
    if (isCastTo(rest[0] ?? '', row.set.type)) rest = rest.slice(1)
    const [name = ''] = rest
    if (findNavigation(row.set.type, name) === undefined) break
    const target = memberOf(row, { name, key: null }, asIs, at, scope)
    if (target.kind !== 'one' && target.kind !== 'many') break
    sources.push(target.source)
    end = target.kind
    row = target.source.row
    rest = rest.slice(1)
  }
  return { sources, row, rest, end }
}

/** The key of the one entity that a path leads to, which stands for it in countdistinct; null for any other path. */
function bindDistinctKey(syntax: ExpressionSyntax, scope: Scope): Expression | null {
  if (syntax.kind !== 'path' || scope.computed.has(syntax.names.join('/'))) return null
  const target = pathTarget(syntax, syntax.at, scope)
  if (target.kind !== 'one' || target.navigation === null) return null
  const { theirs } = target.navigation.on
  return bindPath({ ...syntax, names: [...syntax.names, theirs.name] }, scope)
}

// The methods of aggregate: which types they take and return (Data Aggregation 4.0, section 3.2.1).
//
// Totals are exact: integers are added as 128-bit numbers, decimals with twelve digits more than they have, 38 at most;
// what is beyond fails in DuckDB, which the service answers with 400.

type MethodTotal = Omit<Total, 'value'>

/** `type` is that of the values, `name` what the caller calls the method. */
type Method = (type: EdmType, name: string) => MethodTotal

const methods: Readonly<Record<AggregateMethod, Method>> = {
  sum: sumOf,
  min: (type, name) => ({ method: 'min', type: ordered(type, name) }),
  max: (type, name) => ({ method: 'max', type: ordered(type, name) }),
  average: averageOf,
  avg: averageOf,
  count: () => ({ method: 'count', type: edm.Int64 }),
  countdistinct: () => ({ method: 'countdistinct', type: edm.Int64 }),
}

/** As the standard names them. */
const METHODS = aggregateMethods.filter((name) => name !== 'avg' && name !== 'count')

function methodNamed(name: string, at: number): Method {
  const folded = name.toLowerCase()
  if (isAggregateMethod(folded)) return methods[folded]
  if (name.includes('.')) throw unsupported(`the aggregation method ${name}`)
  const hint = didYouMean(name, aggregateMethods) ?? `there are ${METHODS.join(', ')}`
  const problem = `there is no aggregation method "${name}" (at character ${at + 1})`
  throw odataError('unknown-function', `${problem}: ${hint}`)
}

function ordered(type: EdmType, method: string): EdmType {
  if (isGeoName(type.name)) throw typeMismatch(`${method} does not take ${type.name}`)
  return type
}

function requireNumber(type: EdmType, method: string): void {
  if (type.name === 'Edm.Duration') throw unsupported(`${method} of Edm.Duration`)
  if (!isNumberType(type)) throw typeMismatch(`${method} does not take ${type.name}`)
}

/** Rows are never so many that a sum of 32-bit integers leaves 64 bits. */
function sumOf(type: EdmType, name: string): MethodTotal {
  requireNumber(type, name)
  return { method: 'sum', type: sumType(type) }
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

function averageOf(type: EdmType, name: string): MethodTotal {
  requireNumber(type, name)
  if (type.name !== 'Edm.Decimal' || type.precision! > MAX_PRECISION)
    return { method: 'average', type: edm.Double }
  const more = Math.min(AVERAGE_DIGITS, MAX_PRECISION - type.precision!)
  return { method: 'exactAverage', type: decimalType(MAX_PRECISION, type.scale! + more) }
}
