// Values and objects as JSON that DuckDB writes. Numbers have exactly the digits of the value.

import { type Sql, sql } from '../../core/sql.ts'
import type { JsonFormat } from '../protocol/negotiate.ts'
import { geoNames } from '../edm/geo.ts'
import type { EdmName, EdmType } from '../edm/types.ts'
import { placeJsonSql } from './geo.ts'

/** A value in a JSON object, where it stands there, and its text, never NULL. Values of one nested object are neighbours. */
export interface Member {
  readonly path: readonly string[]
  readonly text: Sql
  /** The member is left out where its text is NULL, and so is an object around it that has nothing else in it. */
  readonly isOptional?: boolean
  /** Where the object at the first name has nothing in it: whether it is null, and not left out. */
  readonly isNullObject?: boolean | undefined
  /** Where many rows have the member: its text after what precedes it, in parts without NULL together. */
  readonly partsBehind?: (before: string) => readonly Sql[]
}

/** A value as JSON; NULL for NULL. `depth`: collections around it. */
export function jsonTextSql(
  value: Sql,
  type: EdmType,
  format: Pick<JsonFormat, 'ieee754'> = { ieee754: false },
  depth = 0,
): Sql {
  switch (type.kind) {
    case 'primitive': {
      const text = (writeValue[type.name] ?? asDigits)(value, type)
      return format.ieee754 && NEEDS_QUOTES.includes(type.name) ? quoted(text) : text
    }
    case 'complex': {
      const members = type.properties.map(({ name, type: inner }): Member => {
        const part = sql`(${value}).${sql.ident(name)}`
        return { path: [name], text: textSql(part, inner, format, depth) }
      })
      return sql`CASE WHEN ${value} IS NOT NULL THEN ${objectSql('{', members)} END`
    }
    case 'collection': {
      const item = sql.ident(`item ${depth}`)
      const text = textSql(item, type.item, format, depth + 1)
      return sql`concat('[', array_to_string(list_transform(${value}, lambda ${item}: ${text}), ','), ']')`
    }
  }
}

/** The same, `null` for NULL. */
const textSql = (value: Sql, type: EdmType, format: Pick<JsonFormat, 'ieee754'>, depth = 0): Sql =>
  orNull(jsonTextSql(value, type, format, depth))

export const orNull = (text: Sql): Sql => sql`coalesce(${text}, 'null')`

export function objectSql(open: '{' | ',{', members: readonly Member[]): Sql {
  if (members.some(({ isOptional }) => isOptional === true)) return sparseObjectSql(open, members)
  const texts = members.flatMap(({ path, text, partsBehind }, i) => {
    const name = between(members[i - 1]?.path ?? [], path)
    const before = i === 0 ? open + name : name
    return partsBehind?.(before) ?? [sql.value(before), text]
  })
  const end = '}'.repeat(members.at(-1)?.path.length ?? 1)
  return sql`concat(${sql.join([...texts, sql.value(members.length === 0 ? open + end : end)])})`
}

const sparseObjectSql = (open: '{' | ',{', members: readonly Member[]): Sql =>
  sql`concat(${sql.value(open)}, substr(${sparseMembersSql(members, 0)}, 2), '}')`

