// What is wrong with a CSV seed, with the line of the file that shows it.

import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { type Diagnostic, diagnostic } from '../../core/diagnostics.ts'
import { limits } from '../../core/limits.ts'
import { wholeFile, type FilePlace } from '../../core/source-text.ts'
import { LINE_ENDS_HINT } from './line-ends.ts'
import type { CsvFault, CsvShape } from './scan.ts'

interface Excerpt extends FilePlace {
  /** From the place to the end of the line. */
  readonly rest: string
}

/** `path`: in the project directory `dir`. */
export async function explainFault(
  fault: CsvFault,
  shape: CsvShape | null,
  dir: string,
  path: string,
): Promise<Diagnostic> {
  if (fault.is === 'utf-16') {
    const problem = 'the file is UTF-16'
    return diagnostic('unreadable-file', { problem }, wholeFile(path), 'save it as UTF-8')
  }
  if (fault.is === 'not-utf-8') {
    const { byte, ...place } = await invalidByte(fault, dir, path)
    const problem = `the byte ${byte} is not UTF-8`
    const hint = 'it looks like Latin-1 (Windows-1252); save it as UTF-8'
    return diagnostic('unreadable-file', { problem }, place, hint)
  }
  const line = await lineOf(fault, dir, path, 'utf8')
  const { problem, hint } = wordsFor(fault, shape!, line.rest)
  return diagnostic('seed-row', { problem }, line, hint)
}

/** `rest`: of the line, from its place on. */
export function wordsFor(
  { is, fields = 0, other }: CsvFault,
  { columns, delimiter, newline }: CsvShape,
  rest: string,
): { readonly problem: string; readonly hint: string } {
  switch (is) {
    case 'fields': {
      const names = columns.slice(0, 10).join(', ') + (columns.length > 10 ? ', …' : '')
      const header = `the header has ${columns.length} (${names})`
      const problem = `this row has ${fields} ${fields === 1 ? 'field' : 'fields'}, ${header}`
      const parts = delimiterName[delimiter]
      return fields > columns.length
        ? { problem, hint: `put a value that contains ${parts} in quotes${example(delimiter)}` }
        : { problem, hint: `write ${parts} for a missing value too` }
    }
    case 'open-quote':
      return {
        problem: 'a quote is opened and never closed',
        hint: 'close it; a quote inside a quoted value is doubled: "say ""hi"""',
      }
    case 'after-quote':
      return {
        problem: `"${rest.slice(0, 20)}" follows a closing quote`,
        hint: 'a quote inside a quoted value is doubled: "say ""hi"""',
      }
    case 'newline':
      return {
        problem: `this line ends differently from the header, which ends in ${newlineName[newline]}`,
        hint: LINE_ENDS_HINT,
      }
    case 'tie': {
      const signs = `${delimiterName[delimiter]} and ${delimiterName[other!]}`
      return {
        problem: `${signs} both split the header into ${columns.length} columns, and rows do not tell which is meant`,
        hint: 'put names and values that contain the other sign in quotes',
      }
    }
    case 'unnamed':
      return {
        problem: `column ${fields} of the header has no name`,
        hint:
          fields === columns.length && fields > 1
            ? `name it, or remove ${delimiterName[delimiter]} at the end of each line`
            : 'give each column a name',
      }
    default:
      return {
        problem: 'the first line is blank, and must name the columns',
        hint: 'begin the file with its header, without blank lines above it',
      }
  }
}

const delimiterName = {
  ',': 'a comma',
  ';': 'a semicolon',
  '\t': 'a tab',
  '|': 'a vertical bar',
} as const
const example = (delimiter: string) => (delimiter === '\t' ? '' : `: "2${delimiter}3"`)
const newlineName = { '\n': 'LF', '\r': 'CR', '\r\n': 'CR LF' } as const

async function invalidByte(fault: CsvFault, dir: string, path: string) {
  const line = await lineOf(fault, dir, path, 'latin1')
  const byte = line.rest.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')
  return { ...line, byte, span: { start: line.span.start, end: line.span.start + 1 } }
}

async function lineOf(
  { at, line, lineStart }: CsvFault,
  dir: string,
  path: string,
  encoding: 'utf8' | 'latin1',
): Promise<Excerpt> {
  const file = await open(join(dir, path))
  try {
    const size = at - lineStart + limits.csvExcerptBytes
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, lineStart)
    const start = buffer.toString(encoding, 0, at - lineStart).length
    const [text = ''] = buffer.toString(encoding, 0, bytesRead).split(/[\r\n]/, 1)
    const span = { start, end: Math.max(text.length, start + 1) }
    return { source: { path, text, firstLine: line }, span, rest: text.slice(start) }
  } finally {
    await file.close()
  }
}
