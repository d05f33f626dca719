// cast and isof, whose last argument is the name of a type.

import { columnType } from '../../../core/relation.ts'
import { bindComparison } from './comparison.ts'
import { bindExpression } from './expression.ts'
import { type Expression, typeOf, call } from '../bound.ts'
import { isNumberType } from '../../edm/numbers.ts'
import { odataError, unsupported } from '../../protocol/errors.ts'
import type { Scope } from '../scope.ts'
import type { CallSyntax, ExpressionSyntax } from '../../syntax/syntax.ts'
import {
  collectionOf,
  decimalType,
  edm,
  type EdmType,
  type PrimitiveType,
  isCastTo,
} from '../../edm/types.ts'
import { booleanConstant } from './constants.ts'

/**
 * Types that a value can be cast to; a Decimal has room for integers and ten digits after the point. The DuckDB type of
 * columns that are an Edm.Byte ends at 127.
 */
const targets: Readonly<Record<string, PrimitiveType>> = {
  'Edm.Binary': edm.Binary,
  'Edm.Boolean': edm.Boolean,
  'Edm.Byte': { ...edm.Byte, engine: columnType('SMALLINT') },
  'Edm.Date': edm.Date,
  'Edm.DateTimeOffset': edm.DateTimeOffset,
  'Edm.Decimal': decimalType(38, 10),
  'Edm.Double': edm.Double,
  'Edm.Duration': edm.Duration,
  'Edm.Guid': edm.Guid,
  'Edm.Int16': edm.Int16,
  'Edm.Int32': edm.Int32,
  'Edm.Int64': edm.Int64,
  'Edm.SByte': edm.SByte,
  'Edm.Single': edm.Single,
  'Edm.String': edm.String,
  'Edm.TimeOfDay': edm.TimeOfDay,
}

const UNSERVED: readonly string[] = [
  'Edm.ComplexType',
  'Edm.EntityType',
  'Edm.PrimitiveType',
  'Edm.Stream',
  'Edm.Untyped',
]

/** A value that has no counterpart in the type becomes null (URL conventions 5.1.1.11.1). */
export function bindCast(syntax: CallSyntax, scope: Scope): Expression {
  const [valueSyntax, typeName] = typeArguments(syntax)
  if (valueSyntax === null) throw unsupported('cast of the entity itself')
  const target = typeNamed(typeName)
  const operand = bindExpression(valueSyntax, scope)
  const type = typeOf(operand)
  if (type === null) return { kind: 'cast', type: target, operand }
  if (type.name === target.name) return operand
  if (!isCastable(type, target))
    throw odataError('type-mismatch', `cannot cast ${type.name} to ${typeName}`)
  return call('cast', target, operand)
}

/** Whether the specification knows a cast between the two types. */
export function isCastable(from: EdmType, to: EdmType): boolean {
  if (from.kind === 'collection' && to.kind === 'collection')
    return from.item.name === to.item.name || isCastable(from.item, to.item)
  if (from.kind !== 'primitive' || to.kind !== 'primitive') return false
  if (to.name === 'Edm.String' || from.name === 'Edm.String') return true
  if (isNumberType(from)) return isNumberType(to)
  if (from.name === 'Edm.Date') return to.name === 'Edm.DateTimeOffset'
  return (
    from.name === 'Edm.DateTimeOffset' && (to.name === 'Edm.Date' || to.name === 'Edm.TimeOfDay')
  )
}

/** True for a value, which is not null, of just that type; entities are of the type of their set. */
export function bindIsOf(syntax: CallSyntax, scope: Scope): Expression {
  const [valueSyntax, typeName] = typeArguments(syntax)
  if (valueSyntax === null) return booleanConstant(isCastTo(typeName, scope.row.set.type))
  typeNamed(typeName)
  const operand = bindExpression(valueSyntax, scope)
  if (typeOf(operand)?.name !== typeName) return booleanConstant(false)
  return bindComparison('ne', operand, { kind: 'null' })
}

function typeArguments({ name, operands }: CallSyntax) {
  const [type, value = null] = operands.toReversed()
  if (type === undefined || operands.length > 2)
    throw odataError('wrong-arguments', `${name} takes 1 or 2 arguments, not ${operands.length}`)
  const typeName = nameOfType(type)
  if (typeName === null)
    throw odataError('wrong-arguments', `the last argument of ${name} must be the name of a type`)
  return [value, typeName] as const
}

/** `Edm.Int32` or `Collection(Edm.Int32)`, which looks like a call. */
function nameOfType(type: ExpressionSyntax): string | null {
  if (type.kind === 'path' && type.names.length === 1) return type.names[0]!
  if (type.kind !== 'call' || type.name !== 'Collection') return null
  const [item, ...more] = type.operands.map(nameOfType)
  return item == null || more.length > 0 ? null : `Collection(${item})`
}

function typeNamed(name: string): EdmType {
  const item = /^Collection\((.*)\)$/.exec(name)?.[1]
  const plain = targets[item ?? name]
  if (plain !== undefined) return item === undefined ? plain : collectionOf(plain)
  if (UNSERVED.includes(name) || name.startsWith('Edm.Geo')) throw unsupported(`the type ${name}`)
  throw odataError('type-mismatch', `there is no type "${name}"`)
}
