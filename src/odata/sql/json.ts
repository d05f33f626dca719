// JSON in two parts: the rows, which the engine itself writes as text, and the envelope around them.
//
// A row leaves the engine as `,{"name":value,…}`: the comma of the first one is dropped by whoever puts rows together.
// Numbers have exactly the digits of the stored value. Every property is written, NULL as null, but for those that rows of
// $apply may lack.

import { type Sql, sql } from '../../core/sql.ts'
import type { OutputProperty } from '../bind/bound.ts'
import type { KeysetWindow } from './keyset.ts'
import type { JsonFormat } from '../protocol/negotiate.ts'
import { markName } from './query.ts'
import type { EdmName, EdmType, PrimitiveType } from '../edm/types.ts'

export interface RowTextsOptions {
  readonly keyset?: KeysetWindow | null
  /** Whether there are so many rows that the time to write them counts, and not the time to plan that. */
  readonly areMany?: boolean
}

/**
 * One text per row of `rows`, whose columns are named as in `output` and have the engine types of its EdmTypes.
 * The LIMIT is inside `rows`: writing first and cutting then would write every row of the table. With a keyset, the row
 * behind the page is its position.
 */
export function rowTextsSql(
  rows: Sql,
  output: readonly OutputProperty[],
  format: JsonFormat,
  { keyset = null, areMany = false }: RowTextsOptions = {},
): Sql {
  const text = objectSql(',{', propertyMembers('page', output, format, areMany))
  const placed = keyset === null ? text : keyset.placed(text, sql`row_number() OVER ()`)
  return sql`SELECT ${placed} FROM (${rows}) AS page`
}

/** A value in a JSON object, where it stands there, and its text, never NULL. Values of one nested object are neighbours. */
export interface Member {
  readonly path: readonly string[]
  readonly text: Sql
  /** The member is left out where its text is NULL, and so is an object around it that has nothing else in it. */
  readonly isOptional?: boolean
  /** Where many rows have the member: its text behind what stands before it, in parts without NULL together. */
  readonly partsBehind?: (before: string) => readonly Sql[]
}

/** The properties of a row of `table`, which has columns of their names. */
export function propertyMembers(
  table: string,
  output: readonly OutputProperty[],
  format: JsonFormat,
  areMany = false,
): readonly Member[] {
  return output.map(({ name, type, value: shown, path = [name], mark }) => {
    const value = sql.ident(table, name)
    const isStored = shown.kind === 'property' && shown.property.isCalculated !== true
    const isOptional = format.omitsNulls === true && path.length === 1
    const stored = isStored && type.kind === 'primitive' ? writeStored[type.name] : undefined
    const text =
      stored === undefined
        ? writtenTextSql(value, type, format, isOptional)
        : storedTextSql(value, stored(value, type), isOptional)
    if (mark === undefined && areMany && isStored && type.kind === 'primitive')
      return { path, text, isOptional, partsBehind: storedParts(value, type, format) }
    if (mark === undefined) return { path, text, isOptional }
    const marked = sql`CASE WHEN ${sql.ident(table, markName(name))} THEN ${text} END`
    return { path, text: marked, isOptional: true }
  })
}

