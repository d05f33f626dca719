// The lines of segments (buffer/segment.ts) as the engine reads them.

import type { Claim } from '../../buffer/claim-source.ts'
import { limits } from '../../core/limits.ts'
import type { EventsModel } from '../../core/model.ts'
import { EXACT_MEMBER, isReceivedAt } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { mayBeExact, structOf } from './event-columns.ts'

/** Types of the members of a line that are to be read; each costs time. */
interface Members {
  s?: Sql
  t?: Sql
  e: Sql
  x?: Sql
}

/** Of the member x: text of JSON by exactKey(). */
export const EXACT_TEXTS = sql`MAP(VARCHAR, VARCHAR)`

/** What a flush needs of a line whose event fits the model; `withExact`: its exact texts in any case. */
export function membersFor({ columns }: EventsModel, withExact: boolean): Members {
  return {
    ...(columns.some(isReceivedAt) && { t: sql`VARCHAR` }),
    e: structOf(columns),
    ...((withExact || columns.some(mayBeExact)) && { x: EXACT_TEXTS }),
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
