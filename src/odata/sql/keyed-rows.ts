// All rows of a set by their keys: what a lookup of each would be answered with.

import { type Sql, sql } from '../../core/sql.ts'
import { propertyOf } from '../bind/bound.ts'
import type { BoundQuery } from '../bind/bound-request.ts'
import type { EntitySet } from '../edm/model.ts'
import { VARCHAR } from './engine-types.ts'
import { propertyMembers } from './json.ts'
import { objectSql } from './json-value.ts'
import { rowsSql } from './query.ts'

/**
 * One text without line breaks for each row whose key has no NULL, in stored order: the parts of its key as a JSON array of
 * strings, `["7","a"]`, and then the text that entityTextsSql() gives for the row.
 */
export function keyedRowsSql(set: EntitySet): Sql {
  const query = allRowsOf(set)
  const rows = rowsSql(query, { offset: 0, limit: null })
  const parts = set.type.key.map(({ name }) => sql.ident('page', name))
  const texts = parts.map((part) => sql`CAST(${part} AS ${sql.type(VARCHAR)})`)
  const members = propertyMembers('page', query.output, { metadata: 'none', ieee754: false }, true)
  const keyText = sql`CAST(to_json([${sql.join(texts)}]) AS ${sql.type(VARCHAR)})`
  const isWhole = sql.all(parts.map((part) => sql`${part} IS NOT NULL`))
  return sql`SELECT concat(${keyText}, ${objectSql(',{', members)}) FROM (${rows}) AS page WHERE ${isWhole}`
}

/** With the output of a request that selects nothing. */
function allRowsOf(set: EntitySet): BoundQuery {
  const row = { alias: 'it', set }
  return {
    set,
    relation: { kind: 'set', set },
    row,
    output: set.type.properties.map((property) => ({
      name: property.name,
      type: property.type,
      value: propertyOf(row, property),
    })),
    expand: [],
    filter: null,
    order: [],
    withCount: false,
    skip: 0,
    top: null,
    contextFragment: set.name,
  }
}
