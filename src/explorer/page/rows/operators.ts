// Which questions a column can be asked in the filter row, and in which words.

import type { TestOperator, Test } from '../address/filter.ts'
import { isNumeric, isTemporal, type EntitySet } from '../model/schema.ts'
import { textOf, type Value } from '../model/value.ts'

export interface FilterColumn {
  readonly name: string
  readonly edm: string
  readonly kind: 'text' | 'number' | 'time' | 'boolean' | 'list' | 'one' | 'other'
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

const OPERATORS: Readonly<Record<FilterColumn['kind'], readonly TestOperator[]>> = {
  text: ['eq', 'ne', 'contains', 'startswith', 'in', 'empty', 'null', 'notnull'],
  number: ['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'between', 'in', 'null', 'notnull'],
  time: ['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'between', 'null', 'notnull'],
  boolean: ['eq', 'null', 'notnull'],
  list: ['has'],
  one: ['null', 'notnull'],
  other: ['eq', 'ne', 'null', 'notnull'],
}

/** Properties, and navigation to one, of which one can ask whether it is there. */
export function filterColumns(set: EntitySet): readonly FilterColumn[] {
  const properties = set.properties
    .filter(({ fields, isList }) => fields === undefined || isList)
    .filter(({ fields }) => fields === undefined)
    .map(({ name, edm, isList }) => ({ name, edm, kind: kindOf(edm, isList) }))
  const ones = set.navigations
    .filter(({ isMany }) => !isMany)
    .map(({ name }) => ({ name, edm: 'Edm.Untyped', kind: 'one' as const }))
  return [...properties, ...ones]
}

export function operatorsOf(column: FilterColumn): readonly TestOperator[] {
  return OPERATORS[column.kind]
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
export function hasSuggestions({ kind, edm }: FilterColumn): boolean {
  return kind !== 'list' && kind !== 'one' && edm !== 'Edm.Binary' && kind !== 'boolean'
}

export function suggestionText(value: Value | undefined): string | undefined {
  return value === null || value === undefined || value === '' ? undefined : textOf(value)
}

function kindOf(edm: string, isList: boolean): FilterColumn['kind'] {
  if (isList) return 'list'
  if (edm === 'Edm.String') return 'text'
  if (edm === 'Edm.Boolean') return 'boolean'
  if (isNumeric(edm)) return 'number'
  return isTemporal(edm) ? 'time' : 'other'
}

function shorten(text: string): string {
  return text.length <= 40 ? text : `${text.slice(0, 40)}…`
}
