// Rows as JSON, which DuckDB itself writes as text.
//
// A row leaves DuckDB as `,{"name":value,…}`: the comma of the first one is dropped when rows are joined.
// Numbers have exactly the digits of the stored value. Every property is written, NULL as null, but for those that rows of
// $apply may lack.

import { type Sql, sql } from '../../core/sql.ts'
import type { Expression } from '../bind/bound.ts'
import type { OutputProperty } from '../bind/bound-request.ts'
import type { KeysetWindow } from './keyset.ts'
import type { JsonFormat } from '../protocol/negotiate.ts'
import { markName } from './query.ts'
import type { EdmName, EdmType, PrimitiveType } from '../edm/types.ts'
import {
  asDigits,
  jsonTextSql,
  type Member,
  objectSql,
  orNull,
  unlessNull,
  type WriteValue,
} from './json-value.ts'

interface RowTextsOptions {
  readonly keyset?: KeysetWindow | null
  /** Whether there are so many rows that the time to write them counts, and not the time to plan that. */
  readonly areMany?: boolean
}

/**
 * One text per row of `rows`, whose columns are named as in `output` and have the DuckDB types of its EdmTypes.
 * The LIMIT is inside `rows`: writing first and cutting then would write every row of the table. With a keyset, the row
 * after the page is its position.
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

/** The properties of a row of `table`, which has columns of their names. */
export function propertyMembers(
  table: string,
  output: readonly OutputProperty[],
  format: JsonFormat,
  areMany = false,
): readonly Member[] {
  return output.map(({ name, type, value: shown, path = [name], mark, isNullObject }) => {
    const value = sql.ident(table, name)
    const isOfColumn = isStored(shown)
    const isOptional = format.omitsNulls === true && path.length === 1
    const stored = isOfColumn && type.kind === 'primitive' ? writeStored[type.name] : undefined
    const text =
      stored === undefined
        ? writtenTextSql(value, type, format, isOptional)
        : storedTextSql(value, stored(value, type), isOptional)
    if (mark === undefined && areMany && isOfColumn && type.kind === 'primitive')
      return { path, text, isOptional, partsBehind: storedParts(value, type, format) }
    if (mark === undefined) return { path, text, isOptional }
    const marked = sql`CASE WHEN ${sql.ident(table, markName(name))} THEN ${text} END`
    return { path, text: marked, isOptional: true, isNullObject }
  })
}

/** Whether it is that of a column. */
export const isStored = (value: Expression): boolean =>
  value.kind === 'property' && value.property.isCalculated !== true

function writtenTextSql(value: Sql, type: EdmType, format: JsonFormat, isOptional: boolean): Sql {
  const nullable = jsonTextSql(value, type, format)
  return isOptional ? nullable : orNull(nullable)
}

/**
 * Writers of values that are not NULL. Columns have no values beyond those ranges, or are read without them
 * (temporal-range.ts). DuckDB need not plan for what cannot be: that would take a fifth of the time of a lookup.
 */
const writeStored: Partial<Record<EdmName, WriteValue>> = {
  'Edm.Date': (value) => sql`concat('"', ${value}, '"')`,
  'Edm.DateTimeOffset': (value) =>
    sql`concat('"', CAST(${value} AS DATE), 'T', CAST(${value} AS TIME), 'Z"')`,
  'Edm.TimeOfDay': (value) => sql`concat('"', ${value}, '"')`,
}

/** Where no value of many rows is NULL DuckDB takes the text as it is; coalesce would copy it. */
const storedTextSql = (value: Sql, text: Sql, isOptional: boolean): Sql =>
  sql`CASE WHEN ${value} IS NULL THEN ${isOptional ? sql`NULL` : sql`'null'`} ELSE ${text} END`

/**
 * A separate text for each value, to be copied into that of the row, takes longer than all else of writing it. So
 * what stands around a value are parts of the row's text too: DuckDB has them once for many rows without NULL.
 */
function storedParts(value: Sql, type: PrimitiveType, format: JsonFormat) {
  const isNull = sql`${value} IS NULL`
  const open = (before: string) =>
    sql`CASE WHEN ${isNull} THEN ${sql.value(`${before}null`)} ELSE ${sql.value(`${before}"`)} END`
  return (before: string): readonly Sql[] => {
    switch (type.name) {
      case 'Edm.Boolean': {
        const [none, yes, no] = ['null', 'true', 'false'].map((word) => sql.value(before + word))
        return [sql`CASE WHEN ${isNull} THEN ${none!} WHEN ${value} THEN ${yes!} ELSE ${no!} END`]
      }
      case 'Edm.Date':
      case 'Edm.TimeOfDay':
        return [open(before), asDigits(value), unlessNull(value, sql`'"'`)]
      case 'Edm.DateTimeOffset': {
        const [date, time] = [sql`CAST(${value} AS DATE)`, sql`CAST(${value} AS TIME)`]
        return [open(before), date, unlessNull(value, sql`'T'`), time, unlessNull(value, sql`'Z"'`)]
      }
      default: {
        const text = jsonTextSql(value, type, format)
        return [sql.value(before), storedTextSql(value, text, false)]
      }
    }
  }
}
