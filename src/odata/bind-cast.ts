// cast and isof, whose last argument is the name of a type.

import { columnType } from '../core/relation.ts'
import { type Sql, sql } from '../core/sql.ts'
import { bindComparison, booleanConstant } from './bind-comparison.ts'
import { bindExpression } from './bind-expression.ts'
import { type Expression, typeOf } from './bound.ts'
import { NAMESPACE } from './csdl.ts'
import { odataError } from './errors.ts'
import { isNumber } from './numbers.ts'
import { type Scope, unsupported } from './scope.ts'
import type { CallSyntax } from './syntax.ts'
import { inRangeSql, isTemporal } from './temporal-range.ts'
import { decimalType, edm, type EdmType } from './type-map.ts'

/** Types that a value can be cast to; a Decimal has room for integers and ten digits after the point. */
const targets: Readonly<Record<string, EdmType>> = {
  'Edm.Boolean': edm.Boolean,
  'Edm.Date': edm.Date,
  'Edm.DateTimeOffset': edm.DateTimeOffset,
  'Edm.Decimal': decimalType(38, 10),
  'Edm.Double': edm.Double,
  'Edm.Guid': edm.Guid,
  'Edm.Int16': edm.Int16,
  'Edm.Int32': edm.Int32,
  'Edm.Int64': edm.Int64,
  'Edm.SByte': edm.SByte,
  'Edm.Single': edm.Single,
  'Edm.String': edm.String,
  'Edm.TimeOfDay': edm.TimeOfDay,
}

const UNSERVED: readonly string[] = ['Edm.Binary', 'Edm.Byte', 'Edm.Duration', 'Edm.Stream']

/** A value that has no counterpart in the type becomes null (URL conventions 5.1.1.11.1). */
export function bindCast(syntax: CallSyntax, scope: Scope): Expression {
  const [valueSyntax, typeName] = typeArguments(syntax)
  if (valueSyntax === null) throw unsupported('cast of the entity itself')
  const target = targets[typeName] ?? noType(typeName)
  const operand = bindExpression(valueSyntax, scope)
  const type = typeOf(operand)
  if (type === null) return { kind: 'cast', type: target, operand }
  if (type.name === target.name) return operand
  const toSql = castSql(type, target)
  if (toSql === null)
    throw odataError('type-mismatch', `${type.name} cannot be cast to ${typeName}`)
  return { kind: 'call', name: 'cast', type: target, operands: [operand], sql: toSql, copies: [3] }
}

const tryCast =
  ({ engine }: EdmType) =>
  (value: Sql) =>
    sql`TRY_CAST(${value} AS ${sql.type(engine)})`

function castSql(from: EdmType, to: EdmType): ((value: Sql) => Sql) | null {
  if (to.name === 'Edm.String') return textOf(from)
  if (isNumber(from)) return isNumber(to) ? tryCast(to) : null
  if (from.name === 'Edm.String')
    return isTemporal(to) ? (value) => inRangeSql(timeOf(value, to), to) : tryCast(to)
  const isDate = from.name === 'Edm.Date' && to.name === 'Edm.DateTimeOffset'
  const isPart =
    from.name === 'Edm.DateTimeOffset' && ['Edm.Date', 'Edm.TimeOfDay'].includes(to.name)
  return isDate || isPart ? tryCast(to) : null
}

/** Of a text; without an offset it is in UTC. */
const timeOf = (text: Sql, to: EdmType) =>
  to.name === 'Edm.DateTimeOffset'
    ? sql`CAST(TRY_CAST(${text} AS ${sql.type(TIMESTAMPTZ)}) AS TIMESTAMP)`
    : tryCast(to)(text)

const TIMESTAMPTZ = columnType('TIMESTAMP WITH TIME ZONE')

/** As in the JSON of a response. */
function textOf({ name }: EdmType): ((value: Sql) => Sql) | null {
  switch (name) {
    case 'Edm.Binary':
    case 'Edm.Duration':
      return null
    case 'Edm.DateTimeOffset':
      return (value) =>
        sql`(CAST(CAST(${value} AS DATE) AS VARCHAR) || 'T' || CAST(CAST(${value} AS TIME) AS VARCHAR) || 'Z')`
    default:
      return (value) => sql`CAST(${value} AS VARCHAR)`
  }
}

/** True for a value, which is not null, of just that type; entities are of the type of their set. */
export function bindIsOf(syntax: CallSyntax, scope: Scope): Expression {
  const [valueSyntax, typeName] = typeArguments(syntax)
  if (valueSyntax === null)
    return booleanConstant(typeName === `${NAMESPACE}.${scope.row.set.type.name}`)
  if (targets[typeName] === undefined && !UNSERVED.includes(typeName)) noType(typeName)
  const operand = bindExpression(valueSyntax, scope)
  if (typeOf(operand)?.name !== typeName) return booleanConstant(false)
  return bindComparison('ne', operand, { kind: 'null' })
}

function typeArguments({ name, operands }: CallSyntax) {
  const [type, value = null] = operands.toReversed()
  if (type === undefined || operands.length > 2)
    throw odataError('wrong-arguments', `${name} takes 1 or 2 arguments, not ${operands.length}`)
  if (type.kind !== 'path' || type.names.length !== 1)
    throw odataError('wrong-arguments', `the last argument of ${name} is the name of a type`)
  return [value, type.names[0]!] as const
}

function noType(name: string): never {
  if (UNSERVED.includes(name) || name.startsWith('Edm.Geo')) throw unsupported(`the type ${name}`)
  throw odataError('type-mismatch', `there is no type "${name}"`)
}
