// Rows for people and for other programs: table, json, ndjson, csv.

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
  const lines = [
    columns,
    ...rows.map((row) => columns.map((name) => textOf(cellOf(row, name), 'NULL'))),
  ]
  const shown = lines.map((cells) => cells.map((cell) => cell.replaceAll(/\p{Cc}/gu, '\ufffd')))
  // One by one: a call takes some 120,000 arguments, and --limit may ask for more rows.
  const widths = columns.map((_, i) =>
    shown.reduce((width, cells) => Math.max(width, cells[i]!.length), 0),
  )
  const isNumber = columns.map((name) => rows.every((row) => typeof cellOf(row, name) === 'number'))
  const text = shown.map((cells) =>
    cells
      .map((cell, i) => (isNumber[i] ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!)))
      .join('  ')
      .trimEnd(),
  )
  text.splice(1, 0, widths.map((width) => '-'.repeat(width)).join('  '))
  return text.join('\n')
}

const cellOf = (row: ShownRow, name: string) => (row as Readonly<Record<string, unknown>>)[name]

function textOf(value: unknown, ofNull: string): string {
  if (value === null || value === undefined) return ofNull
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** RFC 4180. */
const csvCell = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
