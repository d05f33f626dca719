// Reads header annotations. A header line is a comment; what is read here is the text after its dashes. By hand and not
// by a grammar: building a grammar with ohm takes as long as compiling a small project.

import { type Fresh, type OnSchemaChange, type TimeUnit, timeUnits } from '../../core/model.ts'
import type { Span } from '../../core/source-text.ts'
import { check, type CheckSyntax } from './check-syntax.ts'
import {
  AnnotationReader,
  CLOSE,
  column,
  Mismatch,
  model,
  type NamedColumn,
  type NamedModel,
  OPEN,
} from './reader.ts'

export interface AnnotationValues {
  readonly word: string
  readonly words: readonly NamedColumn[]
  readonly text: string
  readonly column: NamedColumn
  readonly columns: readonly NamedColumn[]
  readonly optionalColumns: readonly NamedColumn[]
  readonly incremental: { readonly column: NamedColumn; readonly lookback: string | null }
  readonly period: PeriodSyntax
  /** The column of `latest`; null for `fail`. */
  readonly onDuplicate: NamedColumn | null
  readonly deletes: 'keep' | 'mirror' | 'close'
  readonly onSchemaChange: OnSchemaChange
  readonly rebuild: 'always'
  /** `column`: null where none is named. */
  readonly keep: { readonly age: string; readonly column: NamedColumn | null }
  readonly fresh: Fresh
  readonly check: CheckSyntax
  readonly models: readonly NamedModel[]
  readonly contract: ContractTerm
  readonly rename: { readonly column: NamedColumn; readonly from: NamedColumn }
  readonly columnText: { readonly column: NamedColumn; readonly text: string }
  readonly columnPair: { readonly column: NamedColumn; readonly other: NamedColumn }
  readonly measure: MeasureSyntax
  /** Dimensions, and at most one unit of time. */
  readonly rollup: readonly NamedColumn[]
  readonly hierarchy: HierarchySyntax
}

/** Nodes with the key of the row above, or columns from the coarsest level to the finest. */
type HierarchySyntax = { readonly name: NamedColumn } & (
  | { readonly node: NamedColumn; readonly parent: NamedColumn }
  | { readonly levels: readonly NamedColumn[] }
)

/** `sql`: an expression, with `where` and a condition after it, if any. */
interface MeasureSyntax {
  readonly measure: NamedColumn
  readonly sql: Span
}

interface PeriodSyntax {
  readonly every: TimeUnit | number
  readonly column: NamedColumn
  readonly lookback: string | null
}

/** One line of what an exposed model promises. `nothing`: it is still to be written down. */
export type ContractTerm =
  | { readonly is: 'nothing' }
  | { readonly is: 'key'; readonly columns: readonly string[] }
  | {
      readonly is: 'column'
      readonly column: string
      readonly type: string
      readonly nullable: boolean
    }

interface Failure {
  /** Offset of what could not be read. */
  readonly failedAt: number
}

interface AnnotationParts {
  readonly name: string
  readonly nameEnd: number
  readonly value: string
  readonly valueStart: number
}

/** Takes `@name: value`, `@name value` and `@name`. */
export function readParts(text: string): AnnotationParts | Failure {
  const named = /^@(\p{L}[\p{L}0-9_]*)/u.exec(text)
  if (named === null) return { failedAt: text.startsWith('@') ? 1 : 0 }
  const nameEnd = named[0].length
  const separator = /^(?:[ \t]*:[ \t]*|[ \t]+|$)/.exec(text.slice(nameEnd))
  if (separator === null) return { failedAt: nameEnd }
  const valueStart = nameEnd + separator[0].length
  return { name: named[1]!, nameEnd, value: text.slice(valueStart), valueStart }
}

/** Reads all of `text` as a value of that form. `base` is the offset of the value in its file. */
export function readValue<Form extends keyof AnnotationValues>(
  form: Form,
  text: string,
  base: number,
): { readonly value: AnnotationValues[Form] } | Failure {
  const reader = new AnnotationReader(text, base)
  try {
    const value = forms[form](reader)
    reader.end()
    return { value }
  } catch (error) {
    if (error instanceof Mismatch) return { failedAt: error.at }
    throw error
  }
}

/** A value in which capitals are all that is wrong, without them; null: another one. Names of columns are the same in both. */
export function inLowerCase(form: keyof AnnotationValues, text: string): string | null {
  const lower = text.toLowerCase()
  return lower === text || 'failedAt' in readValue(form, lower, 0) ? null : lower
}

const UNITS: Readonly<Record<string, string>> = {
  s: 'second',
  m: 'minute',
  h: 'hour',
  d: 'day',
  w: 'week',
}

/** What has `5m` or `90d` in it, with the words; undefined for anything else. */
export function longTime(value: string): string | undefined {
  const long = value.replace(/\b(\d+) ?([smhdw])\b/, (_, count: string, unit: string) => {
    return `${count} ${UNITS[unit]}${count === '1' ? '' : 's'}`
  })
  return long === value ? undefined : long
}

export interface Misread {
  readonly name: string
  readonly form: keyof AnnotationValues
  readonly value: string
  /** Where the reading ended, in characters of the value. */
  readonly at: number
}

type Forms = {
  readonly [Form in keyof AnnotationValues]: (r: AnnotationReader) => AnnotationValues[Form]
}

