// Checks as rules of quality, and back. A metric of the standard where there is one, the SQL that counts what must not be
// where a check is a condition, else the check as it is written, which only eider reads.

import { isMap, type Node } from 'yaml'
import { mostPercent } from '../../compiler/annotations/check-syntax.ts'
import type { Check, CheckTest, Comparison, UpTo } from '../../core/model.ts'
import { annotationName, entitySetName } from '../../core/names.ts'
import { hasComment, inOneLine } from '../check-text.ts'
import type { HeaderLine } from '../header.ts'
import { logicalOf } from './types.ts'

export interface QualityRules {
  readonly ofColumns: ReadonlyMap<string, readonly object[]>
  readonly ofSet: readonly object[]
  /** Column to `set.column`. */
  readonly references: ReadonlyMap<string, readonly string[]>
}

const comparisons = {
  '=': 'mustBe',
  '<>': 'mustNotBe',
  '<': 'mustBeLessThan',
  '<=': 'mustBeLessOrEqualTo',
  '>': 'mustBeGreaterThan',
  '>=': 'mustBeGreaterOrEqualTo',
} as const satisfies Readonly<Record<Comparison, string>>

const [BEFORE, AFTER] = ['SELECT count(*) FROM ${table} WHERE NOT (', ')']

/** `sets`: those to which a reference may lead. */
export function rulesOf(checks: readonly Check[], sets: ReadonlySet<string>): QualityRules {
  const ofColumns = new Map<string, object[]>()
  const references = new Map<string, string[]>()
  const ofSet: object[] = []
  for (const check of checks) {
    if (check.on !== undefined) continue // of a source
    const { columns, rule } = ruleOf(check, sets)
    if (columns === null) ofSet.push(rule)
    else for (const column of columns) append(ofColumns, column, rule)
    const { test } = check
    if (columns?.length === 0 && test.is === 'references')
      append(references, test.column, `${entitySetName(test.model)}.${test.target}`)
  }
  return { ofColumns, ofSet, references }
}

function append<T>(into: Map<string, T[]>, key: string, value: T): void {
  into.set(key, [...(into.get(key) ?? []), value])
}

/** `columns`: those that have the rule; null: the set has it. */
function ruleOf(check: Check, sets: ReadonlySet<string>) {
  const { severity, text, test, where, upTo, source } = check
  const common = severity === 'warn' ? { severity: 'warning' } : {}
  const isPlain = where === undefined && source === undefined
  const own = {
    columns: null,
    rule: { type: 'custom', engine: 'eider', implementation: text, ...common },
  }
  if (source !== undefined) return { columns: null, rule: { type: 'text', description: text } }
  if (!isPlain) return own
  const bound = { ...boundOf(upTo), ...common }
  switch (test.is) {
    case 'not_null':
      // Each of them may be NULL in as many rows: that is another check.
      if (upTo !== undefined && test.columns.length > 1) return own
      return { columns: test.columns, rule: { metric: 'nullValues', ...bound } }
    case 'unique':
      return uniqueRule(test.columns, bound)
    case 'accepted': {
      const named = { metric: 'invalidValues', arguments: { validValues: valuesOf(test) } }
      return { columns: [test.column], rule: { ...named, ...bound } }
    }
    case 'row_count': {
      const rule = { metric: 'rowCount', [comparisons[test.comparison]]: test.rows, ...common }
      return { columns: null, rule }
    }
    case 'condition': {
      if (upTo !== undefined || hasComment(text)) return own
      const rule = { type: 'sql', query: `${BEFORE}${text}${AFTER}`, mustBe: 0, ...common }
      return { columns: null, rule }
    }
    case 'references': {
      const isLink =
        upTo === undefined && severity === 'fail' && sets.has(entitySetName(test.model))
      return isLink && isShort(test) ? { columns: [], rule: {} } : own
    }
    case 'query':
      return own
  }
}

/** Numbers where the column has numbers, as far as they are the same in other programs. */
function valuesOf({ type, values }: Extract<CheckTest, { is: 'accepted' }>) {
  const isNumber = ['integer', 'number'].includes(logicalOf(type) ?? '')
  return values.map((value) =>
    isNumber && String(Number(value)) === value ? Number(value) : value,
  )
}

function uniqueRule(columns: readonly string[], bound: object) {
  const metric = 'duplicateValues'
  return columns.length === 1
    ? { columns, rule: { metric, ...bound } }
    : { columns: null, rule: { metric, arguments: { properties: columns }, ...bound } }
}

/** The standard has no other names in its short references. */
export const SHORT_NAME = /^([A-Za-z_]\w*)\.([A-Za-z_]\w*)$/

const isShort = ({ model, target }: Extract<CheckTest, { is: 'references' }>): boolean =>
  SHORT_NAME.test(`${entitySetName(model)}.${target}`)

const boundOf = (upTo: UpTo | undefined) =>
  upTo === undefined ? { mustBe: 0 } : { mustBeLessOrEqualTo: upTo.most, unit: upTo.unit }

interface ReadRule {
  readonly lines: readonly HeaderLine[]
  /** Members of which nothing is taken; null: nothing stands for the rule. */
  readonly left: readonly string[] | null
}

const NOTHING: ReadRule = { lines: [], left: null }

/** What a rule is called, and what only people read. */
const inert = ['type', 'metric', 'rule', 'severity', 'id', 'name', 'description', 'dimension']

