// Rows as a workbook of Excel with one sheet.

import { type SheetColumn, sheetRowsSql } from '../../core/xlsx/cells.ts'
import type { Sql } from '../../core/sql.ts'
import { workbook } from '../../duckdb/xlsx/workbook.ts'
import { type EngineAccess, Query } from './query.ts'

interface SheetRows {
  readonly name: string
  readonly columns: readonly SheetColumn[]
  /** With what the columns are of. */
  readonly rows: Sql
}

interface OpenWorkbook {
  readonly found: Query
  /** To be read once. */
  readonly parts: AsyncIterable<Buffer>
}

/** `found` is to be disposed of after the parts were read. Throws as Query.open() does. */
export async function openWorkbook(
  access: EngineAccess,
  { name, columns, rows }: SheetRows,
  options: Pick<Parameters<typeof Query.open>[2], 'mode' | 'effort'>,
): Promise<OpenWorkbook> {
  const maxRows = Number.MAX_SAFE_INTEGER
  const texts = sheetRowsSql(columns, rows)
  const found = await Query.open(access, texts, { ...options, maxRows })
  return { found, parts: workbook({ name, columns, rows: found.chunks() }) }
}
