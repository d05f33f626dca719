// What has changed in a set between two published states, as one SELECT (Protocol 4.01, 11.3; JSON Format 4.01, 15).
//
// Rows of both states meet by their key. A row that passes the filter now is returned when it did not before, or when one
// of the requested properties differs; one that passed before and does not now is removed: `deleted` when its key is
// gone, `changed` when the filter leaves it out.

import type { TableName } from '../../core/snapshot.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { BoundQuery } from '../bind/bound-request.ts'
import { BIGINT, VARCHAR } from './engine-types.ts'
import { entityIdOutput } from '../bind/control-information.ts'
import { conditionSql, valueSql } from './expression.ts'
import type { KeysetWindow } from './keyset.ts'
import type { JsonFormat, ODataVersion } from '../protocol/negotiate.ts'
import { relationSql } from './relation.ts'
import { tableBeforeSql } from './visible-rows.ts'
import { columnsSql } from './query.ts'
import { propertyMembers } from './json.ts'
import type { Keyset } from '../bind/keyset.ts'
import { jsonTextSql, objectSql } from './json-value.ts'

const NOW = sql.ident('now')
const BEFORE = sql.ident('before')
const ID = sql.ident('id of it')
const PASSES = sql.ident('passes now')
const PASSED = sql.ident('passed before')

export interface DeltaQuery {
  /** Its output is what is written of a row that is there. */
  readonly query: BoundQuery
  /** The rows of the earlier state. */
  readonly tableBefore: TableName
  readonly keyset: Keyset
  readonly window: KeysetWindow
  /** Changes before the page, where no position says what it begins with. */
  readonly offset: number
  readonly version: ODataVersion
  /** The context URL of a removed row in 4.0. */
  readonly removedContext: string
}

/** One text for each change, in the order of the key; of the row after `limit` its position. */
export function deltaTextsSql(delta: DeltaQuery, limit: number, format: JsonFormat): Sql {
  const { query, keyset, window, offset } = delta
  const places = keyset.map((_, i) => sql.ident(`at ${i}`))
  const columns = [
    ...query.output.map(({ name }) => sql`${NOW}.${sql.ident(name)} AS ${sql.ident(name)}`),
    ...[...places, ID].map((name) => sql`coalesce(${NOW}.${name}, ${BEFORE}.${name}) AS ${name}`),
    sql`coalesce(${NOW}.${PASSES}, FALSE) AS ${PASSES}`,
    sql`${NOW}.${ID} IS NULL AS ${sql.ident('is gone')}`,
  ]
  const page = sql`SELECT ${sql.join(columns)} ${changedSql(delta)}
    ORDER BY ${sql.join(places)} LIMIT ${sql.value(limit + 1, BIGINT)} OFFSET ${sql.value(offset, BIGINT)}`
  const there = objectSql(',{', propertyMembers('page', query.output, format))
  const text = sql`CASE WHEN page.${PASSES} THEN ${there} ELSE ${removedText(delta, format)} END`
  return sql`SELECT ${window.placed(text, sql`row_number() OVER ()`)} FROM (${page}) AS page`
}

export const deltaCountSql = (delta: DeltaQuery): Sql =>
  sql`SELECT CAST(count(*) AS VARCHAR) ${changedSql(delta)}`

function changedSql({ query, keyset, window, tableBefore }: DeltaQuery): Sql {
  const { filter, output, row, relation, set } = query
  const condition = filter === null ? sql`TRUE` : sql`coalesce(${conditionSql(filter)}, FALSE)`
  const columns = sql.join([
    columnsSql(query),
    ...window.columns,
    sql`${valueSql(entityIdOutput(row).value)} AS ${ID}`,
  ])
  const alias = sql.ident(row.alias)
  const begin = window.from ?? sql`TRUE`
  const now = sql`SELECT ${columns}, ${condition} AS ${PASSES} FROM ${relationSql(relation)} AS ${alias} WHERE ${begin}`
  const before = sql`SELECT ${columns}, TRUE AS ${PASSED} FROM ${tableBeforeSql(set, tableBefore)} AS ${alias} WHERE ${begin} AND ${condition}`
  const sameKey = keyset.map(
    (_, i) => sql`${NOW}.${sql.ident(`at ${i}`)} = ${BEFORE}.${sql.ident(`at ${i}`)}`,
  )
  const differs = output.map(
    ({ name }) => sql`${NOW}.${sql.ident(name)} IS DISTINCT FROM ${BEFORE}.${sql.ident(name)}`,
  )
  const isNewOrOther = sql.any([sql`${BEFORE}.${PASSED} IS NULL`, ...differs])
  return sql`FROM (${now}) AS ${NOW} FULL JOIN (${before}) AS ${BEFORE} ON ${sql.all(sameKey)}
    WHERE CASE WHEN coalesce(${NOW}.${PASSES}, FALSE) THEN ${isNewOrOther} ELSE ${BEFORE}.${PASSED} IS NOT NULL END`
}

/** 4.0 has a separate object for a removed row; 4.01 marks it, and identifies it by its key as well. */
function removedText({ keyset, version, removedContext }: DeltaQuery, format: JsonFormat): Sql {
  const reason = sql`CASE WHEN page.${sql.ident('is gone')} THEN 'deleted' ELSE 'changed' END`
  const id = sql`CAST(to_json(page.${ID}) AS VARCHAR)`
  const text = (value: string) => sql.value(value, VARCHAR)
  if (version === '4.0')
    return sql`concat(${text(`,{"@odata.context":${JSON.stringify(removedContext)},"id":`)}, ${id}, ',"reason":"', ${reason}, '"}')`
  const key = keyset.flatMap(({ value: { property } }, i) => {
    const written = jsonTextSql(sql`page.${sql.ident(`at ${i}`)}`, property.type)
    const isNumber = format.ieee754 && /^Edm\.(Int64|Decimal)$/.test(property.type.name)
    return [
      text(`,${JSON.stringify(property.name)}:`),
      isNumber ? sql`concat('"', ${written}, '"')` : written,
    ]
  })
  return sql`concat(',{"@removed":{"reason":"', ${reason}, '"},"@odata.id":', ${id}, ${sql.join(key)}, '}')`
}
