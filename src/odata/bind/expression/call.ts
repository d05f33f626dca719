// Calls of functions, and what looks like one: case, cast, isof, and `has`.

import { didYouMean } from '../../../core/suggest.ts'
import { bindComparison, sameCollections } from './comparison.ts'
import { bindExpression } from './expression.ts'
import { type Expression, typeOf, call, constant, NULL } from '../bound.ts'
import { odataError, unsupported, typeMismatch, wrongArguments } from '../../protocol/errors.ts'
import {
  functionNames,
  type FunctionRow,
  functionsNamed,
  needsSpatial,
  type SpecialFunction,
  type CollectionFunction,
  functionsOfOne,
  functionsOfTwo,
} from './functions.ts'
import { commonNumericType, exactRange, isInteger, isNumberType } from '../../edm/numbers.ts'
import { bindPattern } from './matches-pattern.ts'
import { type Scope, findNavigation } from '../scope.ts'
import { foreignFunction } from '../../syntax/foreign-words.ts'
import type { CallSyntax, ExpressionSyntax, PathSyntax } from '../../syntax/syntax.ts'
import {
  edm,
  type EdmType,
  untypedObject,
  collectionOf,
  decimalType,
  type PrimitiveType,
  isCastTo,
} from '../../edm/types.ts'
import { booleanConstant, cast } from './constants.ts'
import { bindHierarchyTest, hierarchyTest } from './hierarchy.ts'
import { geoType, isGeoName, surfaceOf } from '../../edm/geo.ts'
import { pathTarget } from './path.ts'
import type { GeoSupport } from '../../protocol/conventions.ts'
import { RequestError } from '../../../http/request-error.ts'
import { columnType } from '../../../core/relation.ts'

/** Throws unknown-function or not-supported, wrong-arguments, type-mismatch. */
export function bindCall(syntax: CallSyntax, scope: Scope): Expression {
  const { name } = syntax
  const folded = name.toLowerCase()
  const test = hierarchyTest(name)
  if (test !== null) return bindHierarchyTest(test, syntax, scope)
  if (syntax.names !== undefined)
    throw wrongArguments(`the parameters of ${name} have no names (at character ${syntax.at + 1})`)
  if (isSpecial(folded)) return bindSpecial[folded](syntax, scope)
  if (needsSpatial(name) && functionsNamed(name).length > 0) requireSpatial(name, scope.request.geo)
  const operands = operandsOf(syntax, scope)
  const hasCollection = operands.some((operand) => typeOf(operand)?.kind === 'collection')
  if (hasCollection || isCollectionFunction(folded)) return bindCollectionCall(name, operands)
  const rows = functionsNamed(name)
  if (rows.length === 0) throw noFunction(syntax)
  return applyFunction(rows, operands)
}

const operandsOf = ({ operands }: CallSyntax, scope: Scope): readonly Expression[] =>
  operands.map((operand) => bindExpression(operand, scope))

const bindSpecial: Readonly<
  Record<SpecialFunction, (syntax: CallSyntax, scope: Scope) => Expression>
> = {
  cast: (syntax, scope) => bindCast(syntax, scope),
  isdefined: (syntax, scope) => bindIsDefined(syntax, scope),
  isof: (syntax, scope) => bindIsOf(syntax, scope),
  matchespattern: (syntax, scope) => bindPattern(operandsOf(syntax, scope)),
  now: (syntax, scope) => bindNow(operandsOf(syntax, scope), scope.request.now),
}

const isSpecial = (name: string): name is SpecialFunction => Object.hasOwn(bindSpecial, name)

function applyFunction(rows: readonly FunctionRow[], operands: readonly Expression[]): Expression {
  const name = rows[0]!.name
  const counts = [...new Set(rows.map(({ parameters }) => parameters.length))]
  if (!counts.includes(operands.length))
    throw wrongArguments(`${name} takes ${counts.join(' or ')} arguments, not ${operands.length}`)
  const row = rows.find(
    ({ parameters }) =>
      parameters.length === operands.length &&
      operands.every((operand, i) => fits(operand, parameters[i]!)),
  )
  if (row === undefined) {
    const types = operands.map((operand) => typeOf(operand)?.name ?? 'null').join(', ')
    throw typeMismatch(`${name} does not take (${types})`)
  }
  requireOneSystem(name, operands)
  const typed = operands.map((operand, i) => typedOperand(operand, row.parameters[i]!))
  const type = typeof row.result === 'function' ? row.result(typeOf(typed[0]!)!) : row.result
  return call(row.call, type, ...typed)
}

