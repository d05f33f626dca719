// The filter row and `$filter`. What the row cannot show as a column, an operator and a value stays a condition of text,
// so that no address loses a part of its filter by being opened.

import { rangeBetween, rangeFilter } from './time-range.ts'
import { readLiteral, splitTopLevel, stripParentheses, writeLiteral } from './literal.ts'

export const OPERATOR_NAMES = {
  eq: '=',
  ne: '≠',
  lt: '<',
  le: '≤',
  gt: '>',
  ge: '≥',
  within: 'in',
  between: 'between',
  in: 'one of',
  contains: 'contains',
  startswith: 'starts with',
  has: 'contains',
  empty: 'is empty',
  null: 'is null',
  notnull: 'is not null',
} as const

export type TestOperator = keyof typeof OPERATOR_NAMES

export interface Test {
  readonly kind: 'test'
  /** A property or a navigation property, or a path along those to one. */
  readonly column: string
  readonly operator: TestOperator
  /** None for `empty`, `null` and `notnull`, two for `between` and for the days of `within`, any number for `in`, else one. */
  readonly values: readonly string[]
}

interface FreeText {
  readonly kind: 'text'
  readonly text: string
}

export type Condition = Test | FreeText

/** The primitive type of a column or of the items of a list; undefined for what the page does not know. */
export type TypeOfColumn = (column: string) => string | undefined

export function writeFilter(conditions: readonly Condition[], typeOf: TypeOfColumn): string {
  const parts = conditions.map((one) => writeCondition(one, typeOf)).filter((part) => part !== '')
  return parts.join(' and ')
}

export function readFilter(filter: string, typeOf: TypeOfColumn): readonly Condition[] {
  const clauses = splitTopLevel(filter.trim(), ' and ').filter((clause) => clause !== '')
  return joinRanges(
    clauses.map((clause) => readClause(clause, typeOf)),
    typeOf,
  )
}

function writeCondition(condition: Condition, typeOf: TypeOfColumn): string {
  if (condition.kind === 'text') return writeText(condition.text)
  const { column, operator, values } = condition
  const type = typeOf(column) ?? 'Edm.String'
  if (operator === 'within') return rangeFilter(column, type, { from: values[0]!, to: values[1]! })
  const literals = values.map((value) => writeLiteral(value, type))
  const [first = '', second = ''] = literals
  const written: Partial<Record<TestOperator, string>> = {
    null: `${column} eq null`,
    notnull: `${column} ne null`,
    empty: `${column} eq ''`,
    contains: `contains(${column},${first})`,
    startswith: `startswith(${column},${first})`,
    has: `${first} in ${column}`,
    in: `${column} in (${literals.join(',')})`,
    between: `${column} ge ${first} and ${column} le ${second}`,
  }
  return written[operator] ?? `${column} ${operator} ${first}`
}

/** Without parentheses an `or` would include the conditions next to it. */
function writeText(text: string): string {
  const bare = text.trim()
  return splitTopLevel(bare, ' or ').length > 1 ? `(${bare})` : bare
}

function readClause(clause: string, typeOf: TypeOfColumn): Condition {
  const text = stripParentheses(clause)
  const found = readTest(text)
  // For a column of another type the same text would come back with other quotes, and mean something else.
  const isFaithful =
    found !== undefined &&
    writeCondition(found, typeOf) === text &&
    typeOf(found.column) !== undefined
  return isFaithful ? found : { kind: 'text', text }
}

const COMPARISON = /^([\p{L}_][\p{L}\p{N}_/]*) (eq|ne|lt|le|gt|ge) (.+)$/su
const FUNCTION = /^(contains|startswith)\(([\p{L}_][\p{L}\p{N}_/]*),(.+)\)$/su
const MEMBER = /^([\p{L}_][\p{L}\p{N}_/]*) in \((.+)\)$/su
const LIST = /^(.+) in ([\p{L}_][\p{L}\p{N}_/]*)$/su

function readTest(text: string): Test | undefined {
  const comparison = COMPARISON.exec(text)
  if (comparison !== null) return test(comparison[1]!, comparison[2]!, [comparison[3]!])
  const call = FUNCTION.exec(text)
  if (call !== null) return test(call[2]!, call[1]!, [call[3]!])
  const member = MEMBER.exec(text)
  if (member !== null) return test(member[1]!, 'in', splitTopLevel(member[2]!, ','))
  const list = LIST.exec(text)
  return list === null ? undefined : test(list[2]!, 'has', [list[1]!])
}

function test(column: string, operator: string, texts: readonly string[]): Test | undefined {
  const made = (of: string, values: readonly string[]) =>
    ({ kind: 'test', column, operator: of as TestOperator, values }) as const
  const literals = texts.map(readLiteral)
  const [first] = literals
  if (first?.kind === 'null' && operator === 'eq') return made('null', [])
  if (first?.kind === 'null' && operator === 'ne') return made('notnull', [])
  if (literals.some((one) => one === undefined || one.kind === 'null')) return undefined
  if (operator === 'eq' && first?.kind === 'text' && first.text === '') return made('empty', [])
  return made(
    operator,
    literals.map((one) => one!.text),
  )
}

/** `a ge 1 and a le 5` is one condition of the row, and so are the bounds of whole days. */
function joinRanges(conditions: readonly Condition[], typeOf: TypeOfColumn): readonly Condition[] {
  const result: Condition[] = []
  for (const condition of conditions) {
    const joined = joinedRange(result.at(-1), condition, typeOf)
    if (joined === undefined) result.push(condition)
    else result[result.length - 1] = joined
  }
  return result
}

function joinedRange(
  lower: Condition | undefined,
  upper: Condition,
  typeOf: TypeOfColumn,
): Test | undefined {
  if (lower?.kind !== 'test' || upper.kind !== 'test' || lower.column !== upper.column)
    return undefined
  if (lower.operator !== 'ge') return undefined
  const [from = '', to = ''] = [...lower.values, ...upper.values]
  const bound = { operator: upper.operator, value: to }
  const days = rangeBetween(from, bound, typeOf(lower.column))
  if (days !== undefined) return { ...lower, operator: 'within', values: [days.from, days.to] }
  return upper.operator === 'le' ? { ...lower, operator: 'between', values: [from, to] } : undefined
}