/** Each member with a comma before it, to be cut off from the first. What is NULL vanishes; `depth`: objects around. */
function sparseMembersSql(members: readonly Member[], depth: number): Sql {
  const groups: Member[][] = []
  for (const member of members) {
    const last = groups.at(-1)
    if (last !== undefined && last[0]!.path[depth] === member.path[depth]) last.push(member)
    else groups.push([member])
  }
  const texts = groups.map((group) => {
    const [{ path, text, isOptional }] = group as [Member]
    const name = `,${JSON.stringify(path[depth])}:`
    if (path.length > depth + 1) {
      const inner = sql`substr(nullif(${sparseMembersSql(group, depth + 1)}, ''), 2)`
      const object = sql`(${sql.value(`${name}{`)} || ${inner} || '}')`
      const isNull = depth === 0 && group.some(({ isNullObject }) => isNullObject === true)
      if (!isNull) return object
      return sql`coalesce(${object}, ${sql.value(`${name}null`)})`
    }
    return isOptional === true
      ? sql`(${sql.value(name)} || ${text})`
      : sql`concat(${sql.value(name)}, ${text})`
  })
  return sql`concat(${sql.join(texts)})`
}

/** What stands between two values: ends of objects, a comma, beginnings of objects, the name. */
function between(left: readonly string[], right: readonly string[]): string {
  const shared = left.findIndex((name, i) => name !== right[i])
  const depth = Math.max(0, shared)
  const ends = '}'.repeat(Math.max(0, left.length - 1 - depth))
  const names = right.slice(depth).map((name) => JSON.stringify(name))
  return `${ends}${left.length === 0 ? '' : ','}${names.join(':{')}:`
}

/** What IEEE754Compatible=true makes strings of: a double may not hold them (JSON Format 4.01, 3.2). */
export const NEEDS_QUOTES: readonly EdmName[] = ['Edm.Decimal', 'Edm.Int64']

export type WriteValue = (value: Sql, type: EdmType) => Sql

export const asDigits = (value: Sql): Sql => sql`CAST(${value} AS VARCHAR)`

export const unlessNull = (value: Sql, text: Sql): Sql =>
  sql`CASE WHEN ${value} IS NOT NULL THEN ${text} END`

const quoted = (value: Sql): Sql => unlessNull(value, sql`concat('"', ${value}, '"')`)

/** JSON has no word for these three, which are strings there (JSON Format 4.01, 7.1). */
export function floatTextSql(value: Sql, type: EdmType, quote: '"' | ''): Sql {
  const [notANumber, infinite, negative] = ['NaN', 'INF', '-INF'].map((word) =>
    sql.value(quote + word + quote),
  )
  // The JSON writer of DuckDB prints a DOUBLE three times as fast as a cast does. It would print a FLOAT with the digits
  // of the nearest DOUBLE.
  const digits = asDigits(type.name === 'Edm.Double' ? sql`to_json(${value})` : value)
  return sql`CASE
  WHEN isfinite(${value}) THEN ${digits}
  WHEN isnan(${value}) THEN ${notANumber!}
  WHEN ${value} > 0 THEN ${infinite!}
  WHEN ${value} IS NOT NULL THEN ${negative!} END`
}

const writeFloat: WriteValue = (value, type) => floatTextSql(value, type, '"')

/** A value inside a list or struct may be beyond the range that clients know: the nearest one is written. */
const writeDate: WriteValue = (value) => sql`CASE
  WHEN ${value} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN concat('"', ${value}, '"')
  WHEN ${value} > DATE '9999-12-31' THEN '"9999-12-31"'
  WHEN ${value} IS NOT NULL THEN '"0001-01-01"' END`

/** With as many digits of the second's fraction as the value has. */
const writeDateTimeOffset: WriteValue = (value) => sql`CASE
  WHEN ${value} BETWEEN TIMESTAMP '0001-01-01 00:00:00' AND TIMESTAMP '9999-12-31 23:59:59.999999'
  THEN concat('"', CAST(${value} AS DATE), 'T', CAST(${value} AS TIME), 'Z"')
  WHEN ${value} > TIMESTAMP '9999-12-31 23:59:59.999999' THEN '"9999-12-31T23:59:59.999999Z"'
  WHEN ${value} IS NOT NULL THEN '"0001-01-01T00:00:00Z"' END`

/** DuckDB has a midnight at the end of the day, OData has not. */
const writeTimeOfDay: WriteValue = (value) => {
  const last = sql`TIME '23:59:59.999999'`
  return quoted(sql`CASE WHEN ${value} > ${last} THEN ${last} ELSE ${value} END`)
}

/** DuckDB writes no zero before the point of a type that has no digit there; JSON wants one. */
const writeDecimal: WriteValue = (value, { precision, scale }) => {
  const digits = asDigits(value)
  return precision === scale ? sql`replace(${digits}, '.', '0.')` : digits
}

/** Base64 of RFC 4648, section 5, without padding. */
const writeBinary: WriteValue = (value) =>
  quoted(sql`rtrim(translate(to_base64(${value}), '+/', '-_'), '=')`)

/** Seconds alone, which every reader of xs:dayTimeDuration understands; a month counts 30 days. */
const writeDuration: WriteValue = (value) => {
  const microseconds = sql`CAST(epoch_us(${value}) AS DECIMAL(19,0))`
  const sign = sql`CASE WHEN epoch_us(${value}) < 0 THEN '-' END`
  const seconds = asDigits(sql`abs(${microseconds}) * 0.000001`)
  return sql`CASE WHEN ${value} IS NOT NULL
    THEN concat('"', ${sign}, 'PT', rtrim(rtrim(${seconds}, '0'), '.'), 'S"') END`
}

/** Others are digits. */
const writeValue: Partial<Record<EdmName, WriteValue>> = {
  'Edm.Binary': writeBinary,
  'Edm.Boolean': (value) => sql`CASE WHEN ${value} THEN 'true' WHEN NOT ${value} THEN 'false' END`,
  'Edm.Date': writeDate,
  'Edm.DateTimeOffset': writeDateTimeOffset,
  'Edm.Decimal': writeDecimal,
  'Edm.Double': writeFloat,
  'Edm.Duration': writeDuration,
  'Edm.Guid': quoted,
  'Edm.Single': writeFloat,
  'Edm.String': (value) => sql`CAST(to_json(${value}) AS VARCHAR)`,
  'Edm.TimeOfDay': writeTimeOfDay,
  ...Object.fromEntries(geoNames.map((name) => [name, placeJsonSql])),
}
