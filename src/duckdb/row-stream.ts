// Rows of a query one chunk after the other, so that there may be more of them than memory holds.
//
// The driver ends a stream whose query failed exactly as one that is complete. So one more row follows the last one, which
// the last column tells from the others. Without that row the result broke off.

import { JsonDuckDBValueConverter } from '@duckdb/node-api'
import type { Column } from '../core/relation.ts'
import { type Sql, sql } from '../core/sql.ts'
import type { Connection } from './database.ts'
import { type DatabaseError, refusalOf } from './errors.ts'
import type { Row } from './values.ts'

/** `columns` are those of `rows`, which is one query. Throws DatabaseError, for a result that broke off, too. */
export async function* streamRows(
  connection: Connection,
  rows: Sql,
  columns: readonly Pick<Column, 'name'>[],
): AsyncGenerator<readonly Row[]> {
  const end = sql.join([...columns.map(() => sql`NULL`), sql`false`])
  const marked = sql`SELECT *, true FROM (${rows}) UNION ALL SELECT ${end}`
  const result = await connection.attempt(() => connection.driver.stream(marked.inline()))
  const next = () => connection.attempt(() => result.fetchChunk())
  for (let isEnd = false; !isEnd;) {
    const chunk = await next()
    if (chunk === null || chunk.rowCount === 0) throw await whyItBrokeOff(connection, rows)
    const values = chunk.convertRows(JsonDuckDBValueConverter)
    isEnd = values.at(-1)![columns.length] === false
    yield values
      .slice(0, isEnd ? -1 : undefined)
      .map((row) => Object.fromEntries(columns.map(({ name }, i) => [name, row[i]!])))
  }
  // A result that is not read to its end keeps the database open.
  await next()
}

/** The query is asked once more, for a result that is one number and depends on every value. */
async function whyItBrokeOff(connection: Connection, rows: Sql): Promise<DatabaseError | Error> {
  const all = sql`SELECT bit_xor(hash(r)) FROM (${rows}) AS r`
  const refusal = await refusalOf(connection.rows(all))
  return refusal ?? new Error('the result of a query broke off, and does not do so again')
}
