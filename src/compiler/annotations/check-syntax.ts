// A check in an annotation: how it is written, and what is read of it.

import type { Check, Comparison, UpTo } from '../../core/model.ts'
import type { Span } from '../../core/source-text.ts'
import {
  type AnnotationReader,
  CLOSE,
  column,
  COMMA,
  Mismatch,
  model,
  type NamedColumn,
  type NamedModel,
  OPEN,
} from './reader.ts'

/** The checks that are written like calls, each by an example. */
export const checkExamples = {
  not_null: 'not_null(a, b)',
  unique: 'unique(a, b)',
  accepted: "accepted(a, 'x', 'y')",
  references: 'references(a, schema.model.column)',
  row_count: 'row_count(> 0)',
} as const satisfies Record<Exclude<CheckForm['is'], 'condition'>, string>

export type CheckName = keyof typeof checkExamples

export const checkNames = Object.keys(checkExamples) as readonly CheckName[]

/** `condition`: the whole value is SQL, but for what follows it. `where`: a condition in SQL. */
export type CheckSyntax = CheckForm & { readonly where?: Span; readonly upTo?: UpToSyntax }

interface UpToSyntax extends UpTo {
  /** Characters at the end of the value. */
  readonly length: number
}

type CheckForm =
  | { readonly is: 'not_null' | 'unique'; readonly columns: readonly NamedColumn[] }
  | {
      readonly is: 'accepted'
      readonly column: NamedColumn
      readonly values: readonly (string | boolean)[]
    }
  | {
      readonly is: 'references'
      readonly column: NamedColumn
      readonly model: NamedModel
      readonly target: NamedColumn
    }
  | { readonly is: 'row_count'; readonly comparison: Comparison; readonly rows: number }
  | { readonly is: 'condition' }

const CHECK_CALL = new RegExp(`(?:${checkNames.join('|')})(?=[ \\t]*\\()`, 'y')

/** What begins like a call of a check is one; everything else is a condition in SQL. */
export function check(r: AnnotationReader): CheckSyntax {
  const is = r.take(CHECK_CALL) as CheckName | null
  if (is === null) {
    const upTo = upToAtEnd(r.expect(/[^]+/y))
    return { is: 'condition', ...(upTo === null ? {} : { upTo }) }
  }
  r.expect(OPEN)
  const read = checkArguments[is](r)
  r.expect(CLOSE)
  if (r.take(/[ \t]+where[ \t]+/iy) === null) return { ...read, ...boundOf(is, r) }
  const start = r.offset
  const text = r.expect(/[^]+/y)
  const upTo = is === 'row_count' ? null : upToAtEnd(text)
  const where = { start, end: start + text.length - (upTo?.length ?? 0) }
  return { ...read, where, ...(upTo === null ? {} : { upTo }) }
}

/** `row_count` counts rows itself. */
function boundOf(is: CheckName, r: AnnotationReader): Pick<CheckSyntax, 'upTo'> {
  const rest = is === 'row_count' ? null : r.take(/[ \t]+up[ \t]+to\b[^]*/iy)
  if (rest === null) return {}
  const upTo = upToAtEnd(rest)
  if (upTo === null) throw new Mismatch(r.start(rest))
  return { upTo }
}

