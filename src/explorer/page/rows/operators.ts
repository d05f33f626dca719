// Which questions a column can be asked in the filter row, and in which words.

import type { TestOperator, Test } from '../address/filter.ts'
import { kindOf, type ColumnKind } from '../model/columns.ts'
import type { EntitySet } from '../model/schema.ts'

export interface FilterColumn {
  readonly name: string
  readonly edm: string
  readonly kind: ColumnKind | 'one'
}

export const OPERATOR_NAMES: Readonly<Record<TestOperator, string>> = {
  eq: '=',
  ne: '≠',
  lt: '<',
  le: '≤',
  gt: '>',
  ge: '≥',
  between: 'between',
  in: 'one of',
  contains: 'contains',
  startswith: 'starts with',
  has: 'contains',
  empty: 'is empty',
  null: 'is null',
  notnull: 'is not null',
}

const OTHERS = ['eq', 'ne', 'null', 'notnull'] as const
const TIMES = ['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'between', 'null', 'notnull'] as const

export const OPERATORS: Readonly<Record<FilterColumn['kind'], readonly TestOperator[]>> = {
  text: ['eq', 'ne', 'contains', 'startswith', 'in', 'empty', 'null', 'notnull'],
  number: ['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'between', 'in', 'null', 'notnull'],
  time: TIMES,
  clock: TIMES,
  duration: TIMES,
  boolean: ['eq', 'null', 'notnull'],
  list: ['has'],
  one: ['null', 'notnull'],
  id: OTHERS,
  bytes: OTHERS,
  struct: OTHERS,
}

/** Properties, and navigation to one, of which one can ask whether it is there. */
export function filterColumns(set: EntitySet): readonly FilterColumn[] {
  const properties = set.properties
    .filter(({ fields }) => fields === undefined)
    .map((property) => ({ name: property.name, edm: property.edm, kind: kindOf(property) }))
  const ones = set.navigations
    .filter(({ isMany }) => !isMany)
    .map(({ name }) => ({ name, edm: 'Edm.Untyped', kind: 'one' as const }))
  return [...properties, ...ones]
}

/** How many values an operator takes; a list of them is written with commas. */
export function valuesWanted(operator: TestOperator): 0 | 1 | 2 | 'many' {
  if (operator === 'empty' || operator === 'null' || operator === 'notnull') return 0
  if (operator === 'between') return 2
  return operator === 'in' ? 'many' : 1
}

export function describeTest({ column, operator, values }: Test): string {
  const shown = values.map((value) => (value === '' ? '(empty)' : shorten(value)))
  const name = OPERATOR_NAMES[operator]
  if (operator === 'between') return `${column} ${name} ${shown[0]} and ${shown[1]}`
  return [column, name, shown.join(', ')].filter(Boolean).join(' ')
}

/** Lists and bytes are not grouped by, so there is nothing to suggest. */
export function hasSuggestions({ kind }: FilterColumn): boolean {
  return !['list', 'one', 'bytes', 'boolean'].includes(kind)
}

function shorten(text: string): string {
  return text.length <= 40 ? text : `${text.slice(0, 40)}…`
}
