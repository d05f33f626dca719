// The SQL of functions and operators: one row for each call that a bound request may hold, as the compiler checks. What
// they take and return is defined in bind/expression/functions.ts.

import { type Sql, sql } from '../../core/sql.ts'
import { type Call, typeOf, type Expression } from '../bind/bound.ts'
import type { CallName } from '../bind/expression/functions.ts'
import { isFloat } from '../edm/numbers.ts'
import type { EdmType, PrimitiveType } from '../edm/types.ts'
import { VARCHAR } from './engine-types.ts'
import { floatTextSql, jsonTextSql } from './json-value.ts'
import { geoSql } from './geo.ts'
import { bothOnceIfLong, once, onceIfLong } from './once.ts'
import { NEGATIVE_LENGTH, BEYOND_CALENDAR, DIVISION_BY_ZERO } from './raised.ts'
import { isOutsideSql, inRangeSql, hasRange } from './temporal-range.ts'
import { formedSql, momentSql } from './text-forms.ts'
import { columnType } from '../../core/relation.ts'

/** Gets as many operands as the call has; the others are empty. */
type PrintCall = (a: Sql, b: Sql, c: Sql, call: Call) => Sql

const integer = (value: Sql) => sql`CAST(${value} AS INTEGER)`

/** DuckDB counts from one; a negative start counts from the end, and not beyond the first character. */
const firstCharacter = (text: Sql, start: Sql) =>
  sql`CASE WHEN ${start} < 0 THEN greatest(length(${text}) + ${start}, 0) ELSE ${start} END + 1`

const textSql = {
  contains: (text, part) => sql`contains(${text}, ${part})`,
  startswith: (text, part) => sql`starts_with(${text}, ${part})`,
  endswith: (text, part) => sql`ends_with(${text}, ${part})`,
  tolower: (text) => sql`lower(${text})`,
  toupper: (text) => sql`upper(${text})`,
  length: (text) => integer(sql`length(${text})`),
  // DuckDB's trim() leaves tabs and line ends, and what it calls white space is less than Unicode does.
  trim: (text) =>
    sql`regexp_replace(${text}, '^[\\s\\x0B\\x{85}\\p{Z}]+|[\\s\\x0B\\x{85}\\p{Z}]+$', '', 'g')`,
  // DuckDB's concat() takes NULL for an empty text.
  concat: (a, b) => sql`(${a} || ${b})`,
  indexof: (text, part) => integer(sql`instr(${text}, ${part}) - 1`),
  substringFrom: (text, start) => sql`substr(${text}, ${firstCharacter(text, start)})`,
  substring: (text, start, count) =>
    sql`substr(${text}, ${firstCharacter(text, start)}, CASE WHEN ${count} < 0 THEN CAST(error(${sql.value(NEGATIVE_LENGTH)}) AS BIGINT) ELSE ${count} END)`,
  matchespattern: (text, pattern) => sql`regexp_matches(${text}, ${pattern})`,
  search: (text, part) => sql`coalesce(contains(lower(${text}), lower(${part})), FALSE)`,
  textInUrl: (text) =>
    sql`('''' || url_encode(replace(CAST(${text} AS ${sql.type(VARCHAR)}), '''', '''''')) || '''')`,
  valueInUrl: (value, _b, _c, { operands: [operand] }) => urlValueSql(value, typeOf(operand!)!),
} satisfies Partial<Record<CallName, PrintCall>>

