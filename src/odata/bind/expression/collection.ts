// Functions of collections (URL conventions 4.01, 5.1.1.5 and 5.1.1.6). Items are compared as `eq` does: null is equal to
// null.

import { sameCollections } from './comparison.ts'
import { type Expression, typeOf, call, NULL } from '../bound.ts'
import { typeMismatch, wrongArguments } from '../../protocol/errors.ts'
import {
  type CollectionFunction,
  functionsNamed,
  functionsOfOne,
  functionsOfTwo,
} from './functions.ts'
import { isInteger } from '../../edm/numbers.ts'
import { edm, type EdmType } from '../../edm/types.ts'
import { cast } from './constants.ts'

/** Functions of collections and of nothing else; the others are functions of texts too. */
export const isCollectionFunction = (name: string): boolean =>
  Object.hasOwn(functionsOfTwo, name) && functionsNamed(name).length === 0

/** Throws wrong-arguments, type-mismatch. */
export function bindCollectionCall(name: string, operands: readonly Expression[]): Expression {
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
