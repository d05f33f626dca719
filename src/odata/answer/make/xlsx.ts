// Rows as a workbook of Excel with one sheet, streamed. Like CSV it has no place for a next link, so it comes whole, up to
// $top. What a sheet has no room for is refused before the first byte: half of the rows must not look like all.

import { sheetRoom } from '../../../core/xlsx/cells.ts'
import type { BoundQuery } from '../../bind/bound-request.ts'
import { openWorkbook } from '../../engine/xlsx-rows.ts'
import { odataError } from '../../protocol/errors.ts'
import { rowCountSql, sheetColumns } from '../../sql/xlsx.ts'
import type { AnswerFormat } from '../choose/representation.ts'
import { onlyText, flatRows, requireParent, rowsFrom } from './found.ts'

/** Below the names. */
const MOST_ROWS = sheetRoom.rows - 1

export const xlsx: AnswerFormat<'xlsx'> = async (exchange, bound) => {
  const query = flatRows('a sheet of Excel', bound.query)
  const { engine, resources } = exchange
  const { output } = query
  if (output.length > sheetRoom.columns) throw tooLarge('columns', sheetRoom.columns, output.length)
  const { rows, mode, effort } = rowsFrom(exchange, query)
  if (mayHaveTooMany(query)) {
    const count = Number(await onlyText(engine, rowCountSql(rows), 'large'))
    if (count > MOST_ROWS) throw tooLarge('rows', MOST_ROWS, count)
  }
  const sheet = { name: query.set.name, columns: sheetColumns(output), rows }
  const { found, parts } = await openWorkbook(engine, sheet, { mode, effort })
  resources.use(found)
  const { whole } = found
  await requireParent(exchange, bound, whole?.length === 0)
  return { body: whole === null ? parts : await together(parts), rows: () => found.rows }
}

/** A set has so many rows at most, as long as nothing makes others of them. */
function mayHaveTooMany({ top, relation, set }: BoundQuery): boolean {
  const most = relation.kind === 'set' ? set.relation.rows : Infinity
  return Math.min(top ?? Infinity, most) > MOST_ROWS
}

async function together(parts: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = []
  for await (const part of parts) all.push(part)
  return Buffer.concat(all)
}

const tooLarge = (what: 'rows' | 'columns', room: number, found: number) =>
  odataError(
    'too-large',
    `a sheet of Excel has room for ${digits(room)} ${what}, and these are ${digits(found)}; ${advice[what]}, or ask for CSV or Parquet`,
    '$format',
  )

const digits = (number: number) => number.toLocaleString('en')

const advice = { rows: 'choose fewer with $filter', columns: 'choose fewer with $select' }
