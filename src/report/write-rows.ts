// The rows of a query as a file.

import { open } from 'node:fs/promises'
import { columnType } from '../core/relation.ts'
import type { MakeRowText } from '../core/report/row-text.ts'
import { UsageError } from '../core/failures.ts'
import { type Sql, sql } from '../core/sql.ts'
import type { Connection } from '../duckdb/database.ts'
import { sheetRoom, sheetRowsSql } from '../core/xlsx/cells.ts'
import { sheetColumn } from '../core/xlsx/columns.ts'
import { workbook } from '../duckdb/xlsx/workbook.ts'
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

/** Makes a workbook of Excel with one sheet. Throws UsageError before it is written, for what a sheet has no room for. */
export const writeXlsx =
  (path: string): TakeRows<number> =>
  async (connection, query, columns) => {
    const { rows: room, columns: most } = sheetRoom
    if (columns.length > most) throw tooLarge('columns', most, columns.length)
    const [{ count = 0 } = {}] = await connection.rows(
      sql`SELECT CAST(count(*) AS DOUBLE) AS count FROM (${query})`,
    )
    if (Number(count) >= room) throw tooLarge('rows', room - 1, Number(count))
    const cells = columns.map(sheetColumn)
    const rows = textsOf(connection, sheetRowsSql(cells, query))
    await using file = await open(path, 'w')
    for await (const part of workbook({ name: 'rows', columns: cells, rows }))
      await file.appendFile(part)
    return Number(count)
  }

async function* textsOf(connection: Connection, query: Sql): AsyncGenerator<Buffer, void> {
  const named = sql`SELECT text FROM (${query}) AS printed(text)`
  for await (const rows of streamRows(connection, named, [{ name: 'text' }]))
    yield Buffer.from(rows.map(({ text }) => text as string).join(''))
}

const tooLarge = (what: string, room: number, found: number) =>
  new UsageError(`a sheet of Excel has room for ${room} ${what}, and these are ${found}`, {
    hint: `choose fewer ${what}, or name a file that ends in .csv or .parquet`,
  })

/** Also within lists and structs, whose members may be named like types, in quotes. */
const typeInParquet = (type: string): string =>
  type.replaceAll(
    /"(?:[^"]|"")*"|'(?:[^']|'')*'|\b(?:U?HUGEINT|UUID|INTERVAL)(?![\w ])/g,
    (found) => (/^["']/.test(found) ? found : 'VARCHAR'),
  )
