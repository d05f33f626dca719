// The printer of tables: rows for people and for other programs, and lines whose parts stand below each other.

import { printable } from './cells.ts'

export const rowFormats = ['table', 'json', 'ndjson', 'csv'] as const
type RowFormat = (typeof rowFormats)[number]

/** Values by the name of the column. */
type ShownRow = object

/** Without a newline at the end; empty when the format prints nothing for no rows. */
export function showRows(
  columns: readonly string[],
  rows: readonly ShownRow[],
  format: RowFormat,
): string {
  switch (format) {
    case 'json':
      return JSON.stringify(rows, null, 2)
    case 'ndjson':
      return rows.map((row) => JSON.stringify(row)).join('\n')
    case 'csv':
      return [columns, ...rows.map((row) => columns.map((name) => textOf(cellOf(row, name), '')))]
        .map((cells) => `${cells.map(csvCell).join(',')}\r`)
        .join('\n')
    case 'table':
      return showTable(columns, rows)
  }
}

function showTable(columns: readonly string[], rows: readonly ShownRow[]): string {
  const cells = rows.map((row) => columns.map((name) => textOf(cellOf(row, name), 'NULL')))
  const shown = [columns, ...cells].map((line) => line.map(printable))
  const isRight = columns.map((name) => rows.every((row) => typeof cellOf(row, name) === 'number'))
  return tableLines(shown, { isRight: (i) => isRight[i]!, isRuled: true }).join('\n')
}

interface TableLayout {
  /** Of columns with numbers, which end below each other. */
  readonly isRight?: (column: number) => boolean
  /** Whether a rule follows the first line. */
  readonly isRuled?: boolean
  /** How many columns of a terminal a cell takes. */
  readonly widthOf?: (text: string) => number
}

/** Cells of all rows below each other, two blanks between the columns. */
export function tableLines(
  rows: readonly (readonly string[])[],
  { isRight, isRuled = false, widthOf = ({ length }) => length }: TableLayout = {},
): readonly string[] {
  // One by one: a call takes some 120,000 arguments, and --limit may ask for more rows.
  const widths = (rows[0] ?? []).map((_, i) =>
    rows.reduce((width, cells) => Math.max(width, widthOf(cells[i]!)), 0),
  )
  const padded = (cell: string, i: number) => {
    const gap = ' '.repeat(widths[i]! - widthOf(cell))
    return isRight?.(i) === true ? gap + cell : cell + gap
  }
  const lines = rows.map((cells) => cells.map(padded).join('  ').trimEnd())
  return isRuled
    ? lines.toSpliced(1, 0, widths.map((width) => '-'.repeat(width)).join('  '))
    : lines
}

const cellOf = (row: ShownRow, name: string) => (row as Readonly<Record<string, unknown>>)[name]

function textOf(value: unknown, ofNull: string): string {
  if (value === null || value === undefined) return ofNull
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** RFC 4180. */
const csvCell = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
