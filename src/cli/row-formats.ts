// The texts of rows that other programs read.

import type { MakeRowText } from '../core/report/row-text.ts'
import { printable } from './cells.ts'
import { cellOf, cellText } from './table.ts'

export const textFormats = ['json', 'ndjson', 'csv', 'markdown'] as const
type TextFormat = (typeof textFormats)[number]

/** CSV as RFC 4180 has it. */
const csv: MakeRowText = (columns) => {
  const line = (cells: readonly string[]) => `${cells.map(csvCell).join(',')}\r\n`
  return {
    begin: line(columns.map(({ name }) => name)),
    row: (row) => line(columns.map(({ name }) => cellText(cellOf(row, name), ''))),
    end: () => '',
  }
}

const csvCell = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

const ndjson: MakeRowText = () => ({
  begin: '',
  row: (row) => `${JSON.stringify(row)}\n`,
  end: () => '',
})

/** The same text as JSON.stringify() makes of an array of them. */
const json: MakeRowText = () => ({
  begin: '[',
  row: (row, i) => {
    const lines = JSON.stringify(row, null, 2).replaceAll('\n', '\n  ')
    return `${i === 0 ? '' : ','}\n  ${lines}`
  },
  end: (rows) => (rows === 0 ? ']\n' : '\n]\n'),
})

/** Cells are as long as their text: a row that differs changes one line of a file, and no row waits for the others. */
const markdown: MakeRowText = (columns) => {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`
  const rule = columns.map(({ type }) => (NUMBER.test(type) ? '--:' : '---'))
  return {
    begin: line(columns.map(({ name }) => markdownCell(name))) + line(rule),
    row: (row) =>
      line(columns.map(({ name }) => markdownCell(cellText(cellOf(row, name), 'NULL')))),
    end: () => '',
  }
}

const NUMBER = /^(?:U?(?:TINY|SMALL|BIG|HUGE)INT|U?INTEGER|FLOAT|DOUBLE|DECIMAL\(\d+,\d+\))$/

/** On one line, and never more than text: what would be markup, a link or HTML has a backslash. */
const markdownCell = (text: string) =>
  text
    .split(/\r\n|\r|\n/)
    .map((line) => printable(line).replaceAll(MARKUP, String.raw`\$&`))
    .join('<br>')

/** An underscore within a word is none. */
const MARKUP = /[\\`*[\]<&~|]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu

export const textOfRows: Readonly<Record<TextFormat, MakeRowText>> = { json, ndjson, csv, markdown }
