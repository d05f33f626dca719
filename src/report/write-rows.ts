// The rows of a query as a file.

import { open } from 'node:fs/promises'
import { columnType } from '../core/relation.ts'
import type { MakeRowText } from '../core/report/row-text.ts'
import { sql } from '../core/sql.ts'
import { streamRows } from '../duckdb/row-stream.ts'
import type { TakeRows } from './answer-query.ts'

/** Into a file that is there. Gives the number of rows. Throws DatabaseError and errors of the system. */
export const writeText =
  (path: string, make: MakeRowText): TakeRows<number> =>
  async (connection, query, columns) => {
    const { begin, row, end } = make(columns)
    await using file = await open(path, 'w')
    await file.appendFile(begin)
    let count = 0
    for await (const rows of streamRows(connection, query, columns)) {
      await file.appendFile(rows.map((one, i) => row(one, count + i)).join(''))
      count += rows.length
    }
    await file.appendFile(end(count))
    return count
  }

/** What readers of Parquet would take for another value, or not know, is text, as in the answers of the service. */
export const writeParquet =
  (path: string): TakeRows<number> =>
  async (connection, query, columns) => {
    const stored = columns.map(({ name, type }) => {
      const column = sql.ident(name)
      const kept = typeInParquet(type)
      return kept === type
        ? column
        : sql`CAST(${column} AS ${sql.type(columnType(kept))}) AS ${column}`
    })
    return await connection.run(sql`
      COPY (SELECT ${sql.join(stored)} FROM (${query}))
      TO ${sql.value(path)} (FORMAT parquet, USE_TMP_FILE false)`)
  }

/** Also within lists and structs, whose members may be named like types, in quotes. */
const typeInParquet = (type: string): string =>
  type.replaceAll(
    /"(?:[^"]|"")*"|'(?:[^']|'')*'|\b(?:U?HUGEINT|UUID|INTERVAL)(?![\w ])/g,
    (found) => (/^["']/.test(found) ? found : 'VARCHAR'),
  )
