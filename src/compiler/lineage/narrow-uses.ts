// The SELECT of a model, reading only those rows of its inputs that can be in a part of the result. It gives all rows of
// the part, and maybe some others.

import type { AddressUse, Addresses, Trail } from '../../core/addresses.ts'
import { type ModelName, splitModelName } from '../../core/names.ts'
import { type ModelBody, type Sql, sql } from '../../core/sql.ts'
import { describe } from '../../duckdb/catalog.ts'
import type { Connection } from '../../duckdb/database.ts'
import { ifRefused } from '../../duckdb/errors.ts'

/** Which rows of an input have part in rows of the result. */
export interface RowFilter {
  readonly condition: Sql
  /**
   * A join with the values, each of which is there once: the engine cuts the rows of a table by it as it reads them, which
   * it does not by an OR. null: there is none.
   */
  readonly join: Sql | null
  /** What is true of the other rows that are meant, those without a value; null: there are none. */
  readonly isNull: Sql | null
}

/** `filter`: for a trail that leads to the column of that number; null: none. */
export async function narrowedUses(
  connection: Connection,
  body: ModelBody,
  { uses, columns }: Addresses,
  filter: (column: number, trail: Trail) => RowFilter | null,
): Promise<ModelBody> {
  const found = new Map<
    string,
    { readonly use: AddressUse; readonly filters: readonly RowFilter[] }
  >()
  for (const [i, use] of uses.entries()) {
    if (use.span === null) continue
    const filters = columns.flatMap((trails, column) =>
      trails.filter((trail) => trail.use === i).flatMap((trail) => filter(column, trail) ?? []),
    )
    const place = String(use.span.start)
    // What stands in the query once and is used twice is read for both.
    const again = found.get(place)
    found.set(place, {
      use,
      filters: again === undefined ? filters : either(again.filters, filters),
    })
  }
  let narrowed = body
  for (const { use, filters } of found.values()) {
    if (filters.length === 0) continue
    const rows = rowsOf(sql.relation(use.name), filters)
    const alias = sql.ident(splitModelName(use.name as ModelName).table)
    const insert = { ...use.span!, sql: use.alias === '' ? sql`${rows} AS ${alias}` : rows }
    const tried = narrowed.with(insert)
    // Where columns name the schema too, there is no such table any more.
    const works = describe(connection, sql`FROM (${sql.body(tried)}\n)`)
    if ((await ifRefused(works, () => null)) !== null) narrowed = tried
  }
  return narrowed
}

/** In parentheses. */
export function rowsOf(relation: Sql, filters: readonly RowFilter[]): Sql {
  const open = filters.find(({ join, isNull }) => join !== null && isNull !== null)
  if (open === undefined) return sql`(${joined(relation, filters)})`
  const others = filters.filter((one) => one !== open)
  const nulls = { condition: open.isNull!, join: null, isNull: null }
  const [values, rest] = [
    [{ ...open, isNull: null }, ...others],
    [nulls, ...others],
  ]
  return sql`(${joined(relation, values)} UNION ALL ${joined(relation, rest)})`
}

function joined(relation: Sql, filters: readonly RowFilter[]): Sql {
  const isJoined = ({ join, isNull }: RowFilter) => join !== null && isNull === null
  const joins = filters.filter(isJoined).flatMap(({ join }) => join ?? [])
  const conditions = filters.filter((one) => !isJoined(one)).map(({ condition }) => condition)
  const where = conditions.length === 0 ? sql.empty : sql` WHERE ${sql.all(conditions)}`
  if (joins.length === 0) return sql`FROM ${relation}${where}`
  return sql`SELECT _eider_row.* FROM ${relation} AS _eider_row${sql.join(joins, sql.empty)}${where}`
}

const either = (one: readonly RowFilter[], other: readonly RowFilter[]): readonly RowFilter[] =>
  one.length === 0 || other.length === 0
    ? []
    : [{ condition: sql`((${allOf(one)}) OR (${allOf(other)}))`, join: null, isNull: null }]

const allOf = (filters: readonly RowFilter[]): Sql =>
  sql.all(filters.map(({ condition }) => condition))
