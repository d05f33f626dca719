// A diagnostic as text for people and for editors that jump to file:line:column.

import type { Diagnostic } from '../core/diagnostics.ts'
import { limits } from '../core/limits.ts'
import { positionOf } from '../core/source.ts'

const TAB_COLUMNS = 4
/** Text before the place that stays visible when a line is cut. */
const CONTEXT_COLUMNS = 40

/**
 * Several lines without a newline at the end:
 *
 *     models/raw/a.sql:3:11 error unknown-kind: no kind "evnts"
 *       3 | -- @kind: evnts
 *         |           ^^^^^
 *       hint: did you mean "events"?
 *
 * An empty span means the whole file, of which no line is shown.
 */
export function showDiagnostic(diagnostic: Diagnostic): string {
  const { source, span, severity, code, message, hint } = diagnostic
  const { line, column, lineText } = positionOf(source, span.start)
  const head = `${source.path}:${line}:${column} ${severity} ${code}: ${message}`
  const shown = [printable(head)]
  if (span.end > span.start) {
    const length = Array.from(source.text.slice(span.start, span.end).split(/\r?\n/)[0]!).length
    const { text, before, width } = excerpt(lineText, column - 1, Math.max(1, length))
    const gutter = String(line)
    shown.push(`  ${gutter} | ${text}`)
    shown.push(`  ${' '.repeat(gutter.length)} | ${' '.repeat(before)}${'^'.repeat(width)}`)
  }
  if (hint !== undefined) shown.push(`  hint: ${printable(hint)}`)
  return shown.join('\n')
}

interface Excerpt {
  readonly text: string
  /** Columns of the terminal before the place, and the columns that it takes. */
  readonly before: number
  readonly width: number
}

/** The line as it fits; `start` and `length` count characters. */
function excerpt(line: string, start: number, length: number): Excerpt {
  const cells = cellsOf(line)
  const from =
    columnsOf(cells) > limits.sourceLineColumns ? Math.max(0, start - CONTEXT_COLUMNS) : 0
  let to = from
  for (let columns = 0; to < cells.length; to++) {
    columns += cells[to]!.columns
    if (columns > limits.sourceLineColumns) break
  }
  const left = from > 0 ? '…' : ''
  const right = to < cells.length ? '…' : ''
  return {
    text: left + textOf(cells.slice(from, to)) + right,
    before: left.length + columnsOf(cells.slice(from, start)),
    width: Math.max(1, columnsOf(cells.slice(start, Math.min(start + length, to)))),
  }
}

interface Cell {
  readonly text: string
  readonly columns: number
}

/** Characters as a terminal shows them: tabs as spaces, wide characters in two columns, marks in none. */
function cellsOf(line: string): readonly Cell[] {
  let at = 0
  return Array.from(line, (character) => {
    const cell = cellOf(character, at)
    at += cell.columns
    return cell
  })
}

function cellOf(character: string, at: number): Cell {
  if (character === '\t') {
    const columns = TAB_COLUMNS - (at % TAB_COLUMNS)
    return { text: ' '.repeat(columns), columns }
  }
  if (/^\p{Mark}$/u.test(character)) return { text: character, columns: 0 }
  if (WIDE.test(character)) return { text: character, columns: 2 }
  return { text: printable(character), columns: 1 }
}

// East Asian scripts with their punctuation, full-width forms, pictographs.
const WIDE =
  /^(?:[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation})$/u

/** Control characters in a file must not reach the terminal. */
const printable = (text: string) => text.replaceAll(/\p{Cc}/gu, '\ufffd')

const textOf = (cells: readonly Cell[]) => cells.map(({ text }) => text).join('')
const columnsOf = (cells: readonly Cell[]) => cells.reduce((sum, { columns }) => sum + columns, 0)