/** `column`: whose rule it is; null: that of a set. */
export function readRule(node: Node, column: string | null): ReadRule {
  if (!isMap(node)) return NOTHING
  const rule = node.toJSON() as Rule
  const read = textsOf(rule, column)
  const values = read.texts.map(inOneLine)
  if (values.length === 0 || values.includes(null)) return NOTHING
  const annotation = ['warning', 'info'].includes(String(rule['severity'])) ? 'warn' : 'check'
  const sql = read.isTold ? 'told' : 'made'
  const lines = values.map((value): HeaderLine => {
    return { annotation, subject: null, value: value!, repeats: true, sql }
  })
  const taken = [...inert, ...read.taken]
  const left = Object.keys(rule).flatMap((member) =>
    member === 'arguments'
      ? Object.keys(argumentsOf(rule))
          .map((name) => `arguments.${name}`)
          .filter((name) => !taken.includes(name))
      : taken.includes(member)
        ? []
        : [member],
  )
  return { lines, left }
}

type Rule = Readonly<Record<string, unknown>>

const argumentsOf = (rule: Rule): Rule => (rule['arguments'] ?? {}) as Rule

interface ReadTexts {
  /** Empty: nothing stands for the rule. */
  readonly texts: readonly string[]
  /** Members that they are made of. */
  readonly taken: readonly string[]
  /** The text stands in the file. */
  readonly isTold?: true
}

const NO_TEXTS: ReadTexts = { texts: [], taken: [] }

function textsOf(rule: Rule, column: string | null): ReadTexts {
  const { type, engine, implementation, query, metric, rule: oldMetric } = rule
  if (type === 'custom' || engine !== undefined)
    return engine === 'eider' && typeof implementation === 'string'
      ? { texts: [implementation], taken: ['engine', 'implementation'], isTold: true }
      : NO_TEXTS
  if (type === 'sql' || query !== undefined) {
    const isOurs = typeof query === 'string' && query.startsWith(BEFORE) && query.endsWith(AFTER)
    if (!isOurs || rule['mustBe'] !== 0) return NO_TEXTS
    const text = query.slice(BEFORE.length, -AFTER.length)
    return { texts: [text], taken: ['query', 'mustBe'], isTold: true }
  }
  const named = metric ?? oldMetric
  if (named === 'rowCount') return rowCountTexts(rule)
  const bounds = boundsOf(rule, mostPercent(named === 'duplicateValues' ? 'unique' : 'condition'))
  const columns = columnsOf(rule, column)
  const { validValues } = argumentsOf(rule)
  const test = testText(named, columns, validValues)
  if (test === null) return NO_TEXTS
  return {
    texts: bounds.map(({ text }) => `${test}${text}`),
    taken: [
      'unit',
      ...bounds.map(({ member }) => member),
      ...(named === 'invalidValues' ? ['arguments.validValues'] : []),
      ...(column === null ? ['arguments.properties'] : []),
    ],
  }
}

function testText(
  metric: unknown,
  columns: readonly string[],
  validValues: unknown,
): string | null {
  if (columns.length === 0) return null
  const list = columns.map(annotationName).join(', ')
  if (metric === 'nullValues') return `not_null(${list})`
  if (metric === 'duplicateValues') return `unique(${list})`
  if (metric !== 'invalidValues' || columns.length > 1) return null
  if (!Array.isArray(validValues) || validValues.length === 0) return null
  const values = validValues.map(valueText)
  return values.includes(null) ? null : `accepted(${list}, ${values.join(', ')})`
}

const valueText = (value: unknown): string | null =>
  typeof value === 'string'
    ? `'${value.replaceAll("'", "''")}'`
    : typeof value === 'boolean' || (typeof value === 'number' && DECIMAL.test(String(value)))
      ? String(value)
      : null

const DECIMAL = /^-?\d+(?:\.\d+)?$/

function columnsOf(rule: Rule, column: string | null): readonly string[] {
  if (column !== null) return [column]
  const { properties } = argumentsOf(rule)
  return Array.isArray(properties) ? properties.filter((one) => typeof one === 'string') : []
}

function rowCountTexts(rule: Rule): ReadTexts {
  const found = Object.entries(comparisons).filter(
    ([, member]) => Number.isSafeInteger(rule[member]) && Number(rule[member]) >= 0,
  )
  return {
    texts: found.map(([sign, member]) => `row_count(${sign} ${String(rule[member])})`),
    taken: found.map(([, member]) => member),
  }
}

/** What follows a check, once for each bound that can be said. `all`: the percentage that is never exceeded. */
function boundsOf(rule: Rule, all: number) {
  const { mustBe, mustBeLessOrEqualTo: most, mustBeLessThan: below, unit = 'rows' } = rule
  const isRows = unit === 'rows'
  return [
    ...(mustBe === 0 ? [{ member: 'mustBe', text: '' }] : []),
    ...upToText('mustBeLessOrEqualTo', most, unit, all),
    ...upToText(
      'mustBeLessThan',
      typeof below === 'number' && isRows ? Math.ceil(below) - 1 : null,
      unit,
      all,
    ),
  ]
}

function upToText(member: string, most: unknown, unit: unknown, all: number) {
  if (typeof most !== 'number' || most < 0 || !DECIMAL.test(String(most))) return []
  // One that never fails is no check here.
  if (unit === 'percent') return most < all ? [{ member, text: ` up to ${most}%` }] : []
  return unit === 'rows' ? [{ member, text: ` up to ${Math.floor(most)} rows` }] : []
}
