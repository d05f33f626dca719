// The columns of an events model as DuckDB reads them out of the lines of segments (buffer/segment.ts), and as they come
// into the table.

import {
  exactKey,
  EVENT_TEXT,
  LINE_COLUMNS,
  LINE_START,
  type LineColumn,
} from '../../buffer/segment.ts'
import type { EventsModel } from '../../core/model.ts'
import { sameName } from '../../core/names.ts'
import { type Column, type ColumnType, columnType, isReceivedAt } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { withText } from '../../core/type-syntax.ts'
import { type Claim, locationOf } from '../../buffer/claim-source.ts'
import { limits } from '../../core/limits.ts'

/** A column of an events model with the names that it had: events from then give its value under one of these. */
interface ReadColumn extends Column {
  readonly former: readonly string[]
}

export const readColumns = ({ columns, renames }: EventsModel): readonly ReadColumn[] =>
  columns.map((column) => {
    const own = renames.filter(({ to }) => sameName(to, column.name))
    return { ...column, former: own.map(({ from }) => from) }
  })

/** Each name under which a value is read. */
export const withFormer = (columns: readonly ReadColumn[]): readonly Column[] =>
  columns.flatMap(underEachName)

const underEachName = ({ former, ...column }: ReadColumn): readonly Column[] => [
  column,
  ...former.map((name) => ({ ...column, name })),
]

const structOf = (columns: readonly ReadColumn[]): Sql => struct(membersOf(withFormer(columns)))

/**
 * The event `e` as structOf() says, NULL where a value does not fit. TRY_CAST throws for what a MAP cannot hold, so each
 * one is read apart: TRY asks again event by event, and then knows of no column.
 */
export function typedOf(model: EventsModel): Sql {
  const columns = withFormer(readColumns(model))
  const all = membersOf(columns)
  const isMap = columns.map(({ type }) => /\bMAP\b/i.test(type))
  const maps = all.filter((_, i) => isMap[i] === true)
  const others = all.filter((_, i) => isMap[i] !== true)
  const parts = maps.map((member) => sql`TRY(TRY_CAST(e AS ${struct([member])}))`)
  if (others.length > 0) parts.unshift(sql`TRY_CAST(e AS ${struct(others)})`)
  return sql`struct_concat(${sql.join(parts)})`
}

const membersOf = (columns: readonly Column[]): readonly Sql[] =>
  columns.map(({ name, type }) => sql`${sql.ident(name)} ${sql.type(readAs(type))}`)

const struct = (members: readonly Sql[]) => sql`STRUCT(${sql.join(members)})`

const isUnread = (scalar: string) => scalar === 'BIT' || scalar === 'BIGNUM'

/** The reader of JSON has no values of some types: they are read as text and cast. */
const readAs = (type: ColumnType) => withText(type, isUnread)

/** Whether exact texts may stand for values of the column. */
const mayBeExact = ({ type }: Column) => textForJson(type) !== readAs(type)

/** The type in which an exact text of `type` is read. A key is text and not JSON, so nothing reformats it. */
const textForJson = (type: ColumnType) =>
  withText(type, (scalar, inKey) => isUnread(scalar) || (scalar === 'JSON' && !inKey))

/**
 * The columns of the model from `struct`; t is of the same row, and so is x. `hasExact`: x is there, so that it also counts
 * for columns that were JSON when their events came.
 */
export function fields(model: EventsModel, struct: Sql, cast: Sql, hasExact: boolean): Sql {
  return sql.join(
    readColumns(model).map((column) => {
      const given = firstOf(
        underEachName(column).map((one) => exactly(member(struct, one, cast), one, cast, hasExact)),
      )
      const value = isReceivedAt(column) ? sql`coalesce(${given}, CAST(t AS TIMESTAMPTZ))` : given
      return sql`${value} AS ${sql.ident(column.name)}`
    }),
  )
}

/** A member of `struct`; with `cast` in the type of its column, also where that is not what was read. */
export const field = (struct: Sql, column: ReadColumn, cast: Sql | null = null): Sql =>
  firstOf(underEachName(column).map((one) => member(struct, one, cast)))

function member(struct: Sql, { name, type }: Column, cast: Sql | null): Sql {
  const value = sql`struct_extract(${struct}, ${sql.value(name)})`
  if (cast === null || readAs(type) === type) return value
  return sql`${cast}(${value} AS ${sql.type(type)})`
}

