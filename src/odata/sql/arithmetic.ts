// The SQL of arithmetic. Operands have the types in which DuckDB is to calculate already.

import { type Sql, sql } from '../../core/sql.ts'
import { type Call, type Expression, typeOf } from '../bind/bound.ts'
import type { CallName } from '../bind/expression/functions.ts'
import type { EdmType } from '../edm/types.ts'
import { bothOnceIfLong, once } from './once.ts'
import { BEYOND_CALENDAR, DIVISION_BY_ZERO } from './raised.ts'
import { isOutsideSql } from './temporal-range.ts'

type PrintArithmetic = (a: Sql, b: Sql, c: Sql, call: Call) => Sql

const castTo = ({ engine }: EdmType, value: Sql) => sql`CAST(${value} AS ${sql.type(engine)})`

const failure = (type: EdmType, words: string) => castTo(type, sql`error(${sql.value(words)})`)
const fail = (type: EdmType) => failure(type, DIVISION_BY_ZERO)

/**
 * Clients know the years 1 to 9999 only. A time beyond them would be compared as what it is and shown as the nearest one
 * that clients know, so groups and filters would disagree with what they see.
 */
const within = (calculated: Sql, { type, operands }: Call) => {
  const checkedTime = (value: Sql) =>
    sql`CASE WHEN ${isOutsideSql(value, type)} THEN ${failure(type, BEYOND_CALENDAR)} ELSE ${castTo(type, value)} END`
  const isShortChain = operands.every((operand) => timesIn(operand) < FOLDED_TIMES)
  return isShortChain ? checkedTime(calculated) : once(checkedTime)(calculated)
}

/**
 * DuckDB calculates constants before it reads rows, and skips the row groups that they rule out, but no lambda. Each
 * calculated time is written three times, so few may be within one another; copiesOf() counts them once.
 */
const FOLDED_TIMES = 3

/** How many calculated times are within one another in a constant; Infinity for what is none. */
function timesIn(expression: Expression): number {
  if (expression.kind === 'constant') return 0
  if (expression.kind !== 'call') return Infinity
  const within = Math.max(0, ...expression.operands.map(timesIn))
  return CALCULATED_TIMES.has(expression.name) ? within + 1 : within
}

const CALCULATED_TIMES: ReadonlySet<CallName> = new Set([
  'timeAdd',
  'timeSub',
  'dateAdd',
  'dateSub',
] as const)

/** DuckDB makes NULL of a number divided by zero. Null divided by zero is null. */
const checked = (a: Sql, b: Sql, type: EdmType, quotient: (a: Sql, b: Sql) => Sql) =>
  bothOnceIfLong(
    (dividend, divisor) =>
      sql`CASE WHEN ${divisor} = 0 AND ${dividend} IS NOT NULL THEN ${fail(type)} ELSE ${quotient(dividend, divisor)} END`,
  )(a, b)

const plus = (a: Sql, b: Sql) => sql`(${a} + ${b})`
const minus = (a: Sql, b: Sql) => sql`(${a} - ${b})`
const times = (a: Sql, b: Sql) => sql`(${a} * ${b})`
const dividedBy = (a: Sql, b: Sql) => sql`(${a} / ${b})`
const wholeDividedBy = (a: Sql, b: Sql) => sql`(${a} // ${b})`
const modulo = (a: Sql, b: Sql) => sql`(${a} % ${b})`

/** DuckDB fails with the least integer modulo -1, which is 0 as any modulo 1. */
const wholeModulo = (a: Sql, b: Sql) => sql`(${a} % CASE WHEN ${b} = -1 THEN 1 ELSE ${b} END)`

/** To the microsecond. */
const duration = (microseconds: Sql) => sql`to_microseconds(CAST(round(${microseconds}) AS BIGINT))`

export const arithmeticSql = {
  add: plus,
  sub: minus,
  timeAdd: (a, b, _, call) => within(plus(a, b), call),
  timeSub: (a, b, _, call) => within(minus(a, b), call),
  dateAdd: (a, b, _, call) => within(plus(a, b), call),
  dateSub: (a, b, _, call) => within(minus(a, b), call),
  mul: times,
  div: dividedBy,
  mod: modulo,
  negate: (value) => sql`(- ${value})`,
  exactAdd: (a, b, _, { type }) => castTo(type, plus(a, b)),
  exactSub: (a, b, _, { type }) => castTo(type, minus(a, b)),
  exactMul: (a, b, _, { type }) => castTo(type, times(a, b)),
  exactMod: (a, b, _, { type }) => castTo(type, modulo(a, b)),
  wholeDiv: wholeDividedBy,
  checkedDiv: (a, b, _, { type }) => checked(a, b, type, dividedBy),
  checkedMod: (a, b, _, { type }) => checked(a, b, type, modulo),
  checkedWholeDiv: (a, b, _, { type }) => checked(a, b, type, wholeDividedBy),
  checkedWholeMod: (a, b, _, { type }) => checked(a, b, type, wholeModulo),
  checkedExactMod: (a, b, _, { type }) => castTo(type, checked(a, b, type, modulo)),
  durationMul: (time, by) => duration(sql`epoch_us(${time}) * ${by}`),
  durationDiv: (time, by, _, { operands: [, divisor] }) =>
    duration(
      sql`epoch_us(${time}) / CASE WHEN ${by} = 0 THEN ${fail(typeOf(divisor!)!)} ELSE ${by} END`,
    ),
  daysBetween: (a, b) => sql`to_days(CAST(${a} - ${b} AS INTEGER))`,
} satisfies Partial<Record<CallName, PrintArithmetic>>
