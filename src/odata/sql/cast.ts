// Casts as SQL. What has no counterpart in the other type becomes NULL, where DuckDB would fail.

import { columnType } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { inRangeSql, hasRange } from './temporal-range.ts'
import type { EdmType } from '../edm/types.ts'
import { jsonTextSql } from './json-value.ts'
import { once, onceIfLong } from './once.ts'

type ToSql = (value: Sql) => Sql

/** Only between types that the specification knows a cast of (isCastable in bind/expression/cast.ts). */
export function castToSql(from: EdmType, to: EdmType): ToSql {
  if (from.kind === 'collection' && to.kind === 'collection') return itemsToSql(from.item, to.item)
  if (to.name === 'Edm.String') return textOf(from)
  if (to.name === 'Edm.Byte') return byteOf(to)
  return from.name === 'Edm.String' ? ofText(to) : tryCast(to)
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
    default:
      return (value) => sql`CAST(${value} AS VARCHAR)`
  }
}

function ofText(to: EdmType): ToSql {
  switch (to.name) {
    case 'Edm.Binary':
      return once(bytesOf)
    case 'Edm.Duration':
      return once(durationOf)
    case 'Edm.DateTimeOffset':
      // Without an offset it is in UTC.
      return onceIfLong((text) =>
        inRangeSql(sql`CAST(TRY_CAST(${text} AS ${sql.type(TIMESTAMPTZ)}) AS TIMESTAMP)`, to),
      )
    default: {
      const toSql = tryCast(to)
      return hasRange(to) ? onceIfLong((text) => inRangeSql(toSql(text), to)) : toSql
    }
  }
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