function writtenTextSql(value: Sql, type: EdmType, format: JsonFormat, isOptional: boolean): Sql {
  const nullable = jsonTextSql(value, type, format)
  return isOptional ? nullable : orNull(nullable)
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
      const text = writeValue[type.name](value, type)
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

const orNull = (text: Sql): Sql => sql`coalesce(${text}, 'null')`

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
      return sql`(${sql.value(`${name}{`)} || ${inner} || '}')`
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
const NEEDS_QUOTES: readonly EdmName[] = ['Edm.Decimal', 'Edm.Int64']

type WriteValue = (value: Sql, type: EdmType) => Sql

const asDigits = (value: Sql): Sql => sql`CAST(${value} AS VARCHAR)`
const quoted = (value: Sql): Sql =>
  sql`CASE WHEN ${value} IS NOT NULL THEN concat('"', ${value}, '"') END`

/** JSON has no word for these three (JSON Format 4.01, 7.1). */
const finite = (value: Sql, digits: Sql): Sql => sql`CASE
  WHEN isfinite(${value}) THEN ${digits}
  WHEN isnan(${value}) THEN '"NaN"'
  WHEN ${value} > 0 THEN '"INF"'
  WHEN ${value} IS NOT NULL THEN '"-INF"' END`

/** What a calculation has led beyond the range that clients know is written as its end, as it is for stored values. */
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

/** The engine has a midnight at the end of the day, OData has not. */
const writeTimeOfDay: WriteValue = (value) => {
  const last = sql`TIME '23:59:59.999999'`
  return quoted(sql`CASE WHEN ${value} > ${last} THEN ${last} ELSE ${value} END`)
}

/** The engine writes no zero before the point of a type that has no digit there; JSON wants one. */
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

const writeValue: Readonly<Record<EdmName, WriteValue>> = {
  'Edm.Binary': writeBinary,
  'Edm.Boolean': (value) => sql`CASE WHEN ${value} THEN 'true' WHEN NOT ${value} THEN 'false' END`,
  'Edm.Byte': asDigits,
  'Edm.Date': writeDate,
  'Edm.DateTimeOffset': writeDateTimeOffset,
  'Edm.Decimal': writeDecimal,
  // The JSON writer of the engine prints a DOUBLE three times as fast as a cast does.
  'Edm.Double': (value) => finite(value, sql`CAST(to_json(${value}) AS VARCHAR)`),
  'Edm.Duration': writeDuration,
  'Edm.Guid': quoted,
  'Edm.Int16': asDigits,
  'Edm.Int32': asDigits,
  'Edm.Int64': asDigits,
  'Edm.SByte': asDigits,
  // It would print a FLOAT with the digits of the nearest DOUBLE.
  'Edm.Single': (value) => finite(value, asDigits(value)),
  'Edm.String': (value) => sql`CAST(to_json(${value}) AS VARCHAR)`,
  'Edm.TimeOfDay': writeTimeOfDay,
}

/**
 * Of values that are not NULL. Columns have no values beyond those ranges, or are read without them
 * (temporal-range.ts). The engine need not plan for what cannot be: of a lookup it would take a fifth of the time.
 */
const writeStored: Partial<Record<EdmName, WriteValue>> = {
  'Edm.Date': (value) => sql`concat('"', ${value}, '"')`,
  'Edm.DateTimeOffset': (value) =>
    sql`concat('"', CAST(${value} AS DATE), 'T', CAST(${value} AS TIME), 'Z"')`,
  'Edm.TimeOfDay': (value) => sql`concat('"', ${value}, '"')`,
}

/** Where no value of many rows is NULL the engine takes the text as it is; coalesce would copy it. */
const storedTextSql = (value: Sql, text: Sql, isOptional: boolean): Sql =>
  sql`CASE WHEN ${value} IS NULL THEN ${isOptional ? sql`NULL` : sql`'null'`} ELSE ${text} END`

/**
 * A text of its own for each value, to be copied into that of the row, takes longer than all else of writing it. So
 * what stands around a value are parts of the row's text too: the engine has them once for many rows without NULL.
 */
function storedParts(value: Sql, type: PrimitiveType, format: JsonFormat) {
  const isNull = sql`${value} IS NULL`
  const open = (before: string) =>
    sql`CASE WHEN ${isNull} THEN ${sql.value(`${before}null`)} ELSE ${sql.value(`${before}"`)} END`
  const unlessNull = (text: Sql) => sql`CASE WHEN NOT ${isNull} THEN ${text} END`
  return (before: string): readonly Sql[] => {
    switch (type.name) {
      case 'Edm.Boolean': {
        const [none, yes, no] = ['null', 'true', 'false'].map((word) => sql.value(before + word))
        return [sql`CASE WHEN ${isNull} THEN ${none!} WHEN ${value} THEN ${yes!} ELSE ${no!} END`]
      }
      case 'Edm.Date':
      case 'Edm.TimeOfDay':
        return [open(before), asDigits(value), unlessNull(sql`'"'`)]
      case 'Edm.DateTimeOffset': {
        const [date, time] = [sql`CAST(${value} AS DATE)`, sql`CAST(${value} AS TIME)`]
        return [open(before), date, unlessNull(sql`'T'`), time, unlessNull(sql`'Z"'`)]
      }
      default: {
        const text = jsonTextSql(value, type, format)
        return [sql.value(before), storedTextSql(value, text, false)]
      }
    }
  }
}

export interface CollectionEnvelope {
  readonly contextUrl: string
  /** Decimal digits; null when the request has no $count. */
  readonly count: string | null
}

/** Everything before the first row. */
export function collectionHead(
  { contextUrl, count }: CollectionEnvelope,
  { metadata, ieee754 }: JsonFormat,
): string {
  const context = metadata === 'none' ? '' : `"@odata.context":${JSON.stringify(contextUrl)},`
  const total = count === null ? '' : `"@odata.count":${ieee754 ? `"${count}"` : count},`
  return `{${context}${total}"value":[`
}

/** Everything after the last row. */
export function collectionTail(link: Link | null): string {
  return link === null ? ']}' : `],"@odata.${link.name}":${JSON.stringify(link.url)}}`
}

export interface Link {
  readonly name: 'nextLink' | 'deltaLink'
  readonly url: string
}
