// The columns of an events model as the engine reads them out of an event, and as they come into the table.

import type { EventsModel } from '../core/model.ts'
import { type Column, EXACT_MEMBER, exactColumns, isReceivedAt } from '../core/relation.ts'
import { type Sql, sql } from '../core/sql.ts'

/** What is read of an event. EXACT_MEMBER is read as JSON, which takes whatever somebody may have sent. */
export const structOf = (columns: readonly Column[]): Sql => struct(membersOf(columns))

/**
 * The event `e` as structOf() says, NULL where a value does not fit. TRY_CAST throws for what a MAP cannot hold, so each
 * one is read apart: TRY asks again event by event, and then knows of no column.
 */
export function typedOf(columns: readonly Column[]): Sql {
  const all = membersOf(columns)
  const isMap = columns.map(({ type }) => /\bMAP\b/i.test(type))
  const maps = all.filter((_, i) => isMap[i] === true)
  const others = all.filter((_, i) => isMap[i] !== true)
  const parts = maps.map((member) => sql`TRY(TRY_CAST(e AS ${struct([member])}))`)
  if (others.length > 0) parts.unshift(sql`TRY_CAST(e AS ${struct(others)})`)
  return sql`struct_concat(${sql.join(parts)})`
}

function membersOf(columns: readonly Column[]): readonly Sql[] {
  const members = columns.map((column) => sql`${sql.ident(column.name)} ${readAs(column)}`)
  return exactColumns(columns).length === 0
    ? members
    : [...members, sql`${sql.ident(EXACT_MEMBER)} JSON`]
}

const struct = (members: readonly Sql[]) => sql`STRUCT(${sql.join(members)})`

/** The reader of JSON has no values of these types: they are read as text and cast. */
const isCast = ({ type }: Column) => /\b(BIT|BIGNUM)\b/i.test(type)

const readAs = (column: Column) => (isCast(column) ? sql`VARCHAR` : sql.type(column.type))

export function fields(model: EventsModel, struct: Sql, cast: Sql): Sql {
  const exact = new Set(exactColumns(model.columns))
  return sql.join(
    model.columns.map((column) => {
      const given = exact.has(column) ? exactField(struct, column) : field(struct, column, cast)
      const value = isReceivedAt(column) ? sql`coalesce(${given}, CAST(t AS TIMESTAMPTZ))` : given
      return sql`${value} AS ${sql.ident(column.name)}`
    }),
  )
}

/** A member of `struct`; with `cast` in the type of its column, also where that is not what was read. */
export function field(struct: Sql, column: Column, cast: Sql | null = null): Sql {
  const member = sql`struct_extract(${struct}, ${sql.value(column.name)})`
  if (cast === null || !isCast(column)) return member
  return sql`${cast}(${member} AS ${sql.type(column.type)})`
}

/** The text of EXACT_MEMBER where the engine prints it as it has printed the value itself. Nothing in it throws. */
function exactField(struct: Sql, column: Column): Sql {
  const given = field(struct, column)
  const member = sql`struct_extract(${struct}, ${sql.value(EXACT_MEMBER)})`
  const texts = sql`TRY_CAST(${member} AS MAP(VARCHAR, VARCHAR))`
  const text = sql`TRY_CAST(map_extract_value(${texts}, ${sql.value(column.name)}) AS JSON)`
  return sql`CASE WHEN ${member} IS NULL THEN ${given}
    WHEN json_extract(${text}, '$')::VARCHAR = ${given}::VARCHAR THEN ${text} ELSE ${given} END`
}

/** A missing received_at is filled. */
export const isRequired = (column: Column) => !column.nullable && !isReceivedAt(column)

export const isNested = ({ type }: Column) => /^(STRUCT|MAP|UNION)\b|\]$/i.test(type)
