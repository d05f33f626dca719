// A diagnostic as text for people and for editors that jump to file:line:column.

import type { Diagnostic } from '../core/diagnostics.ts'
import { limits } from '../core/limits.ts'
import { positionOf, type SourceFile, type Span } from '../core/source-text.ts'
import { cellsOf, cellColumns, printable, cellsText, wrap } from './cells.ts'
import { type Look, plainLook } from './paint.ts'

/** Text before the place that stays visible when a line is cut. */
const CONTEXT_COLUMNS = 40

/** A terminal has at least 40 columns, and the gutter takes some. */
const LEAST_EXCERPT_COLUMNS = 20

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
export function showDiagnostic(diagnostic: Diagnostic, look: Look = plainLook): string {
  const { source, span, severity, code, message, hint } = diagnostic
  const { line, column } = positionOf(source, span.start)
  const place = `${source.path}:${line}:${column}`
  return showFrame({ place, severity, subject: code, message, source, span, hint }, look)
}

interface Frame {
  readonly place: string | null
  readonly severity: 'error' | 'warning'
  /** A code, or a model. */
  readonly subject: string
  readonly message: string
  /** null: there is no text to show. */
  readonly source: SourceFile | null
  readonly span: Span
  readonly hint?: string | undefined
}

export function showFrame(frame: Frame, { paint, columns }: Look): string {
  const { place, severity, subject, message, source, span, hint } = frame
  const tone = severity === 'error' ? 'red' : 'yellow'
  const head = [
    ...(place === null ? [] : [paint('bold', printable(place))]),
    paint(tone, severity),
    printable(`${subject}: ${message}`),
  ]
  const shown = [wrap(head.join(' '), columns, 2)]
  if (source !== null && span.end > span.start) {
    const { line, column, lineText } = positionOf(source, span.start)
    const length = Array.from(source.text.slice(span.start, span.end).split(/\r?\n/)[0]!).length
    const gutter = String(line)
    // Before the excerpt the gutter; within it `…` on both sides.
    const room = columns - gutter.length - '   | ……'.length
    const fits = Math.max(LEAST_EXCERPT_COLUMNS, Math.min(limits.sourceLineColumns, room))
    const { text, before, width } = excerpt(lineText, column - 1, Math.max(1, length), fits)
    const bar = paint('dim', '|')
    shown.push(`  ${paint('dim', gutter)} ${bar} ${text}`)
    const carets = paint(tone, '^'.repeat(width))
    shown.push(`  ${' '.repeat(gutter.length)} ${bar} ${' '.repeat(before)}${carets}`)
  }
  if (hint !== undefined)
    shown.push(wrap(`  ${paint('cyan', 'hint:')} ${printable(hint)}`, columns, 8))
  return shown.join('\n')
}

/**
 * The line as it fits; `start` and `length` count characters. `before` and `width` are columns of the terminal: those
 * before the place, and those that it takes.
 */
function excerpt(line: string, start: number, length: number, fits: number) {
  const cells = cellsOf(line)
  const context = Math.min(CONTEXT_COLUMNS, Math.floor(fits / 2))
  const from = cellColumns(cells) > fits ? Math.max(0, start - context) : 0
  let to = from
  for (let columns = 0; to < cells.length; to++) {
    columns += cells[to]!.columns
    if (columns > fits) break
  }
  const left = from > 0 ? '…' : ''
  const right = to < cells.length ? '…' : ''
  return {
    text: left + cellsText(cells.slice(from, to)) + right,
    before: left.length + cellColumns(cells.slice(from, start)),
    width: Math.max(1, cellColumns(cells.slice(start, Math.min(start + length, to)))),
  }
}