/** What to write for a check that cannot be read from `at` on. */
export function misreadCheck(text: string, at: number): string | undefined {
  const [before, rest] = [text.slice(0, at), text.slice(at)]
  const [start = '', accepted] =
    /^accepted[ \t]*\([ \t]*("(?:[^"]|"")+"|[^\s,()]+)[ \t]*,/.exec(before) ?? []
  if (accepted !== undefined) {
    const [, quoted, word, after] =
      /^(?:"([^"]*)"|([\p{L}_][\p{L}0-9_-]*))[ \t]*([,)])/u.exec(rest) ?? []
    const earlier = before.slice(start.length).trimStart()
    const value = quoted ?? word
    if (value !== undefined)
      return `text goes in single quotes: accepted(${accepted}, ${earlier}'${value.replaceAll("'", "''")}'${after === ',' ? ', …' : ''})`
    if (/^[[(]/.test(rest)) return `list the values alone: ${checkExamples.accepted}`
  }
  const [, column, named] =
    /^references[ \t]*\([ \t]*([^\s,()]+)[ \t]*,[ \t]*([^\s,().]+\.[^\s,().]+)$/.exec(before) ?? []
  if (column !== undefined && /^[ \t]*\)/.test(rest))
    return `name the column there too, such as references(${column}, ${named}.${column})`
  if (!/\)[ \t]*$/.test(before)) return undefined
  if (/^(?:when|if|filter)\b/i.test(rest))
    return `the rows that it looks at follow where: ${before.trim()} where …`
  if (!/^up[ \t]+to\b/i.test(rest)) return otherBound(rest)
  return before.startsWith('row_count')
    ? 'row_count has no up to: it says itself how many rows there may be'
    : wayToBound(rest)
}

/** The percentage that a check of this form never exceeds: each key that occurs twice has two rows at least. */
export const mostPercent = (is: Check['test']['is']): number => (is === 'unique' ? 50 : 100)

/** What to write instead of `up to 10` or another bound that is not understood. */
export function wayToBound(text: string): string {
  const [, rows] = /^up[ \t]+to[ \t]+(\d+)$/i.exec(text.trim()) ?? []
  if (rows !== undefined) return `write up to ${rows} rows, or a share of the rows: up to 1%`
  return 'write a number of rows or a small share: up to 10 rows, up to 1%'
}

/** `upto 5%`, which is not how a bound is written. */
export function otherBound(text: string): string | undefined {
  const [, most, unit = ' rows'] =
    /^(?:upto|up[-_]to|max|at[ \t]+most)[ \t]*:?[ \t]*(\d+(?:\.\d+)?)[ \t]*(%|rows?)?[ \t]*$/i.exec(
      text,
    ) ?? []
  if (most === undefined) return undefined
  return `write up to ${most}${unit === '%' ? '%' : ' rows'}`
}

const UP_TO = /(?:^|[ \t]+)up[ \t]+to[ \t]+(\d+(?:\.\d+)?)[ \t]*(%|rows?)[ \t]*$/i

/** `up to 10 rows`, `up to 1%`: how much a check may find. null: nothing of the kind. */
export function upToAtEnd(text: string): UpToSyntax | null {
  const [whole, most = '', unit] = UP_TO.exec(text) ?? []
  if (whole === undefined) return null
  return { most: Number(most), unit: unit === '%' ? 'percent' : 'rows', length: whole.length }
}

const checkArguments: { readonly [Name in CheckName]: (r: AnnotationReader) => CheckForm } = {
  not_null: (r) => ({ is: 'not_null', columns: r.list(column) }),
  unique: (r) => ({ is: 'unique', columns: r.list(column) }),
  accepted(r) {
    const checked = column(r)
    r.expect(COMMA)
    return { is: 'accepted', column: checked, values: r.list(literal) }
  },
  references(r) {
    const checked = column(r)
    r.expect(COMMA)
    const referenced = model(r)
    r.expect(/\./y)
    return { is: 'references', column: checked, model: referenced, target: column(r) }
  },
  row_count(r) {
    const comparison = r.expect(/>=|<=|<>|>|<|=/y) as Comparison
    r.expect(/[ \t]*/y)
    return { is: 'row_count', comparison, rows: Number(r.expect(/[0-9]+/y)) }
  },
}

const QUOTED_TEXT = /'(?:''|[^'])*'(?!')/y

function literal(r: AnnotationReader): string | boolean {
  // Numbers stay texts, which DuckDB reads as values of the column's type: a JavaScript number would lose digits.
  const read = r.quoted(QUOTED_TEXT) ?? r.take(/-?[0-9]+(?:\.[0-9]+)?/y)
  return read ?? r.expect(/(?:true|false)(?![\p{L}0-9_$])/uy) === 'true'
}
