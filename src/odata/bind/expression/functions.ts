// The functions of the query language, one row each: what they take, what they give, and their SQL. A name with
// several rows is chosen by its arguments. Every function gives null when an argument is null. Functions whose
// arguments are no plain values (cast, isof, matchesPattern) are bound in bind-call.ts.

import { type Sql, sql } from '../../../core/sql.ts'
import { NEGATIVE_LENGTH } from '../../sql/raised.ts'
import { decimalType, edm, type EdmType } from '../../edm/types.ts'

/** As many operands as the row has parameters; the first three are there always, empty when there are fewer. */
export type OperandsToSql = (a: Sql, b: Sql, c: Sql, ...more: readonly Sql[]) => Sql

export interface FunctionRow {
  readonly name: string
  /** For each parameter the types it takes, by their names. The literal null is taken as the first of them. */
  readonly parameters: readonly (readonly EdmType[])[]
  /** Some results have the type of the first argument, or one like it. */
  readonly result: EdmType | ((first: EdmType) => EdmType)
  readonly sql: OperandsToSql
  /** How often `sql` writes each operand, where that is more than once. */
  readonly copies: readonly number[]
}

const TEXT = [edm.String]
const INTEGER = [edm.Int64, edm.Int32, edm.Int16, edm.Byte, edm.SByte]
const FLOAT = [edm.Double, edm.Single]
const DECIMAL = [decimalType(38, 0)]
const DAY = [edm.DateTimeOffset, edm.Date]
const CLOCK = [edm.DateTimeOffset, edm.TimeOfDay]
const INSTANT = [edm.DateTimeOffset]
const DURATION = [edm.Duration]

const row = (
  name: string,
  parameters: FunctionRow['parameters'],
  result: FunctionRow['result'],
  toSql: OperandsToSql,
  copies: readonly number[] = [],
): FunctionRow => ({ name, parameters, result, sql: toSql, copies })

const integer = (value: Sql) => sql`CAST(${value} AS INTEGER)`

const textRows: readonly FunctionRow[] = [
  row('contains', [TEXT, TEXT], edm.Boolean, (text, part) => sql`contains(${text}, ${part})`),
  row('startswith', [TEXT, TEXT], edm.Boolean, (text, part) => sql`starts_with(${text}, ${part})`),
  row('endswith', [TEXT, TEXT], edm.Boolean, (text, part) => sql`ends_with(${text}, ${part})`),
  row('tolower', [TEXT], edm.String, (text) => sql`lower(${text})`),
  row('toupper', [TEXT], edm.String, (text) => sql`upper(${text})`),
  row('length', [TEXT], edm.Int32, (text) => integer(sql`length(${text})`)),
  // The engine's trim() leaves tabs and line ends, and what it calls white space is less than Unicode does.
  row(
    'trim',
    [TEXT],
    edm.String,
    (text) =>
      sql`regexp_replace(${text}, '^[\\s\\x0B\\x{85}\\p{Z}]+|[\\s\\x0B\\x{85}\\p{Z}]+$', '', 'g')`,
  ),
  // The engine's concat() takes NULL for an empty text.
  row('concat', [TEXT, TEXT], edm.String, (a, b) => sql`(${a} || ${b})`),
  row('indexof', [TEXT, TEXT], edm.Int32, (text, part) =>
    integer(sql`instr(${text}, ${part}) - 1`),
  ),
  row(
    'substring',
    [TEXT, INTEGER],
    edm.String,
    (text, start) => sql`substr(${text}, ${firstCharacter(text, start)})`,
    [2, 3],
  ),
  row(
    'substring',
    [TEXT, INTEGER, INTEGER],
    edm.String,
    (text, start, count) =>
      sql`substr(${text}, ${firstCharacter(text, start)}, CASE WHEN ${count} < 0 THEN CAST(error(${sql.value(NEGATIVE_LENGTH)}) AS BIGINT) ELSE ${count} END)`,
    [2, 3, 2],
  ),
]

