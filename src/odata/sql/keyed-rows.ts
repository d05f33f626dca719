// All rows of a set by their keys: what a lookup of each would be answered with.

import { type Sql, sql } from '../../core/sql.ts'
import type { BoundQuery } from '../bind/bound.ts'
import type { Property } from '../edm/model.ts'
import { VARCHAR } from './engine-types.ts'
import { propertyMembers } from './json.ts'
import { objectSql } from './json-value.ts'
import { rowsSql } from './query.ts'

/**
 * One text without line breaks for each row whose key has no NULL, in stored order: the parts of its key as a JSON array of
 * strings, `["7","a"]`, and then the text that entityTextsSql() gives for the row. `lookup` is a query of one row by
 * its key.
 */
export function keyedRowsSql(lookup: BoundQuery, key: readonly Property[]): Sql {
  const rows = rowsSql({ ...lookup, filter: null, top: null }, { offset: 0, limit: null })
  const parts = key.map(({ name }) => sql.ident('page', name))
  const texts = parts.map((part) => sql`CAST(${part} AS ${sql.type(VARCHAR)})`)
  const members = propertyMembers('page', lookup.output, { metadata: 'none', ieee754: false }, true)
  const keyText = sql`CAST(to_json([${sql.join(texts)}]) AS ${sql.type(VARCHAR)})`
  const isWhole = sql.join(
    parts.map((part) => sql`${part} IS NOT NULL`),
    sql` AND `,
  )
  return sql`SELECT concat(${keyText}, ${objectSql(',{', members)}) FROM (${rows}) AS page WHERE ${isWhole}`
}
