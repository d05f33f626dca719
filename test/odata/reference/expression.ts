// An expression: its text and, beside it, what its value is by values.ts.

import type { Exact, Value } from './values.ts'

export type Type =
  'bool' | 'int' | 'decimal' | 'double' | 'text' | 'day' | 'instant' | 'clock' | 'duration' | 'guid'

export type Row = Readonly<Record<string, Value>>

/** What names mean: the row of the request, and the row that a lambda or a path has led to. */
export interface Scope {
  readonly row: Row
  readonly inner: Row | null
}

export interface Expression {
  readonly type: Type
  /** Digits that a decimal may have before and after the point. */
  readonly whole: number
  readonly scale: number
  readonly text: string
  /** How tightly its outermost operator binds. */
  readonly level: number
  readonly value: (scope: Scope) => Value
  /** It is null whatever the row is, and has no type of its own. */
  readonly isNull: boolean
}

/** What can stand where a value of a type is needed, besides literals: columns, and what leads to other rows. */
export interface Names {
  readonly columns: readonly Expression[]
  /** Conditions and counts over related rows; they take names of the related rows. */
  readonly related: readonly ((inside: () => Expression) => Expression)[]
  readonly inside: Names | null
}

export const PRIMARY = 10

export const make = (
  type: Type,
  text: string,
  level: number,
  value: Expression['value'],
  scale = 0,
  whole = 19,
): Expression => ({ type, text, level, value, scale, whole, isNull: false })

export function constant(type: Type, text: string, value: Value): Expression {
  const scale = type === 'decimal' && value !== null ? (value as Exact).scale : 0
  const whole = /^-?(\d*)/.exec(text)![1]!.length
  return { ...make(type, text, PRIMARY, () => value, scale, whole), isNull: value === null }
}

export const column = (
  type: Type,
  text: string,
  value: Expression['value'],
  scale = 0,
  whole = 19,
): Expression => make(type, text, PRIMARY, value, scale, whole)

/** In parentheses where its own operator would not hold it together. */
export const within = ({ text, level }: Expression, least: number) =>
  level < least ? `(${text})` : text

const levels: Readonly<Record<string, number>> = {
  or: 1,
  and: 2,
  eq: 3,
  ne: 3,
  gt: 4,
  ge: 4,
  lt: 4,
  le: 4,
  add: 5,
  sub: 5,
  mul: 6,
  div: 6,
  divby: 6,
  mod: 6,
}

export function binary(
  type: Type,
  operator: string,
  a: Expression,
  b: Expression,
  apply: (a: Value, b: Value) => Value,
): Expression {
  const level = levels[operator]!
  const text = `${within(a, level)} ${operator} ${within(b, level + 1)}`
  return make(type, text, level, (scope) => apply(a.value(scope), b.value(scope)))
}

export const call = (
  type: Type,
  name: string,
  operands: readonly Expression[],
  apply: (values: readonly Value[]) => Value,
): Expression =>
  make(type, `${name}(${operands.map(({ text }) => text).join(',')})`, PRIMARY, (scope) =>
    apply(operands.map(({ value }) => value(scope))),
  )

export const minus = (operand: Expression, apply: (value: Value) => Value): Expression =>
  make(
    operand.type,
    `- ${within(operand, 8)}`,
    8,
    (scope) => apply(operand.value(scope)),
    operand.scale,
    operand.whole,
  )