function requireSpatial(name: string, geo: GeoSupport): void {
  if (geo === 'served') return
  const reason =
    geo === 'unnamed'
      ? 'the project does not name the extension spatial; add extensions: [spatial] to eider.yml, run "eider extension install", and start the service again'
      : 'the service could not load the extension spatial; run "eider extension install" where it runs, and start it again; its log says more'
  throw unsupported(`the function ${name}`, reason)
}

/** Places in two reference systems are not on one map. */
function requireOneSystem(name: string, operands: readonly Expression[]): void {
  const systems = new Set(operands.flatMap((operand) => sridOf(typeOf(operand)) ?? []))
  if (systems.size < 2) return
  const found = [...systems].join(' and ')
  throw typeMismatch(`${name} needs places in one reference system, not of SRID ${found}`)
}

const sridOf = (type: EdmType | null) => (type?.kind === 'primitive' ? type.srid : undefined)

function fits(operand: Expression, types: readonly EdmType[]): boolean {
  const type = typeOf(operand)
  return type === null || types.some(({ name }) => name === type.name)
}

/** DuckDB chooses a function by the types of its arguments: NULL alone has none, small integers have too many. */
function typedOperand(operand: Expression, types: readonly EdmType[]): Expression {
  const type = typeOf(operand)
  if (type === null) return { kind: 'cast', type: types[0]!, operand }
  return isInteger(type) ? cast(operand, edm.Int64) : operand
}

function noFunction({ name, operands, at }: CallSyntax) {
  const hint = foreignFunction(name, operands.map(textOf)) ?? didYouMean(name, functionNames)
  const problem = `there is no function "${name}" (at character ${at + 1})`
  return odataError('unknown-function', hint === undefined ? problem : `${problem}; ${hint}`)
}

/** For a message: literals and names as they were written. */
function textOf(operand: ExpressionSyntax): string {
  if (operand.kind === 'path') return operand.names.join('/')
  if (operand.kind !== 'literal') return '…'
  return operand.form === 'string' ? `'${operand.text.replaceAll("'", "''")}'` : operand.text
}

function bindNow(operands: readonly Expression[], now: Date): Expression {
  if (operands.length > 0) throw wrongArguments('now takes no arguments')
  const value = now.toISOString().replace('T', ' ').replace('Z', '')
  return constant(edm.DateTimeOffset, value)
}

interface Branch {
  readonly condition: Expression
  readonly value: Expression
}

/** The value of the first branch whose condition holds, null when none does. */
export function bindCase(branches: readonly Branch[]): Expression {
  const type = branches.map(({ value }) => typeOf(value)).reduce(commonValueType)
  if (type === null) return NULL
  if (type === untypedObject) throw unsupported('a JSON object in case')
  return {
    kind: 'case',
    type,
    branches: branches.map(({ condition, value }) => ({ condition, value: cast(value, type) })),
  }
}

/** The type of values that stand for each other, null as long as all are null. */
export function commonValueType(a: EdmType | null, b: EdmType | null): EdmType | null {
  if (a === null || b === null) return a ?? b
  if (isNumberType(a) && isNumberType(b)) return commonNumericType(a, b)
  const place = commonPlace(a, b)
  if (place !== null) return place
  if (a.name === b.name && sridOf(a) === sridOf(b)) return a
  throw typeMismatch(`${a.name} and ${b.name} have no type in common`)
}

/** Of places on one surface and in one reference system. */
function commonPlace(a: EdmType, b: EdmType): EdmType | null {
  if (!isGeoName(a.name) || !isGeoName(b.name) || a.name === b.name) return null
  const srid = sridOf(a)
  const isOne = surfaceOf(a.name) === surfaceOf(b.name) && srid === sridOf(b)
  return isOne && srid !== undefined ? geoType(surfaceOf(a.name), srid, null) : null
}

