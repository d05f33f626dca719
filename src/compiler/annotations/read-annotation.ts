// Reads header annotations. A header line is a comment; what is read here is the text after its dashes. By hand and not
// by a grammar: building a grammar with ohm takes as long as compiling a small project.

import {
  type Comparison,
  type Fresh,
  type OnSchemaChange,
  type TimeUnit,
  timeUnits,
  type UpTo,
} from '../../core/model.ts'
import type { Span } from '../../core/source.ts'
import { COMMA, Mismatch, AnnotationReader } from './reader.ts'

/** A column that an annotation names, as written there. */
export interface NamedColumn {
  readonly name: string
  readonly span: Span
}

export interface AnnotationValues {
  readonly word: string
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
  readonly hierarchy: HierarchySyntax
}

interface HierarchySyntax {
  readonly name: NamedColumn
  readonly node: NamedColumn
  readonly parent: NamedColumn
}

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

/** A model that an annotation names, as written there but for its quotes. */
export interface NamedModel {
  readonly name: string
  readonly span: Span
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

type Forms = {
  readonly [Form in keyof AnnotationValues]: (r: AnnotationReader) => AnnotationValues[Form]
}

const forms: Forms = {
  word: (r) => r.expect(/[^ \t]+/y),
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
    r.expect(/[ \t]*:[ \t]*/y)
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
    const node = column(r)
    r.expect(/[ \t]+parent[ \t]+/y)
    return { name, node, parent: column(r) }
  },
  measure(r) {
    const measure = column(r)
    r.expect(/[ \t]*:[ \t]*/y)
    const start = r.offset
    return { measure, sql: { start, end: start + r.expect(/[^]+/y).length } }
  },
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
  const required = /[ \t]+NOT[ \t]+NULL$/i.exec(type)
  const given = required === null ? type : type.slice(0, required.index)
  return { is: 'column', column: name, type: given, nullable: required === null }
}

const OPEN = /[ \t]*\([ \t]*/y
const CLOSE = /[ \t]*\)/y
const BARE_NAME = /[\p{L}_][\p{L}0-9_$]*/uy
/** Ends at a quote that no other one follows: two stand for one within the name. */
const QUOTED_NAME = /"(?:""|[^"])+"(?!")/y
const QUOTED_TEXT = /'(?:''|[^'])*'(?!')/y

function column(r: AnnotationReader): NamedColumn {
  const start = r.offset
  const name = r.quoted(QUOTED_NAME) ?? r.expect(BARE_NAME)
  return { name, span: { start, end: r.offset } }
}

function model(r: AnnotationReader): NamedModel {
  const schema = column(r)
  r.expect(/\./y)
  const table = column(r)
  return {
    name: `${schema.name}.${table.name}`,
    span: { start: schema.span.start, end: table.span.end },
  }
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

const CHECK_CALL = new RegExp(`(?:${checkNames.join('|')})(?=[ \\t]*\\()`, 'y')

/** What begins like a call of a check is one; everything else is a condition in SQL. */
function check(r: AnnotationReader): CheckSyntax {
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
  const rest = is === 'row_count' ? null : r.take(/[ \t]+up to [^]*/y)
  if (rest === null) return {}
  const upTo = upToAtEnd(rest)
  if (upTo === null) throw new Mismatch(r.start(rest))
  return { upTo }
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

function literal(r: AnnotationReader): string | boolean {
  // Numbers stay texts, which DuckDB reads as values of the column's type: a JavaScript number would lose digits.
  const read = r.quoted(QUOTED_TEXT) ?? r.take(/-?[0-9]+(?:\.[0-9]+)?/y)
  return read ?? r.expect(/(?:true|false)(?![\p{L}0-9_$])/uy) === 'true'
}
