// The lines of segments (buffer/segment.ts) as DuckDB reads them.

import { type Claim, locationOf } from '../../buffer/claim-source.ts'
import { EVENT_TEXT, LINE_COLUMNS, LINE_START, type LineColumn } from '../../buffer/segment.ts'
import { limits } from '../../core/limits.ts'
import type { EventsModel } from '../../core/model.ts'
import { isReceivedAt } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { mayBeExact, structOf } from './event-columns.ts'

/** Types of the members of a line that are to be read; each costs time. */
type Members = { readonly e: Sql } & { readonly [column in LineColumn]?: Sql }

/** The type of the member x: text of JSON by exactKey(). */
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