/** `has`: all bits of an integer, or the member of an ENUM by its name. */
export function bindHas(left: Expression, right: Expression): Expression {
  const type = typeOf(left)
  if (right.kind !== 'constant') throw typeMismatch('"has" must be followed by a literal')
  if (type !== null && isInteger(type)) {
    const { min, max } = exactRange(type)
    const bits = right.value.split(',').reduce((all, text) => all | flag(text), 0n)
    if (bits < min || bits > max) return booleanConstant(false)
    return call('has', edm.Boolean, left, constant(type, String(bits)))
  }
  if (type?.members != null) {
    if (right.type.name === 'Edm.String' && type.members.includes(right.value))
      return bindComparison('eq', left, right)
    throw typeMismatch(`no member "${right.value}": there are ${type.members.join(', ')}`)
  }
  throw typeMismatch(`"has" tests integers and enumerations, not ${type?.name ?? 'null'}`)
}

function flag(text: string): bigint {
  if (!/^-?\d{1,19}$/.test(text))
    throw typeMismatch('"has" must be followed by an integer for an integer property')
  return BigInt(text)
}

/** Throws unknown-property for a name that the entities never had. */
function bindIsDefined({ operands, at }: CallSyntax, scope: Scope): Expression {
  const [path, ...more] = operands
  if (path === undefined || more.length > 0)
    throw wrongArguments(`isdefined takes 1 argument, not ${operands.length}`)
  if (path.kind !== 'path') throw typeMismatch(`isdefined takes a path (at character ${at + 1})`)
  return scope.marks.get(path.names.join('/')) ?? booleanConstant(isKnown(path, scope))
}

function isKnown(path: PathSyntax, scope: Scope): boolean {
  if (scope.computed.has(path.names.join('/'))) return true
  try {
    pathTarget(path, path.at, scope)
    return true
  } catch (error) {
    const isUnknown = error instanceof RequestError && error.code === 'unknown-property'
    const [name = ''] = path.names
    const { row, request } = scope
    const whole = request.sets.get(row.set.name)?.type
    const wasThere =
      whole !== undefined &&
      whole !== row.set.type &&
      (findNavigation(whole, name) !== undefined ||
        whole.properties.some((property) => property.name === name))
    if (isUnknown && wasThere) return false
    throw error
  }
}

// cast and isof, whose last argument is the name of a type.

/**
 * Types that a value can be cast to; a Decimal has room for integers and ten digits after the point. The DuckDB type of
 * columns that are an Edm.Byte ends at 127.
 */
const targets = new Map<string, PrimitiveType>([
  ...Object.values(edm).map((type) => [type.name, type] as const),
  ['Edm.Byte', { ...edm.Byte, engine: columnType('SMALLINT') }],
  ['Edm.Decimal', decimalType(38, 10)],
])

const UNSERVED: readonly string[] = [
  'Edm.ComplexType',
  'Edm.EntityType',
  'Edm.PrimitiveType',
  'Edm.Stream',
  'Edm.Untyped',
]

