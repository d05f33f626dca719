// The SQL of functions and operators: one row for each call that a bound request may hold, as the compiler checks. What
// they take and return is defined in bind/expression/functions.ts.

import { type Sql, sql } from '../../core/sql.ts'
import { type Call, typeOf } from '../bind/bound.ts'
import type { CallName } from '../bind/expression/functions.ts'
import { arithmeticSql } from './arithmetic.ts'
import { isFloat } from '../edm/numbers.ts'
import type { EdmType } from '../edm/types.ts'
import { castToSql } from './cast.ts'
import { VARCHAR } from './engine-types.ts'
import { floatTextSql, jsonTextSql } from './json-value.ts'
import { NEGATIVE_LENGTH } from './raised.ts'

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
} satisfies Partial<Record<CallName, PrintCall>>

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

const callSql: Readonly<Record<CallName, PrintCall>> = {
  ...textSql,
  ...timeSql,
  ...arithmeticSql,
  ...listSql,
  ...otherSql,
}

/** `operands` are those of the call as SQL. */
export function printCall(call: Call, operands: readonly Sql[]): Sql {
  const [a = sql.empty, b = sql.empty, c = sql.empty] = operands
  return callSql[call.name](a, b, c, call)
}
