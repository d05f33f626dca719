// The lines of segments (buffer/segment.ts) as the engine reads them, and the columns of a model taken out of their events.

import type { Claim } from '../buffer/claim-source.ts'
import { limits } from '../core/limits.ts'
import type { EventsModel } from '../core/model.ts'
import {
  type Column,
  type ColumnType,
  EXACT_MEMBER,
  exactKey,
  isReceivedAt,
} from '../core/relation.ts'
import { type Sql, sql } from '../core/sql.ts'
import { withText } from '../core/type-syntax.ts'

/** Types of the members of a line that are to be read; each costs time. */
interface Members {
  s?: Sql
  t?: Sql
  e: Sql
  x?: Sql
}

/** Of the member x: text of JSON by exactKey(). */
export const EXACT_TEXTS = sql`MAP(VARCHAR, VARCHAR)`

/** What a flush needs of a line whose event fits the model. */
export function membersFor({ columns }: EventsModel): Members {
  return {
    ...(columns.some(isReceivedAt) && { t: sql`VARCHAR` }),
    e: structOf(columns),
    ...(columns.some(({ type }) => textForJson(type) !== readAs(type)) && { x: EXACT_TEXTS }),
  }
}

/** A marker line has none of the members. Names inside `e` are matched exactly, unknown ones are dropped. */
export function linesOf(segments: readonly Pick<Claim, 'path'>[], { s, t, e, x }: Members): Sql {
  const paths = sql.join(segments.map(({ path }) => sql.value(path)))
  const columns = Object.entries({ s, t, e, [EXACT_MEMBER]: x }).flatMap(([name, type]) =>
    type === undefined ? [] : [sql`${sql.value(name)}: ${sql.value(type.inline())}`],
  )
  return sql`read_json([${paths}], format = 'newline_delimited', columns = {${sql.join(columns)}},
    records = true, compression = 'uncompressed', maximum_object_size = ${sql.value(limits.segmentLineBytes)})`
}

/**
 * The bytes of each event as they were sent: the reader of JSON would print numbers anew. \x01 cannot be in a line of
 * JSON, so that each line is one field. What follows the event is an object of texts: only there does a line end in its
 * brace and one more, outside of every text, without a brace between.
 */
export function rawEvents(claim: Claim): Sql {
  return sql`
    SELECT CAST(json_extract(line, '$.s') AS UBIGINT) AS seq,
      CAST(json_extract_string(line, '$.t') AS TIMESTAMPTZ) AS received_at,
      regexp_extract(line, '"e":(.*?)(?:,"x":\\{(?:[^"}]|"(?:[^"\\\\]|\\\\.)*")*\\})?\\}$', 1) AS event,
      CAST(json_extract(line, '$.x') AS ${EXACT_TEXTS}) AS exact
    FROM read_csv(${sql.value(claim.path)}, columns = {'line': 'VARCHAR'}, delim = chr(1), quote = '', escape = '',
      comment = '', header = false, auto_detect = false, compression = 'none', new_line = '\\n',
      max_line_size = ${sql.value(limits.segmentLineBytes)})
    WHERE starts_with(line, '{"s":')`
}

/** What is read of an event. */
export const structOf = (columns: readonly Column[]): Sql =>
  sql`STRUCT(${sql.join(columns.map(({ name, type }) => sql`${sql.ident(name)} ${sql.type(readAs(type))}`))})`

const isUnread = (scalar: string) => scalar === 'BIT' || scalar === 'BIGNUM'

/** The reader of JSON has no values of some types: they are read as text and cast. */
const readAs = (type: ColumnType) => withText(type, isUnread)

/** As `type` is read from an exact text. A key is no JSON but a text, which nobody prints anew. */
const textForJson = (type: ColumnType) =>
  withText(type, (scalar, inKey) => isUnread(scalar) || (scalar === 'JSON' && !inKey))

/** The columns of the model from `struct`; t and x are of the same row. */
export function fields(model: EventsModel, struct: Sql, cast: Sql): Sql {
  return sql.join(
    model.columns.map((column) => {
      const given = field(struct, column, cast)
      const value = isReceivedAt(column) ? sql`coalesce(${given}, CAST(t AS TIMESTAMPTZ))` : given
      return sql`${exactly(value, column, cast)} AS ${sql.ident(column.name)}`
    }),
  )
}

/** A member of `struct`; with `cast` in the type of its column, also where that is not what was read. */
export function field(struct: Sql, { name, type }: Column, cast: Sql | null = null): Sql {
  const member = sql`struct_extract(${struct}, ${sql.value(name)})`
  if (cast === null || readAs(type) === type) return member
  return sql`${cast}(${member} AS ${sql.type(type)})`
}

/** What the exact text of the column says, where there is one. */
function exactly(given: Sql, column: Column, cast: Sql): Sql {
  const { type } = column
  const asText = textForJson(type)
  if (asText === readAs(type)) return given
  const text = sql`map_extract_value(x, ${sql.value(exactKey(column))})`
  if (type === 'JSON') return sql`coalesce(${cast}(${text} AS JSON), ${given})`
  const read = sql`${cast}(${cast}(${cast}(${text} AS JSON) AS ${sql.type(asText)}) AS ${sql.type(type)})`
  // The engine has no CASE and no coalesce for values of ARRAY.
  return sql`list_extract([${given}, ${read}], CASE WHEN ${text} IS NULL THEN 1 ELSE 2 END)`
}