/** A value that has no counterpart in the type becomes null (URL conventions 5.1.1.11.1). */
function bindCast(syntax: CallSyntax, scope: Scope): Expression {
  const [valueSyntax, typeName] = typeArguments(syntax)
  if (valueSyntax === null) throw unsupported('cast of the entity itself')
  const target = typeNamed(typeName)
  const operand = bindExpression(valueSyntax, scope)
  const type = typeOf(operand)
  if (type === null) return { kind: 'cast', type: target, operand }
  if (type.name === target.name) return operand
  if (!isCastable(type, target)) throw typeMismatch(`cannot cast ${type.name} to ${typeName}`)
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
function bindIsOf(syntax: CallSyntax, scope: Scope): Expression {
  const [valueSyntax, typeName] = typeArguments(syntax)
  if (valueSyntax === null) return booleanConstant(isCastTo(typeName, scope.row.set.type))
  typeNamed(typeName)
  const operand = bindExpression(valueSyntax, scope)
  if (typeOf(operand)?.name !== typeName) return booleanConstant(false)
  return bindComparison('ne', operand, NULL)
}

function typeArguments({ name, operands }: CallSyntax) {
  const [type, value = null] = operands.toReversed()
  if (type === undefined || operands.length > 2)
    throw wrongArguments(`${name} takes 1 or 2 arguments, not ${operands.length}`)
  const typeName = nameOfType(type)
  if (typeName === null)
    throw wrongArguments(`the last argument of ${name} must be the name of a type`)
  return [value, typeName] as const
}

/** `Edm.Int32` or `Collection(Edm.Int32)`, which looks like a call. Clients of Microsoft write it as a string. */
function nameOfType(type: ExpressionSyntax): string | null {
  if (type.kind === 'literal' && type.form === 'string') return type.text
  if (type.kind === 'path' && type.names.length === 1) return type.names[0]!
  if (type.kind !== 'call' || type.name !== 'Collection') return null
  const [item, ...more] = type.operands.map(nameOfType)
  return item == null || more.length > 0 ? null : `Collection(${item})`
}

function typeNamed(name: string): EdmType {
  const item = /^Collection\((.*)\)$/.exec(name)?.[1]
  const plain = targets.get(item ?? name)
  if (plain !== undefined) return item === undefined ? plain : collectionOf(plain)
  if (UNSERVED.includes(name) || name.startsWith('Edm.Geo')) throw unsupported(`the type ${name}`)
  throw typeMismatch(`there is no type "${name}"`)
}

// Functions of collections (URL conventions 4.01, 5.1.1.5 and 5.1.1.6). Items are compared as `eq` does: null is equal to
// null.

/** Functions of collections and of nothing else; the others are functions of texts too. */
const isCollectionFunction = (name: string): boolean =>
  Object.hasOwn(functionsOfTwo, name) && functionsNamed(name).length === 0

/** Throws wrong-arguments, type-mismatch. */
function bindCollectionCall(name: string, operands: readonly Expression[]): Expression {
  const folded = name.toLowerCase()
  const [list, other] = operands as readonly [Expression, Expression]
  if (Object.hasOwn(functionsOfTwo, folded)) {
    requireCount(folded, operands, [2])
    const made = functionsOfTwo[folded]!
    if (list.kind === 'null' || other.kind === 'null') return nullOf(made, operands)
    if (![list, other].every(isCollection)) throw mismatch(folded, operands)
    return callOf(made, sameCollections(list, other))
  }
  const { length, substring, substringFrom } = functionsOfOne
  if (folded === 'length') {
    requireCount(folded, operands, [1])
    return callOf(length, operands)
  }
  if (folded !== 'substring') throw mismatch(name, operands)
  requireCount(folded, operands, [2, 3])
  const numbers = operands.slice(1)
  const made = numbers.length === 1 ? substringFrom : substring
  if (operands.some(({ kind }) => kind === 'null')) return nullOf(made, operands)
  if (!isCollection(list) || !numbers.every((number) => isInteger(typeOf(number)!)))
    throw mismatch(folded, operands)
  return callOf(made, [list, ...numbers.map((number) => cast(number, edm.Int64))])
}

const isCollection = (operand: Expression) => typeOf(operand)?.kind === 'collection'

const resultOf = ({ result }: CollectionFunction, operands: readonly Expression[]): EdmType =>
  result ?? operands.map(typeOf).find((type) => type?.kind === 'collection')!

const callOf = (made: CollectionFunction, operands: readonly Expression[]) =>
  call(made.call, resultOf(made, operands), ...operands)

const nullOf = (made: CollectionFunction, operands: readonly Expression[]): Expression => ({
  kind: 'cast',
  type: resultOf(made, operands),
  operand: NULL,
})

function requireCount(name: string, operands: readonly Expression[], counts: readonly number[]) {
  if (counts.includes(operands.length)) return
  throw wrongArguments(`${name} takes ${counts.join(' or ')} arguments, not ${operands.length}`)
}

function mismatch(name: string, operands: readonly Expression[]) {
  const types = operands.map((operand) => typeOf(operand)?.name ?? 'null').join(', ')
  return typeMismatch(`${name} does not take (${types})`)
}
