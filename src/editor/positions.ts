// Places as editors count them: lines from 0, and UTF-16 units in them.

import type { SourceFile, Span } from '../core/source-text.ts'
import type { Position, Range } from 'vscode-languageserver/node'

/** `source` may be a part of a file that begins below the first line. */
export function lspRange(source: SourceFile, { start, end }: Span): Range {
  const from = positionAt(source, start)
  return { start: from, end: end <= start ? from : positionAt(source, end) }
}

export function positionAt({ text, firstLine = 1 }: SourceFile, offset: number): Position {
  const at = Math.max(0, Math.min(offset, text.length))
  const lineStart = text.lastIndexOf('\n', at - 1) + 1
  let line = firstLine - 1
  for (let i = text.indexOf('\n'); i !== -1 && i < lineStart; i = text.indexOf('\n', i + 1)) line++
  return { line, character: at - lineStart }
}

export function offsetAt(text: string, { line, character }: Position): number {
  let start = 0
  for (let i = 0; i < line; i++) {
    const next = text.indexOf('\n', start)
    if (next === -1) return text.length
    start = next + 1
  }
  const end = text.indexOf('\n', start)
  return Math.min(start + character, end === -1 ? text.length : end)
}

/** The whole line in which an offset lies, with its end. */
export function lineSpan(text: string, offset: number): Span {
  const start = text.lastIndexOf('\n', offset - 1) + 1
  const end = text.indexOf('\n', offset)
  return { start, end: end === -1 ? text.length : end + 1 }
}
