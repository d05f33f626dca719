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
import type { Connection } from '../../duckdb/database.ts'
import {
  hasOthers,
  inAnyCase,
  type KeptColumn,
  keptMembers,
  type ReadModel,
  STORED,
} from './reading.ts'

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

const structOf = (model: ReadModel): Sql =>
  struct([...membersOf(withFormer(readColumns(model))), ...keptMembers(model)])

/**
 * The event `e` as structOf() says, NULL where a value does not fit. TRY_CAST throws for what a MAP cannot hold, so each
 * one is read apart: TRY asks again event by event, and then knows of no column.
 */
export function typedOf(model: ReadModel): Sql {
  const columns = withFormer(readColumns(model))
  const all = membersOf(columns)
  const isMap = columns.map(({ type }) => /\bMAP\b/i.test(type))
  const maps = all.filter((_, i) => isMap[i] === true)
  const others = [...all.filter((_, i) => isMap[i] !== true), ...keptMembers(model)]
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
const mayBeExact = ({ type }: Pick<Column, 'type'>) => textForJson(type) !== readAs(type)

/** The type in which an exact text of `type` is read. A key is text and not JSON, so nothing reformats it. */
const textForJson = (type: ColumnType) =>
  withText(type, (scalar, inKey) => isUnread(scalar) || (scalar === 'JSON' && !inKey))

/**
 * The columns of the model from `struct`; t is of the same row, and so is x. `hasExact`: x is there, so that it also counts
 * for columns that were JSON when their events came.
 */
export function fields(model: ReadModel, struct: Sql, cast: Sql, hasExact: boolean): Sql {
  return sql.join([
    ...readColumns(model).map((column) => {
      const given = firstOf(
        underEachName(column).map((one) => exactly(member(struct, one, cast), one, cast, hasExact)),
      )
      const value = isReceivedAt(column) ? sql`coalesce(${given}, CAST(t AS TIMESTAMPTZ))` : given
      return sql`${value} AS ${sql.ident(column.name)}`
    }),
    ...(model.kept ?? []).map(
      (column) => sql`${keptValue(struct, column)} AS ${sql.ident(column.name)}`,
    ),
  ])
}

/** NULL for what does not fit, since the model has no such column by which it could. */
function keptValue(given: Sql, { isStorable, ...column }: KeptColumn): Sql {
  const { name, type } = column
  const json = sql`json_object('v', struct_extract(${given}, ${sql.value(name)}))`
  const read = struct([sql`v ${sql.type(readAs(type))}`])
  const typed = member(
    sql`TRY(TRY_CAST(${json} AS ${read}))`,
    { ...column, name: 'v' },
    sql`TRY_CAST`,
  )
  const value = exactly(typed, column, sql`TRY_CAST`, true)
  if (isStorable === null) return value
  const stored = sql`SELECT ${value} AS ${STORED}`
  return sql`(SELECT list_extract([${STORED}], CASE WHEN ${isStorable} THEN 1 ELSE 2 END) FROM (${stored}))`
}

/** A member of `struct`; with `cast` in the type of its column, also where that is not what was read. */
export const field = (struct: Sql, column: ReadColumn, cast: Sql | null = null): Sql =>
  firstOf(underEachName(column).map((one) => member(struct, one, cast)))

function member(struct: Sql, { name, type }: Pick<Column, 'name' | 'type'>, cast: Sql | null): Sql {
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
function exactly(
  given: Sql,
  column: Pick<Column, 'name' | 'type'>,
  cast: Sql,
  hasExact: boolean,
): Sql {
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
export function membersFor(model: ReadModel, withExact: boolean): Members {
  const columns = readColumns(model)
  const isExact = withExact || (model.kept ?? []).length > 0 || columns.some(mayBeExact)
  return {
    ...(columns.some(isReceivedAt) && { t: sql`VARCHAR` }),
    e: structOf(model),
    ...(isExact && { x: EXACT_TEXTS }),
  }
}

/** Whether an event has a name that differs in case alone from one that the model reads. */
export async function isInOtherCase(
  connection: Connection,
  model: ReadModel,
  segments: readonly Pick<Claim, 'url'>[],
): Promise<boolean> {
  if (model.anyCase !== true) return false
  const found = hasOthers(namesOf(model), linesOf(segments, { e: sql`JSON` }))
  return (await connection.row(found)) !== null
}

const namesOf = (model: ReadModel) => [...withFormer(readColumns(model)), ...(model.kept ?? [])]

/** Lines with e (JSON) and x, with the names that the model reads. */
export function spelled(model: ReadModel, lines: Sql): Sql {
  if (model.anyCase !== true) return lines
  return inAnyCase(namesOf(model), lines)
}

/** A marker line has none of the members. Names inside `e` are matched exactly, unknown ones are dropped. */
export function linesOf(segments: readonly Pick<Claim, 'url'>[], members: Members): Sql {
  const locations = sql.join(segments.map((segment) => sql.value(locationOf(segment))))
  const columns = LINE_COLUMNS.flatMap((name) => {
    const type = members[name]
    return type === undefined ? [] : [sql`${sql.ident(name)}: ${sql.value(type.inline())}`]
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
