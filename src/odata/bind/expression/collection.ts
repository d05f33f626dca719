// Functions of collections (URL conventions 4.01, 5.1.1.5 and 5.1.1.6). Items are compared as `eq` does: null is equal to
// null.

import { type Sql, sql } from '../../../core/sql.ts'
import { sameCollections } from './comparison.ts'
import { type Expression, typeOf } from '../bound.ts'
import { odataError } from '../../protocol/errors.ts'
import type { OperandsToSql } from './functions.ts'
import { isInteger } from '../../edm/numbers.ts'
import { edm, type EdmType } from '../../edm/types.ts'
import { cast } from './constants.ts'

interface CollectionFunction {
  /** null: the type of the first argument. */
  readonly result: EdmType | null
  readonly sql: OperandsToSql
  readonly copies: readonly number[]
}

const isSame = (a: Sql, b: Sql) => sql`${a} IS NOT DISTINCT FROM ${b}`

const indexOf = (a: Sql, b: Sql) =>
  sql`CAST(coalesce(list_min(list_filter(range(0, len(${a}) - len(${b}) + 1),
    lambda i: ${isSame(sql`(${a})[i + 1:i + len(${b})]`, b)})), -1) AS INTEGER)`

const occurrences = (list: Sql) =>
  sql`len(list_filter(${list}, lambda y: y IS NOT DISTINCT FROM x))`

/** Of two collections with items of one type. */
const ofTwo: Readonly<Record<string, CollectionFunction>> = {
  concat: { result: null, sql: (a, b) => sql`list_concat(${a}, ${b})`, copies: [] },
  contains: { result: edm.Boolean, sql: (a, b) => sql`(${indexOf(a, b)} >= 0)`, copies: [2, 3] },
  startswith: {
    result: edm.Boolean,
    sql: (a, b) => sql`(${isSame(sql`(${a})[:len(${b})]`, b)})`,
    copies: [1, 2],
  },
  endswith: {
    result: edm.Boolean,
    sql: (a, b) =>
      sql`(len(${b}) <= len(${a}) AND ${isSame(sql`(${a})[len(${a}) - len(${b}) + 1:]`, b)})`,
    copies: [3, 3],
  },
  indexof: { result: edm.Int32, sql: indexOf, copies: [2, 3] },
  /** Each item is at least as often in the first as in the second. */
  hassubset: {
    result: edm.Boolean,
    sql: (a, b) =>
      sql`(len(list_filter(${b}, lambda x: ${occurrences(b)} > ${occurrences(a)})) = 0)`,
    copies: [1, 2],
  },
  /** Walks along the first, and along the second as far as its items have been met. */
  hassubsequence: {
    result: edm.Boolean,
    sql: (a, b) =>
      sql`(list_reduce(range(1, len(${a}) + 1), lambda met, i: met +
        CASE WHEN met < len(${b}) AND ${isSame(sql`(${b})[met + 1]`, sql`(${a})[i]`)} THEN 1 ELSE 0 END, 0)
        = len(${b}))`,
    copies: [2, 3],
  },
}

const length: CollectionFunction = {
  result: edm.Int32,
  sql: (a) => sql`CAST(len(${a}) AS INTEGER)`,
  copies: [],
}

/** Counted from zero; a negative start counts from the end, as in a text. */
const first = (list: Sql, start: Sql) =>
  sql`CASE WHEN ${start} < 0 THEN greatest(len(${list}) + ${start}, 0) ELSE ${start} END`

const substring: CollectionFunction = {
  result: null,
  sql: (list, start, count) => {
    const from = first(list, start)
    return count === sql.empty
      ? sql`list_slice(${list}, ${from} + 1, len(${list}))`
      : sql`list_slice(${list}, ${from} + 1, ${from} + greatest(${count}, 0))`
  },
  copies: [3, 6, 1],
}

/** Functions of collections and of nothing else; the others are functions of texts too. */
export const isCollectionFunction = (name: string): boolean => name.startsWith('hassub')

/** Throws wrong-arguments, type-mismatch. */
export function bindCollectionCall(name: string, operands: readonly Expression[]): Expression {
  const folded = name.toLowerCase()
  const [list, other] = operands as readonly [Expression, Expression]
  if (Object.hasOwn(ofTwo, folded)) {
    requireCount(folded, operands, [2])
    const made = ofTwo[folded]!
    if (list.kind === 'null' || other.kind === 'null') return nullOf(made, operands)
    if (![list, other].every(isCollection)) throw mismatch(folded, operands)
    return call(folded, made, sameCollections(list, other))
  }
  if (folded === 'length') {
    requireCount(folded, operands, [1])
    return call(folded, length, operands)
  }
  if (folded !== 'substring') throw mismatch(name, operands)
  requireCount(folded, operands, [2, 3])
  const numbers = operands.slice(1)
  if (operands.some(({ kind }) => kind === 'null')) return nullOf(substring, operands)
  if (!isCollection(list) || !numbers.every((number) => isInteger(typeOf(number)!)))
    throw mismatch(folded, operands)
  return call(folded, substring, [list, ...numbers.map((number) => cast(number, edm.Int64))])
}

const isCollection = (operand: Expression) => typeOf(operand)?.kind === 'collection'

const resultOf = ({ result }: CollectionFunction, operands: readonly Expression[]): EdmType =>
  result ?? operands.map(typeOf).find((type) => type?.kind === 'collection')!

function call(name: string, made: CollectionFunction, operands: readonly Expression[]): Expression {
  const type = resultOf(made, operands)
  return { kind: 'call', name, type, operands, sql: made.sql, copies: made.copies }
}

const nullOf = (made: CollectionFunction, operands: readonly Expression[]): Expression => ({
  kind: 'cast',
  type: resultOf(made, operands),
  operand: { kind: 'null' },
})

function requireCount(name: string, operands: readonly Expression[], counts: readonly number[]) {
  if (counts.includes(operands.length)) return
  throw odataError(
    'wrong-arguments',
    `${name} takes ${counts.join(' or ')} arguments, not ${operands.length}`,
  )
}

function mismatch(name: string, operands: readonly Expression[]) {
  const types = operands.map((operand) => typeOf(operand)?.name ?? 'null').join(', ')
  return odataError('type-mismatch', `${name} does not take (${types})`)
}