/** The form that a value has in JSON, without the quotes. Two types have a name before them. */
function urlValueSql(value: Sql, type: EdmType): Sql {
  const text = isFloat(type)
    ? floatTextSql(value, type, '')
    : sql`replace(${jsonTextSql(value, type)}, '"', '')`
  const prefix = { 'Edm.Binary': 'binary', 'Edm.Duration': 'duration' }[type.name]
  return prefix === undefined
    ? sql`url_encode(${text})`
    : sql`(${sql.value(`${prefix}'`)} || ${text} || '''')`
}

const timeSql = {
  year: (day) => integer(sql`year(${day})`),
  month: (day) => integer(sql`month(${day})`),
  day: (day) => integer(sql`day(${day})`),
  hour: (time) => integer(sql`hour(${time})`),
  minute: (time) => integer(sql`minute(${time})`),
  second: (time) => integer(sql`second(${time})`),
  fractionalseconds: (time) =>
    sql`CAST((microsecond(${time}) % 1000000) * CAST(0.000001 AS DECIMAL(6,6)) AS DECIMAL(6,6))`,
  date: (time) => sql`CAST(${time} AS DATE)`,
  time: (time) => sql`CAST(${time} AS TIME)`,
  // All times are stored and shown in UTC.
  totaloffsetminutes: (time) => sql`CASE WHEN ${time} IS NOT NULL THEN 0 END`,
  totalseconds: (duration) =>
    sql`CAST(CAST(epoch_us(${duration}) AS DECIMAL(19,0)) * CAST(0.000001 AS DECIMAL(6,6)) AS DECIMAL(25,6))`,
  mindatetime: () => sql`TIMESTAMP '0001-01-01 00:00:00'`,
  maxdatetime: () => sql`TIMESTAMP '9999-12-31 23:59:59.999999'`,
} satisfies Partial<Record<CallName, PrintCall>>

const otherSql = {
  // Half away from zero.
  round: (value) => sql`round(${value})`,
  floor: (value) => sql`floor(${value})`,
  ceiling: (value) => sql`ceil(${value})`,
  whole: (value) => value,
  cast: (value, _b, _c, { operands: [operand], type }) => castToSql(typeOf(operand!)!, type)(value),
  has: (value, flags) => sql`((${value} & ${flags}) = ${flags})`,
  same: (a, b) => sql`(${a} IS NOT DISTINCT FROM ${b})`,
  linked: (a, b) => sql`${a} = ${b}`,
  linkText: (value, _b, _c, { operands: [operand] }) => linkTextSql(value, typeOf(operand!)),
} satisfies Partial<Record<CallName, PrintCall>>

/** 0 and -0 are one value to GROUP BY. */
function linkTextSql(value: Sql, type: EdmType | null): Sql {
  const text = sql`CAST(${type !== null && isFloat(type) ? sql`(${value} + 0)` : value} AS VARCHAR)`
  return sql`coalesce(strlen(${text}) || ':' || ${text}, '-')`
}

// Functions of collections compare items as `eq` does: null is equal to null.

const isSame = (a: Sql, b: Sql) => sql`${a} IS NOT DISTINCT FROM ${b}`

const indexOf = (a: Sql, b: Sql) =>
  sql`CAST(coalesce(list_min(list_filter(range(0, len(${a}) - len(${b}) + 1),
    lambda i: ${isSame(sql`(${a})[i + 1:i + len(${b})]`, b)})), -1) AS INTEGER)`

const occurrences = (list: Sql) =>
  sql`len(list_filter(${list}, lambda y: y IS NOT DISTINCT FROM x))`

/** Counted from zero; a negative start counts from the end, as in a text. */
const first = (list: Sql, start: Sql) =>
  sql`CASE WHEN ${start} < 0 THEN greatest(len(${list}) + ${start}, 0) ELSE ${start} END`

const listSql = {
  listConcat: (a, b) => sql`list_concat(${a}, ${b})`,
  listContains: (a, b) => sql`(${indexOf(a, b)} >= 0)`,
  listStartswith: (a, b) => sql`(${isSame(sql`(${a})[:len(${b})]`, b)})`,
  listEndswith: (a, b) =>
    sql`(len(${b}) <= len(${a}) AND ${isSame(sql`(${a})[len(${a}) - len(${b}) + 1:]`, b)})`,
  listIndexof: indexOf,
  /** Each item is at least as often in the first as in the second. */
  hassubset: (a, b) =>
    sql`(len(list_filter(${b}, lambda x: ${occurrences(b)} > ${occurrences(a)})) = 0)`,
  /** Walks along the first, and along the second as far as its items have been met. */
  hassubsequence: (a, b) =>
    sql`(list_reduce(range(1, len(${a}) + 1), lambda met, i: met +
        CASE WHEN met < len(${b}) AND ${isSame(sql`(${b})[met + 1]`, sql`(${a})[i]`)} THEN 1 ELSE 0 END, 0)
        = len(${b}))`,
  listLength: (list) => sql`CAST(len(${list}) AS INTEGER)`,
  listSliceFrom: (list, start) => sql`list_slice(${list}, ${first(list, start)} + 1, len(${list}))`,
  listSlice: (list, start, count) => {
    const from = first(list, start)
    return sql`list_slice(${list}, ${from} + 1, ${from} + greatest(${count}, 0))`
  },
  hasLength: (list, length) => sql`(len(${list}) = ${length})`,
  hasItem: (list, place) => sql`(len(${list}) >= ${place})`,
  itemAt: (list, place) => sql`list_extract(${list}, ${place})`,
} satisfies Partial<Record<CallName, PrintCall>>

// The SQL of arithmetic. Operands have the types in which DuckDB is to calculate already.

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

const arithmeticSql = {
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

// Casts as SQL. What has no counterpart in the other type becomes NULL, where DuckDB would fail.

type ToSql = (value: Sql) => Sql

/** Only between types that the specification knows a cast of (isCastable in bind/expression/call.ts). */
function castToSql(from: EdmType, to: EdmType): ToSql {
  if (from.kind === 'collection' && to.kind === 'collection') return itemsToSql(from.item, to.item)
  if (to.name === 'Edm.String') return textOf(from)
  if (from.name === 'Edm.String' && to.kind === 'primitive') return ofText(to)
  return to.name === 'Edm.Byte' ? byteOf(to) : tryCast(to)
}

function itemsToSql(from: EdmType, to: EdmType): ToSql {
  const item = sql.ident('cast item')
  const toSql = from.name === to.name ? (value: Sql) => value : castToSql(from, to)
  return (list) => sql`list_transform(${list}, lambda ${item}: ${toSql(item)})`
}

const tryCast =
  ({ engine }: EdmType): ToSql =>
  (value) =>
    sql`TRY_CAST(${value} AS ${sql.type(engine)})`

const byteOf = (to: EdmType): ToSql => {
  const toSql = tryCast(to)
  return onceIfLong(
    (value) => sql`CASE WHEN ${toSql(value)} BETWEEN 0 AND 255 THEN ${toSql(value)} END`,
  )
}

/** The text that the JSON of a response has. */
function textOf(from: EdmType): ToSql {
  switch (from.name) {
    case 'Edm.Binary':
    case 'Edm.Duration':
      return once((value) => sql`replace(${jsonTextSql(value, from)}, '"', '')`)
    case 'Edm.DateTimeOffset':
      return onceIfLong(
        (value) =>
          sql`(CAST(CAST(${value} AS DATE) AS VARCHAR) || 'T' || CAST(CAST(${value} AS TIME) AS VARCHAR) || 'Z')`,
      )
    case 'Edm.Double':
    case 'Edm.Single':
      return onceIfLong((value) => floatTextSql(value, from, ''))
    case 'Edm.Decimal':
      return (value) => jsonTextSql(value, from)
    default:
      return (value) => sql`CAST(${value} AS VARCHAR)`
  }
}

function ofText(to: PrimitiveType): ToSql {
  switch (to.name) {
    case 'Edm.Binary':
      return once(bytesOf)
    case 'Edm.Duration':
      return once(durationOf)
    default: {
      const toSql = valueOf(to)
      return onceIfLong((text) => formedSql(text, to.name, toSql(text)))
    }
  }
}

/** Of a text in the form of the type. */
function valueOf(to: PrimitiveType): ToSql {
  if (to.name === 'Edm.Byte') return byteOf(to)
  const toSql = tryCast(to)
  if (to.name !== 'Edm.DateTimeOffset')
    return hasRange(to) ? (text) => inRangeSql(toSql(text), to) : toSql
  return (text) =>
    inRangeSql(sql`CAST(TRY_CAST(${momentSql(text)} AS ${sql.type(TIMESTAMPTZ)}) AS TIMESTAMP)`, to)
}

const TIMESTAMPTZ = columnType('TIMESTAMP WITH TIME ZONE')

/** Base64 of RFC 4648, section 5, with or without padding; DuckDB wants its other letters, and the padding. */
function bytesOf(text: Sql): Sql {
  const digits = sql`rtrim(${text}, '=')`
  const padded = sql`rpad(translate(${digits}, '-_', '+/'), CAST((length(${digits}) + 3) // 4 * 4 AS INTEGER), '=')`
  return sql`CASE WHEN regexp_full_match(${text}, '[A-Za-z0-9_-]*={0,2}') AND length(${digits}) % 4 <> 1
    THEN from_base64(${padded}) END`
}

/** The durations that durationMicroseconds in literals.ts reads. */
const DURATION =
  '(-?)P(?:(\\d{1,13})D)?(?:T(?:(\\d{1,13})H)?(?:(\\d{1,13})M)?(?:(\\d{1,13})(?:\\.(\\d{1,12}))?S)?)?'

function durationOf(text: Sql): Sql {
  const part = (group: number) =>
    sql`regexp_extract(${text}, ${sql.value(DURATION)}, ${sql.value(group)})`
  const number = (group: number) => sql`CAST(coalesce(nullif(${part(group)}, ''), '0') AS HUGEINT)`
  const seconds = sql`(((${number(2)} * 24 + ${number(3)}) * 60 + ${number(4)}) * 60 + ${number(5)})`
  const micros = sql`(${seconds} * 1000000 + CAST(left(rpad(${part(6)}, 12, '0'), 6) AS HUGEINT))`
  const signed = sql`(CASE WHEN ${part(1)} = '-' THEN -1 ELSE 1 END * ${micros})`
  return sql`CASE WHEN regexp_full_match(${text}, ${sql.value(DURATION)}) AND right(${text}, 1) NOT IN ('P', 'T')
    THEN to_microseconds(TRY_CAST(${signed} AS BIGINT)) END`
}

const callSql: Readonly<Record<CallName, PrintCall>> = {
  ...textSql,
  ...timeSql,
  ...arithmeticSql,
  ...listSql,
  ...otherSql,
  ...geoSql,
}

/** `operands` are those of the call as SQL. */
export function printCall(call: Call, operands: readonly Sql[]): Sql {
  const [a = sql.empty, b = sql.empty, c = sql.empty] = operands
  return callSql[call.name](a, b, c, call)
}
