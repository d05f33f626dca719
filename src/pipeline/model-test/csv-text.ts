// Rows as the CSV of an expectation, read back by readRows() to the same values: nothing at all is NULL, "" is an empty
// text.

import type { TextRow } from '../../core/report/row-difference.ts'

export const csvText = (columns: readonly string[], rows: readonly TextRow[]): string =>
  [columns.map(quoted), ...rows.map((row) => columns.map((name) => cell(row[name] ?? null)))]
    .map((cells) => `${cells.join(',')}\n`)
    .join('')

const cell = (text: string | null) => (text === null ? '' : text === '' ? '""' : quoted(text))

/** A space at an end would be lost before a quote. */
const quoted = (text: string) =>
  /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
