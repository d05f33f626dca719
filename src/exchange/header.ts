// Lines of the header of a model file that come from elsewhere. Each is one line whatever stood there, so that a text of
// somebody else stays a comment. Checks and measures are SQL all the same, which every run executes: an import shows those
// whose SQL stands in the file.

import { annotationName } from '../core/names.ts'
import type { Span } from '../core/source-text.ts'
import { demandsOf, plainSql } from './check-text.ts'

export interface HeaderLine {
  readonly annotation: string
  /** The column or measure that it is about; null: the model. */
  readonly subject: string | null
  readonly value: string
  /** A check: there may be several, and one that demands the same is replaced. */
  readonly repeats?: true
  /** It is SQL, in one line already, whose spaces count: made here of names and values, or as it stands in the file. */
  readonly sql?: 'made' | 'told'
  /** The SQL that a measure must come to: people read this one, and it may be written in other words. */
  readonly means?: string
  /** Of what it came from, if that is neither the model as a whole nor the column that it is about. */
  readonly span?: Span
}

const oneLine = (text: string): string => text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()

/** None where nothing is said. */
export const headerLine = (
  annotation: string,
  subject: string | null,
  value: string | null | undefined,
): readonly HeaderLine[] =>
  value == null || oneLine(value) === '' ? [] : [{ annotation, subject, value }]

/** A check that the values of a column are those of a column of another model. */
export function referencesLine(
  column: string,
  model: string,
  target: string,
  span: Span,
): HeaderLine {
  const [schema, table] = model.split('.').map((part) => annotationName(part))
  const value = `references(${annotationName(column)}, ${schema}.${table}.${annotationName(target)})`
  return { annotation: 'check', subject: null, value, repeats: true, sql: 'made', span }
}

export function lineOfHeader(line: HeaderLine): string {
  const { annotation, subject } = line
  return `-- @${annotation}${subject === null ? '' : ` ${subject}`}: ${valueOf(line)}`
}

const valueOf = ({ sql, value }: HeaderLine) => (sql === undefined ? oneLine(value) : value)

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

/** But for the colon and spaces that say nothing. */
function isSame(old: string, { annotation, subject, value, sql }: HeaderLine): boolean {
  const [, name = '', rest = ''] = LINE.exec(old.trimEnd()) ?? []
  const plain = sql === undefined ? oneLine : plainSql
  const told = `${subject === null ? '' : `${subject}: `}${value}`
  return name.toLowerCase() === annotation && plain(rest) === plain(told)
}

/** Blank lines and comments at the top. */
function headerLength(lines: readonly string[]): number {
  const at = lines.findIndex((line) => !/^\s*(?:--.*)?$/.test(line))
  return at < 0 ? lines.length : at
}

const isCheck = (annotation: string) => /^(?:check|warn)$/i.test(annotation)

function isReplaced(old: string, { annotation, subject, value, repeats }: HeaderLine): boolean {
  const [, name = '', rest = ''] = LINE.exec(old.trimEnd()) ?? []
  if (repeats) return isCheck(name) && demandsOf(rest).join('\n') === demandsOf(value).join('\n')
  if (name.toLowerCase() !== annotation) return false
  if (subject === null) return true
  const [, of = ''] = /^("(?:[^"]|"")*"|[^\s:]+)[ \t]*:/.exec(rest) ?? []
  return of.toLowerCase() === subject.toLowerCase()
}

/** What is said of a column or a measure for people. */
export const wordLines = (
  subject: string,
  words: Readonly<
    Partial<Record<'description' | 'label' | 'unit' | 'format', string | null | undefined>>
  >,
): readonly HeaderLine[] => [
  ...headerLine('column', subject, words.description),
  ...headerLine('label', subject, words.label),
  ...headerLine('unit', subject, words.unit),
  ...headerLine('format', subject, words.format),
]