/** The engine counts from one; a negative start counts from the end, and not beyond the first character. */
const firstCharacter = (text: Sql, start: Sql) =>
  sql`CASE WHEN ${start} < 0 THEN greatest(length(${text}) + ${start}, 0) ELSE ${start} END + 1`

const timeRows: readonly FunctionRow[] = [
  row('year', [DAY], edm.Int32, (day) => integer(sql`year(${day})`)),
  row('month', [DAY], edm.Int32, (day) => integer(sql`month(${day})`)),
  row('day', [DAY], edm.Int32, (day) => integer(sql`day(${day})`)),
  row('hour', [CLOCK], edm.Int32, (time) => integer(sql`hour(${time})`)),
  row('minute', [CLOCK], edm.Int32, (time) => integer(sql`minute(${time})`)),
  row('second', [CLOCK], edm.Int32, (time) => integer(sql`second(${time})`)),
  row(
    'fractionalseconds',
    [CLOCK],
    decimalType(6, 6),
    (time) =>
      sql`CAST((microsecond(${time}) % 1000000) * CAST(0.000001 AS DECIMAL(6,6)) AS DECIMAL(6,6))`,
  ),
  row('date', [INSTANT], edm.Date, (time) => sql`CAST(${time} AS DATE)`),
  row('time', [INSTANT], edm.TimeOfDay, (time) => sql`CAST(${time} AS TIME)`),
  // All times are stored and shown in UTC.
  row(
    'totaloffsetminutes',
    [INSTANT],
    edm.Int32,
    (time) => sql`CASE WHEN ${time} IS NOT NULL THEN 0 END`,
  ),
  row(
    'totalseconds',
    [DURATION],
    decimalType(25, 6),
    (duration) =>
      sql`CAST(CAST(epoch_us(${duration}) AS DECIMAL(19,0)) * CAST(0.000001 AS DECIMAL(6,6)) AS DECIMAL(25,6))`,
  ),
  row('mindatetime', [], edm.DateTimeOffset, () => sql`TIMESTAMP '0001-01-01 00:00:00'`),
  row('maxdatetime', [], edm.DateTimeOffset, () => sql`TIMESTAMP '9999-12-31 23:59:59.999999'`),
]

/** Half away from zero, as the engine does it. */
const roundings = [
  ['round', (value: Sql) => sql`round(${value})`],
  ['floor', (value: Sql) => sql`floor(${value})`],
  ['ceiling', (value: Sql) => sql`ceil(${value})`],
] as const

const sameType = (type: EdmType) => type
const withoutFraction = (type: EdmType) =>
  type.scale === 0 ? type : decimalType(type.precision!, 0)

const numberRows = roundings.flatMap(([name, toSql]): readonly FunctionRow[] => [
  row(name, [FLOAT], sameType, toSql),
  row(name, [DECIMAL], withoutFraction, toSql),
  row(name, [INTEGER], sameType, (value) => value),
])

const rowsOfName = new Map<string, FunctionRow[]>()
for (const each of [...textRows, ...timeRows, ...numberRows])
  rowsOfName.set(each.name, [...(rowsOfName.get(each.name) ?? []), each])

/** In any letter case; none when there is no such function. */
export const functionsNamed = (name: string): readonly FunctionRow[] =>
  rowsOfName.get(name.toLowerCase()) ?? []

/** Functions of OData that this service knows and does not serve. */
const UNSERVED: readonly string[] = ['geo.distance', 'geo.intersects', 'geo.length']

export const isUnserved = (name: string) => UNSERVED.includes(name.toLowerCase())

/** Functions that are bound elsewhere: bind-call.ts, bind-collection.ts, bind-isdefined.ts. */
const SPECIAL_FUNCTIONS = [
  'cast',
  'hassubsequence',
  'hassubset',
  'isdefined',
  'isof',
  'matchespattern',
  'now',
] as const

export const functionNames: readonly string[] = [...rowsOfName.keys(), ...SPECIAL_FUNCTIONS]
