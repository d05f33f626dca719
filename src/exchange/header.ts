// Lines of the header of a model file that come from elsewhere. Each is one line whatever stood there, so that a text of
// somebody else never becomes SQL.

import type { Span } from '../core/source-text.ts'

export interface HeaderLine {
  readonly annotation: string
  /** The column or measure that it is about; null: the model. */
  readonly subject: string | null
  readonly value: string
  /** There may be several, each with a value of its own. */
  readonly repeats?: true
  /** Of what it came from, if that is neither the model as a whole nor the column that it is about. */
  readonly span?: Span
}

export const oneLine = (text: string): string => text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()

/** None where nothing is said. */
export const headerLine = (
  annotation: string,
  subject: string | null,
  value: string | null | undefined,
): readonly HeaderLine[] =>
  value == null || oneLine(value) === '' ? [] : [{ annotation, subject, value }]

export const lineOfHeader = ({ annotation, subject, value }: HeaderLine): string =>
  `-- @${annotation}${subject === null ? '' : ` ${subject}`}: ${oneLine(value)}`

const LINE = /^--[ \t]*@([a-z_]+)(?:[ \t]*:[ \t]*|[ \t]+|$)(.*)$/i

/** The text of a model with these lines: in the place of those that they replace, else at its top. */
export function withHeader(text: string, lines: readonly HeaderLine[]): string {
  const ending = text.includes('\r\n') ? '\r' : ''
  let all: readonly string[] = text === '' ? [] : text.split('\n')
  const added: string[] = []
  for (const line of lines) {
    const header = all.slice(0, headerLength(all))
    const [at, ...more] = header.flatMap((old, i) => (isReplaced(old, line) ? [i] : []))
    if (at === undefined) added.push(lineOfHeader(line) + ending)
    else if (more.length > 0 || !isSame(header[at]!, line))
      all = all.flatMap((old, i) =>
        i === at ? [lineOfHeader(line) + ending] : more.includes(i) ? [] : [old],
      )
  }
  return [...added, ...all].join('\n')
}

/** But for the colon and spaces. */
function isSame(old: string, { subject, value }: HeaderLine): boolean {
  const [, , rest = ''] = LINE.exec(old.trimEnd()) ?? []
  return oneLine(rest) === `${subject === null ? '' : `${subject}: `}${oneLine(value)}`
}

/** Blank lines and comments at the top. */
function headerLength(lines: readonly string[]): number {
  const at = lines.findIndex((line) => !/^\s*(?:--.*)?$/.test(line))
  return at < 0 ? lines.length : at
}

function isReplaced(old: string, { annotation, subject, value, repeats }: HeaderLine): boolean {
  const [, name = '', rest = ''] = LINE.exec(old.trimEnd()) ?? []
  if (name.toLowerCase() !== annotation) return false
  if (repeats) return oneLine(rest) === oneLine(value)
  if (subject === null) return true
  const [, of = ''] = /^("(?:[^"]|"")*"|[^\s:]+)[ \t]*:/.exec(rest) ?? []
  return of.toLowerCase() === subject.toLowerCase()
}
