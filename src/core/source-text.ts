// Source text and places in it. Offsets count UTF-16 units of `text`; lines and columns exist only for printing.

export interface SourceFile {
  /** Path relative to the project directory, with forward slashes; shown in diagnostics. */
  readonly path: string
  readonly text: string
  /** Where `text` is a part of a large file: the number of its first line. 1 when absent. */
  readonly firstLine?: number
}

/** Half-open range of offsets into the text of a SourceFile. */
export interface Span {
  readonly start: number
  readonly end: number
}

export interface FilePlace {
  readonly source: SourceFile
  readonly span: Span
}

/** One-based line and column (in characters, as editors count them) with the text of that line. */
interface Position {
  readonly line: number
  readonly column: number
  readonly lineText: string
}

export function positionOf(source: SourceFile, offset: number): Position {
  const at = Math.max(0, Math.min(offset, source.text.length))
  const lineStart = source.text.lastIndexOf('\n', at - 1) + 1
  const newline = source.text.indexOf('\n', lineStart)
  const lineText = source.text.slice(lineStart, newline < 0 ? undefined : newline)
  const line = source.text.slice(0, lineStart).split('\n').length + (source.firstLine ?? 1) - 1
  const column = Array.from(source.text.slice(lineStart, at)).length + 1
  return { line, column, lineText: lineText.replace(/\r$/, '') }
}

/** `models/mart/a.sql:4:3`, for messages; the path alone of a file whose text is not known. */
export function placeText(source: SourceFile, offset: number): string {
  if (source.text === '') return source.path
  const { line, column } = positionOf(source, offset)
  return `${source.path}:${line}:${column}`
}

/** The inverse of positionOf(); the end of the text where there is no such place. */
export function offsetOf(
  { text, firstLine = 1 }: SourceFile,
  { line, column }: Pick<Position, 'line' | 'column'>,
): number {
  const before = text.split('\n').slice(0, line - firstLine)
  const lineStart = before.reduce((sum, { length }) => sum + length + 1, 0)
  const characters = Array.from(text.slice(lineStart, lineStart + 2 * column)).slice(0, column - 1)
  return Math.min(text.length, lineStart + characters.join('').length)
}

/** DuckDB's binder and AST count bytes of UTF-8; spans count UTF-16 units. */
export function offsetOfByte(text: string, byte: number): number {
  return Buffer.from(text, 'utf8').subarray(0, Math.max(0, byte)).toString('utf8').length
}

/** The line with which git begins a conflict that nobody has resolved; null when there is none. */
export function conflictMarker(text: string): Span | null {
  const found = /^<{7}(?: .*)?$/m.exec(text)
  if (found === null || !/^>{7}(?: |\r?$)/m.test(text)) return null
  return { start: found.index, end: found.index + found[0].length }
}

export const CONFLICT_HINT = 'keep one side and delete the lines <<<<<<<, ======= and >>>>>>>'

/** The place of a mistake that concerns a file as a whole. */
export const wholeFile = (path: string): FilePlace => ({
  source: { path, text: '' },
  span: { start: 0, end: 0 },
})

/** A check outside a model file, written as after @check. */
export interface DeclaredCheck extends FilePlace {
  readonly severity: 'fail' | 'warn'
}