/** The first that is not NULL. DuckDB has no coalesce for values of ARRAY. */
function firstOf(values: readonly Sql[]): Sql {
  const [first] = values
  if (first !== undefined && values.length === 1) return first
  const places = values.map((value, i) => sql`WHEN ${value} IS NOT NULL THEN ${sql.value(i + 1)}`)
  return sql`list_extract([${sql.join(values)}], CASE ${sql.join(places, sql` `)} ELSE 1 END)`
}

/** Types that read more digits from a text than a double has. */
const KEEPS_DIGITS = /^(?:VARCHAR|DECIMAL\(.*\)|U?(?:TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT))$/

/** What the exact text of the column says, where there is one. */
function exactly(given: Sql, column: Column, cast: Sql, hasExact: boolean): Sql {
  const { name, type } = column
  const asText = textForJson(type)
  if (!mayBeExact(column)) {
    if (!hasExact || !KEEPS_DIGITS.test(type)) return given
    const wasJson = exactKey({ name, type: columnType('JSON') })
    return sql`coalesce(${cast}(map_extract_value(x, ${sql.value(wasJson)}) AS ${sql.type(type)}), ${given})`
  }
  const text = sql`map_extract_value(x, ${sql.value(exactKey(column))})`
  if (type === 'JSON') return sql`coalesce(${cast}(${text} AS JSON), ${given})`
  const read = sql`${cast}(${cast}(${cast}(${text} AS JSON) AS ${sql.type(asText)}) AS ${sql.type(type)})`
  // DuckDB has no CASE and no coalesce for values of ARRAY.
  return sql`list_extract([${given}, ${read}], CASE WHEN ${text} IS NULL THEN 1 ELSE 2 END)`
}

/** A missing received_at is filled. */
export const isRequired = (column: Column) => !column.nullable && !isReceivedAt(column)

export const isNested = ({ type }: Column) => /^(STRUCT|MAP|UNION)\b|\]$/i.test(type)

/** Types of the members of a line that are to be read; each costs time. */
type Members = { readonly e: Sql } & { readonly [column in LineColumn]?: Sql }

/** The type of the member x: text of JSON by exactKey(). */
export const EXACT_TEXTS = sql`MAP(VARCHAR, VARCHAR)`

/** What a flush needs of a line whose event fits the model; `withExact`: its exact texts in any case. */
export function membersFor(model: EventsModel, withExact: boolean): Members {
  const columns = readColumns(model)
  return {
    ...(columns.some(isReceivedAt) && { t: sql`VARCHAR` }),
    e: structOf(columns),
    ...((withExact || columns.some(mayBeExact)) && { x: EXACT_TEXTS }),
  }
}

/** A marker line has none of the members. Names inside `e` are matched exactly, unknown ones are dropped. */
export function linesOf(segments: readonly Pick<Claim, 'url'>[], members: Members): Sql {
  const locations = sql.join(segments.map((segment) => sql.value(locationOf(segment))))
  const columns = LINE_COLUMNS.flatMap((name) => {
    const type = members[name]
    return type === undefined ? [] : [sql`${sql.value(name)}: ${sql.value(type.inline())}`]
  })
  return sql`read_json([${locations}], format = 'newline_delimited', columns = {${sql.join(columns)}},
    records = true, compression = 'uncompressed', maximum_object_size = ${sql.value(limits.segmentLineBytes)})`
}

/** The text of each event as it was sent. \x01 cannot be in a line of JSON, so that each line is one field. */
export function rawEvents(claim: Claim): Sql {
  return sql`
    SELECT CAST(json_extract(line, '$.s') AS UBIGINT) AS seq,
      CAST(json_extract_string(line, '$.t') AS TIMESTAMPTZ) AS received_at,
      regexp_extract(line, ${sql.value(EVENT_TEXT)}, 1) AS event,
      CAST(json_extract(line, '$.x') AS ${EXACT_TEXTS}) AS exact
    FROM read_csv(${sql.value(locationOf(claim))}, columns = {'line': 'VARCHAR'}, delim = chr(1), quote = '', escape = '',
      comment = '', header = false, auto_detect = false, compression = 'none', new_line = '\\n',
      max_line_size = ${sql.value(limits.segmentLineBytes)})
    WHERE starts_with(line, ${sql.value(LINE_START)})`
}