const forms: Forms = {
  word: (r) => r.expect(/[^ \t]+/y),
  words: (r) => r.list(column),
  text: (r) => r.expect(/[^]+/y),
  column,
  columns: (r) => r.list(column),
  optionalColumns: (r) => (r.isAtEnd() ? [] : r.list(column)),
  incremental,
  period,
  onDuplicate: (r) => (r.take(/fail/y) === null ? latest(r) : null),
  deletes: (r) => r.expect(/keep|mirror|close/y) as AnnotationValues['deletes'],
  keep,
  fresh,
  rebuild: (r) => r.expect(/always/y) as 'always',
  onSchemaChange: (r) => r.expect(/evolve|keep|rebuild|fail/y) as OnSchemaChange,
  check,
  models: (r) => r.list(model),
  contract,
  rename(r) {
    const named = column(r)
    r.expect(/[ \t]*:[ \t]*/y)
    return { column: named, from: column(r) }
  },
  columnText(r) {
    const described = column(r)
    r.expect(/\s*:\s*/y)
    return { column: described, text: r.expect(/[^]+/y) }
  },
  columnPair(r) {
    const named = column(r)
    r.expect(/[ \t]*:[ \t]*/y)
    return { column: named, other: column(r) }
  },
  hierarchy(r) {
    const name = column(r)
    r.expect(/[ \t]*:[ \t]*/y)
    const first = column(r)
    const levels = [first]
    while (r.take(/[ \t]*>[ \t]*/y) !== null) levels.push(column(r))
    if (levels.length > 1) return { name, levels }
    r.expect(/[ \t]+parent[ \t]+/y)
    return { name, node: first, parent: column(r) }
  },
  measure(r) {
    const measure = column(r)
    r.expect(/[ \t]*:[ \t]*/y)
    const start = r.offset
    return { measure, sql: { start, end: start + r.expect(/[^]+/y).length } }
  },
  rollup: (r) => r.list(column),
}

function contract(r: AnnotationReader): ContractTerm {
  if (r.isAtEnd()) return { is: 'nothing' }
  if (r.take(/key(?=[ \t]*\()/iy) !== null) {
    r.expect(OPEN)
    const columns = r.list(column).map(({ name }) => name)
    r.expect(CLOSE)
    return { is: 'key', columns }
  }
  const { name } = column(r)
  r.expect(/[ \t]+/y)
  const type = r.expect(/[^ \t].*/y)
  const comma = listComma(type)
  if (comma >= 0) throw new Mismatch(r.start(type) + comma)
  const required = /[ \t]+NOT[ \t]+NULL$/i.exec(type)
  const given = required === null ? type : type.slice(0, required.index)
  return { is: 'column', column: name, type: given, nullable: required === null }
}

/** Where a second column would begin; a comma within parentheses is part of a type. -1: nowhere. */
function listComma(type: string): number {
  let depth = 0
  for (let i = 0; i < type.length; i++) {
    if ('([{'.includes(type[i]!)) depth++
    else if (')]}'.includes(type[i]!)) depth--
    else if (type[i] === ',' && depth === 0) return i
  }
  return -1
}

function incremental(r: AnnotationReader): AnnotationValues['incremental'] {
  return { column: column(r), lookback: lookback(r) }
}

const PERIOD_UNIT = new RegExp(`(?:${timeUnits.join('|')})(?=[ \\t])`, 'y')

function period(r: AnnotationReader): PeriodSyntax {
  const number = r.take(/[1-9][0-9]{0,14}(?=[ \t])/y)
  const every = number === null ? (r.expect(PERIOD_UNIT) as TimeUnit) : Number(number)
  r.expect(/[ \t]+of[ \t]+/y)
  return { every, column: column(r), lookback: lookback(r) }
}

/** null: there is none. */
function lookback(r: AnnotationReader): string | null {
  if (r.take(/[ \t]+/y) === null) return null
  r.expect(/lookback/y)
  r.expect(/[ \t]+/y)
  const number = r.expect(/[0-9]+/y)
  const blanks = r.take(/[ \t]+/y)
  if (blanks === null) return number
  const unit = r.expect(/(?:second|minute|hour|day|week|month|year)s?/y)
  return number + blanks + unit
}

function keep(r: AnnotationReader): AnnotationValues['keep'] {
  const number = r.expect(/[1-9][0-9]{0,4}/y)
  const blanks = r.expect(/[ \t]+/y)
  const age = number + blanks + r.expect(/(?:hour|day|week|month|year)s?/y)
  if (r.take(/[ \t]+of[ \t]+/y) === null) return { age, column: null }
  return { age, column: column(r) }
}

const UNIT_SECONDS = { s: 1, m: 60, h: 3_600, d: 86_400 } as const

function fresh(r: AnnotationReader): Fresh {
  const number = r.expect(/[1-9][0-9]{0,4}/y)
  const unit = r.expect(/[ \t]+(?:seconds?|s|minutes?|hours?|days?)/y).trim()
  const seconds = Number(number) * UNIT_SECONDS[unit[0] as keyof typeof UNIT_SECONDS]
  return { text: `${number} ${unit}`, seconds }
}

function latest(r: AnnotationReader): NamedColumn {
  r.expect(/latest/y)
  r.expect(OPEN)
  const newest = column(r)
  r.expect(CLOSE)
  return newest
}
