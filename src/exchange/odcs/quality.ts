// Checks as rules of quality, and back. A metric of the standard where there is one, the SQL that counts what must not be
// where a check is a condition, else the check as it is written, which only eider reads.

import { isMap, type Node } from 'yaml'
import type { Check, CheckTest, Comparison, UpTo } from '../../core/model.ts'
import { annotationName, entitySetName } from '../../core/names.ts'
import type { HeaderLine } from '../header.ts'

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
      return { columns: test.columns, rule: { metric: 'nullValues', ...bound } }
    case 'unique':
      return uniqueRule(test.columns, bound)
    case 'accepted': {
      const named = { metric: 'invalidValues', arguments: { validValues: test.values } }
      return { columns: [test.column], rule: { ...named, ...bound } }
    }
    case 'row_count': {
      const rule = { metric: 'rowCount', [comparisons[test.comparison]]: test.rows, ...common }
      return { columns: null, rule }
    }
    case 'condition': {
      if (upTo !== undefined) return own
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

function uniqueRule(columns: readonly string[], bound: object) {
  const metric = 'duplicateValues'
  return columns.length === 1
    ? { columns, rule: { metric, ...bound } }
    : { columns: null, rule: { metric, arguments: { properties: columns }, ...bound } }
}

/** The standard has no other names in its short references. */
const isShort = ({ model, target }: Extract<CheckTest, { is: 'references' }>): boolean =>
  /^[A-Za-z_]\w*\.[A-Za-z_]\w*$/.test(`${entitySetName(model)}.${target}`)

const boundOf = (upTo: UpTo | undefined) =>
  upTo === undefined ? { mustBe: 0 } : { mustBeLessOrEqualTo: upTo.most, unit: upTo.unit }

/** null: nothing here stands for the rule. `column`: whose rule it is; null: that of a set. */
export function checkOf(node: Node, column: string | null): HeaderLine | null {
  if (!isMap(node)) return null
  const rule = node.toJSON() as Readonly<Record<string, unknown>>
  const value = textOf(rule, column)
  // In one line a comment would swallow what follows it.
  if (value === null || /[\r\n]|--|\/\*/.test(value)) return null
  const isWarning = ['warning', 'info'].includes(String(rule['severity']))
  return { annotation: isWarning ? 'warn' : 'check', subject: null, value, repeats: true }
}

function textOf(rule: Readonly<Record<string, unknown>>, column: string | null): string | null {
  const { type, engine, implementation, query, metric, rule: oldMetric } = rule
  if (type === 'custom' || engine !== undefined)
    return engine === 'eider' && typeof implementation === 'string' ? implementation : null
  if (type === 'sql' || query !== undefined) {
    const isOurs = typeof query === 'string' && query.startsWith(BEFORE) && query.endsWith(AFTER)
    return isOurs && rule['mustBe'] === 0 ? query.slice(BEFORE.length, -AFTER.length) : null
  }
  const named = metric ?? oldMetric
  if (named === 'rowCount') return rowCountText(rule)
  const bound = boundText(rule)
  const columns = columnsOf(rule, column)
  if (bound === null || columns.length === 0) return null
  const list = columns.map(annotationName).join(', ')
  if (named === 'nullValues') return `not_null(${list})${bound}`
  if (named === 'duplicateValues') return `unique(${list})${bound}`
  if (named !== 'invalidValues') return null
  const { validValues } = (rule['arguments'] ?? {}) as { readonly validValues?: unknown }
  if (!Array.isArray(validValues) || validValues.length === 0) return null
  const values = validValues.map(valueText)
  return values.includes(null) ? null : `accepted(${list}, ${values.join(', ')})${bound}`
}

const valueText = (value: unknown): string | null =>
  typeof value === 'string'
    ? `'${value.replaceAll("'", "''")}'`
    : typeof value === 'number' || typeof value === 'boolean'
      ? String(value)
      : null

function columnsOf(
  rule: Readonly<Record<string, unknown>>,
  column: string | null,
): readonly string[] {
  if (column !== null) return [column]
  const { properties } = (rule['arguments'] ?? {}) as { readonly properties?: unknown }
  return Array.isArray(properties) ? properties.filter((one) => typeof one === 'string') : []
}

function rowCountText(rule: Readonly<Record<string, unknown>>): string | null {
  for (const [sign, member] of Object.entries(comparisons)) {
    const rows = rule[member]
    if (Number.isSafeInteger(rows) && Number(rows) >= 0) return `row_count(${sign} ${String(rows)})`
  }
  return null
}

/** What follows the check; null: it cannot be said. */
function boundText(rule: Readonly<Record<string, unknown>>): string | null {
  const { mustBe, mustBeLessOrEqualTo: most, mustBeLessThan: below, unit = 'rows' } = rule
  if (mustBe === 0) return ''
  const rows =
    typeof most === 'number'
      ? most
      : typeof below === 'number' && unit === 'rows'
        ? below - 1
        : null
  if (rows === null || rows < 0) return null
  if (unit === 'percent') return ` up to ${rows}%`
  return Number.isInteger(rows) && unit === 'rows' ? ` up to ${rows} rows` : null
}
