// The printer of tables: rows for people, and lines whose parts stand below each other.

import { printable } from './cells.ts'

/** Values by the name of the column. */
type ShownRow = object

/** Without a newline at the end. */
export function showTable(columns: readonly string[], rows: readonly ShownRow[]): string {
  const cells = rows.map((row) => columns.map((name) => cellText(cellOf(row, name), 'NULL')))
  const shown = [columns, ...cells].map((line) => line.map(printable))
  const isRight = columns.map((name) => rows.every((row) => typeof cellOf(row, name) === 'number'))
  return tableLines(shown, { isRight: (i) => isRight[i]!, isRuled: true }).join('\n')
}

interface TableLayout {
  /** Numbers end below each other. */
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

export const cellOf = (row: ShownRow, name: string) =>
  (row as Readonly<Record<string, unknown>>)[name]

export function cellText(value: unknown, ofNull: string): string {
  if (value === null || value === undefined) return ofNull
  return typeof value === 'string' ? value : JSON.stringify(value)
}
