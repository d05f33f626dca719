// `@check` and `@warn` with names resolved. Each one is bound by DuckDB against the empty tables of the compile, so
// that a mistake in it is found before anything runs.

import { type Diagnostic, diagnostic, hasErrors } from '../../core/diagnostics.ts'
import { isNoValue, beforeCondition, failingRows } from './check-query.ts'
import type { Check, CheckTest } from '../../core/model.ts'
import type { ModelName } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import type { SourceFile, Span, DeclaredCheck } from '../../core/source-text.ts'
import { type ModelBody, sql } from '../../core/sql.ts'
import type { Variables } from '../../core/variables.ts'
import type { Connection } from '../../duckdb/database.ts'
import { didYouMean, nearest } from '../../core/suggest.ts'
import { type DatabaseErrorDetails, ifRefused } from '../../duckdb/errors.ts'
import { textOf } from '../../duckdb/values.ts'
import {
  checkExamples,
  type CheckSyntax,
  checkNames,
  misreadCheck,
  otherBound,
} from '../annotations/check-syntax.ts'
import { readValue } from '../annotations/read-annotation.ts'
import type { NamedColumn, NamedModel } from '../annotations/reader.ts'
import type { Annotation, ModelHeader } from '../annotations/annotations.ts'
import { unbalancedBracket } from '../bind/columns.ts'
import { resolveColumns } from '../sql/named-columns.ts'
import { problemOf, type Explanation } from '../hints/engine-words.ts'
import { engineDiagnostic, spanAt } from '../hints/engine-diagnostic.ts'
import { unknownModel } from '../resolve.ts'
import { placedNullComparison } from '../sql/null-comparison.ts'
import { isSymbol, isWord, type Token, tokenize } from '../sql/tokens.ts'
import { bodyOf } from '../variables.ts'
import { foreignTest } from '../hints/other-tools.ts'
import { neverFails, sameForEachRow, wrongBound } from './never-fails.ts'

export function modelsInChecks(header: ModelHeader): readonly NamedModel[] {
  return givenChecks(header).flatMap(({ value }) =>
    value.is === 'references' ? [value.model] : [],
  )
}

export interface CheckContext {
  readonly connection: Connection
  readonly modelNames: readonly ModelName[]
  readonly findModel: (name: string) => ModelName | null
  readonly variables: Variables
}

interface ResolvedChecks {
  readonly checks: readonly Check[]
  readonly diagnostics: readonly Diagnostic[]
}

/** A relation and the file in which its checks are written. */
interface CheckSubject {
  readonly name: string
  readonly source: SourceFile
}

/** Call this once the model and those that it depends on are bound. */
export const resolveChecks = (
  parsed: CheckSubject & { readonly header: ModelHeader },
  columns: readonly Column[],
  context: CheckContext,
): Promise<ResolvedChecks> => resolveGiven(givenChecks(parsed.header), parsed, columns, context)

/** The checks of a seed or of a table of a source, which stand in YAML. */
export async function resolveDeclared(
  declared: readonly DeclaredCheck[],
  name: string,
  columns: readonly Column[],
  context: CheckContext,
): Promise<ResolvedChecks> {
  const all = declared.map(({ source, span, severity }) => {
    const value = readDeclared({ source, span })
    if ('failedAt' in value) {
      const problem = `this is not a check: expected a condition, or ${Object.values(checkExamples).join(', ')}`
      const hint =
        misreadCheck(source.text.slice(span.start, span.end), value.failedAt) ??
        'write it as you would after @check in a model'
      const wrong = diagnostic('invalid-check', { problem }, { source, span }, hint)
      return Promise.resolve({ checks: [], diagnostics: [wrong] })
    }
    const given = { value, span, valueSpan: span, severity }
    return resolveGiven([given], { name, source }, columns, context)
  })
  const found = await Promise.all(all)
  return {
    checks: found.flatMap(({ checks }, i) =>
      checks.map((check) => ({ ...check, source: declared[i]!.source })),
    ),
    diagnostics: found.flatMap(({ diagnostics }) => diagnostics),
  }
}

function readDeclared({ source, span }: Pick<DeclaredCheck, 'source' | 'span'>) {
  const read = readValue('check', source.text.slice(span.start, span.end), span.start)
  return 'failedAt' in read ? read : read.value
}

export const modelsInDeclared = (declared: readonly DeclaredCheck[]): readonly NamedModel[] =>
  declared.flatMap((one) => {
    const value = readDeclared(one)
    return 'is' in value && value.is === 'references' ? [value.model] : []
  })

async function resolveGiven(
  all: readonly GivenCheck[],
  checked: CheckSubject,
  columns: readonly Column[],
  context: CheckContext,
): Promise<ResolvedChecks> {
  const checks: Check[] = []
  const diagnostics: Diagnostic[] = []
  for (const given of all) {
    const bound = wrongBound({ source: checked.source, span: given.valueSpan }, given.value.is)
    diagnostics.push(...bound)
    if (bound.length > 0) continue
    const resolved = resolveTest(given, checked, columns, context)
    const wrong = Array.isArray(resolved)
      ? resolved
      : await mistakesInTest(checked, given.valueSpan, resolved as CheckTest, context.connection)
    const where = await resolveWhere(given, checked, context)
    diagnostics.push(...(wrong as readonly Diagnostic[]), ...where.diagnostics)
    if (wrong.length + where.diagnostics.length > 0) continue
    const { severity, span, valueSpan, value } = given
    const text = checked.source.text.slice(valueSpan.start, valueSpan.end)
    const test = resolved as CheckTest
    const looksAt = where.body === null ? {} : { where: where.body }
    checks.push({ severity, text, span, test, ...looksAt, ...upToOf(value) })
  }
  return { checks, diagnostics }
}

/** `body`: null without a `where`. */
async function resolveWhere(
  { value: { where } }: GivenCheck,
  checked: CheckSubject,
  { connection, variables }: CheckContext,
): Promise<{ readonly body: ModelBody | null; readonly diagnostics: readonly Diagnostic[] }> {
  if (where === undefined) return { body: null, diagnostics: [] }
  const { body, diagnostics } = bodyOf(checked.source, where, variables)
  if (hasErrors(diagnostics)) return { body, diagnostics }
  const condition = { is: 'condition', body } as const
  return { body, diagnostics: await mistakesIn(checked, where, condition, connection) }
}

function upToOf({ upTo }: CheckSyntax): Pick<Check, 'upTo'> {
  return upTo === undefined ? {} : { upTo: { most: upTo.most, unit: upTo.unit } }
}

interface GivenCheck extends Annotation<CheckSyntax> {
  readonly severity: Check['severity']
}

function givenChecks({ check = [], warn = [] }: ModelHeader): readonly GivenCheck[] {
  return [
    ...check.map((given) => ({ ...given, severity: 'fail' as const })),
    ...warn.map((given) => ({ ...given, severity: 'warn' as const })),
  ].toSorted((a, b) => a.span.start - b.span.start)
}

function resolveTest(
  { value, valueSpan, severity }: GivenCheck,
  { source }: CheckSubject,
  columns: readonly Column[],
  { findModel, modelNames, variables }: CheckContext,
): CheckTest | readonly Diagnostic[] {
  const resolve = (named: readonly NamedColumn[]) =>
    resolveColumns(source, severity === 'warn' ? 'warn' : 'check', named, columns)
  switch (value.is) {
    case 'not_null':
    case 'unique': {
      const { names, diagnostics } = resolve(value.columns)
      return diagnostics.length > 0 ? diagnostics : { is: value.is, columns: names }
    }
    case 'accepted': {
      const { names, diagnostics } = resolve([value.column])
      const column = columns.find(({ name }) => name === names[0])
      return column === undefined
        ? diagnostics
        : { is: 'accepted', values: value.values, column: column.name, type: column.type }
    }
    case 'references': {
      const { names, diagnostics } = resolve([value.column])
      const [column] = names
      if (column === undefined) return diagnostics
      const model = findModel(value.model.name)
      const place = { source, span: value.model.span }
      if (model === null) return [unknownModel(value.model.name, place, modelNames)]
      return { is: 'references', column, model, target: value.target.name }
    }
    case 'row_count':
      return { is: 'row_count', comparison: value.comparison, rows: value.rows }
    case 'condition': {
      const end = valueSpan.end - (value.upTo?.length ?? 0)
      const { body, diagnostics } = bodyOf(source, { start: valueSpan.start, end }, variables)
      return hasErrors(diagnostics) ? diagnostics : { is: 'condition', body }
    }
  }
}

/** A condition after `where` may hold for every row; as a check it would be none. */
async function mistakesInTest(
  checked: CheckSubject,
  span: Span,
  test: CheckTest,
  connection: Connection,
): Promise<readonly Diagnostic[]> {
  const found = await mistakesIn(checked, span, test, connection)
  if (found.length > 0 || test.is !== 'condition') return found
  const place = { source: checked.source, span }
  return (await neverFails(connection, test.body, place)) ? [sameForEachRow(place)] : []
}

async function mistakesIn(
  { name, source }: CheckSubject,
  span: Span,
  test: CheckTest,
  connection: Connection,
): Promise<readonly Diagnostic[]> {
  const invalid = (problem: string, hint?: string) => [
    diagnostic('invalid-check', { problem }, { source, span }, hint),
  ]
  if (test.is === 'condition' && isUnclosed(test.body))
    return invalid('the condition ends within parentheses', 'a ")" is missing at its end')
  if (test.is === 'condition' && !isPlainCondition(test.body))
    return invalid(
      'a condition is a single expression over the columns of this model, without subqueries',
      'move the subquery into its own model, or use references(…)',
    )
  const nothing = test.is === 'condition' ? placedNullComparison({ source, span }) : null
  if (nothing !== null) {
    const { written, meant } = nothing
    const problem = `"${written}" is NULL for every row, which no check takes for a mistake`
    return [diagnostic('invalid-check', { problem }, nothing, `write ${meant}${otherForm(meant)}`)]
  }
  const notBound = (form: CheckTest, details: DatabaseErrorDetails) =>
    form.is === 'references' && details.subtype === 'COLUMN_NOT_FOUND'
      ? invalid(`${form.model} has no column "${form.target}"`, columnHint(form.target, details))
      : invalid(problemOf(details), 'the two sides have incompatible types; cast one of them')
  const bind = async () => {
    if (test.is === 'references')
      await connection.columnsOf(
        sql`SELECT ${sql.ident(test.target)} FROM ${sql.relation(test.model)}`,
      )
    await connection.columnsOf(failingRows(name, { test }))
    if (test.is === 'accepted') {
      const wrong = await firstMisfit(connection, test)
      const problem = `${wrong} is not a valid ${test.type}, the type of "${test.column}"`
      return wrong === null ? [] : invalid(problem, 'write the values as they appear in the column')
    }
    if (test.is !== 'condition') return []
    const [column] = await connection.columnsOf(
      sql`SELECT ANY_VALUE((${sql.body(test.body)}\n)) FROM (${failingRows(name, { test })})`,
    )
    if (column?.type === 'BOOLEAN') return []
    const problem = `the condition is ${column?.type ?? ''}, but must be BOOLEAN`
    return invalid(problem, 'compare it with something, such as > 0')
  }
  return ifRefused(bind(), ({ details }) => {
    if (test.is !== 'condition') return notBound(test, details)
    const misunderstood = misunderstoodCheck(details, test.body)
    if (misunderstood === null)
      return [engineDiagnostic(details, test.body, beforeCondition(name).inline())]
    const { problem, hint, span: at } = misunderstood
    return [diagnostic('invalid-check', { problem }, { source, span: at }, hint)]
  })
}

/** `not_null` takes columns of the model, and nothing else. */
const otherForm = (meant: string) => {
  const [, name] = /^([\w"]+) IS NOT NULL$/.exec(meant) ?? []
  return name === undefined || name === 'x' ? '' : `, or not_null(${name})`
}

const columnHint = (name: string, { candidates }: DatabaseErrorDetails): string =>
  didYouMean(name, candidates) ?? `available there: ${candidates.slice(0, 5).join(', ')}`

/** The first of the values that the column can never have, as text. */
async function firstMisfit(
  connection: Connection,
  { values, type }: Extract<CheckTest, { is: 'accepted' }>,
): Promise<string | null> {
  const rows = sql.join(values.map((value) => sql`(${sql.value(String(value))})`))
  const row = await connection.row(sql`
    SELECT value FROM (VALUES ${rows}) v(value)
    WHERE ${isNoValue(sql`value`, type)} LIMIT 1`)
  return row === null ? null : `'${textOf(row['value'])}'`
}

/** Its brackets are balanced, its literals end, and it reads only this model. */
export function isPlainCondition({ text }: ModelBody): boolean {
  const tokens = tokenize(text).filter(({ kind }) => kind !== 'comment')
  const opensQuery = tokens.some(
    (token, i) => isSymbol(token, '(') && QUERY_WORDS.some((word) => isWord(tokens[i + 1], word)),
  )
  const leaves = tokens.some((token) => isSymbol(token, ';') || token.kind === 'open')
  return !opensQuery && !leaves && tokens.every(hasEnd) && unbalancedBracket(tokens) === null
}

/** Nothing but the end of its last parentheses is missing. */
function isUnclosed({ text }: ModelBody): boolean {
  const tokens = tokenize(text).filter(({ kind }) => kind !== 'comment')
  const count = (symbol: string) => tokens.filter((token) => isSymbol(token, symbol)).length
  return tokens.every(hasEnd) && count('(') > count(')')
}

/** What a subquery begins with. */
const QUERY_WORDS = [
  'call',
  'describe',
  'from',
  'pivot',
  'select',
  'show',
  'summarize',
  'table',
  'unpivot',
  'values',
  'with',
]

/** The tokenizer takes a literal without an end to reach to the end of the text. */
function hasEnd({ kind, text }: Token): boolean {
  if (kind === 'quoted') return /^"(?:[^"]|"")*"$/.test(text)
  if (kind !== 'string') return true
  if (text.startsWith("'")) return /^'(?:[^']|'')*'$/.test(text)
  if (!text.startsWith('$')) return /^[eE]'(?:[^'\\]|''|\\[^])*'$/.test(text)
  const tag = text.slice(0, text.indexOf('$', 1) + 1)
  return text.length >= 2 * tag.length && text.endsWith(tag)
}

/** What may follow a check that is written like a call, after a condition. */
function afterCondition(body: ModelBody): Misunderstanding | null {
  const { text } = body
  const tokens = tokenize(text)
  const at = tokens.findIndex(
    (token, i) => i > 0 && isWord(token, 'where') && !isSymbol(tokens[i - 1], '('),
  )
  const where = tokens[at]
  if (where !== undefined) {
    const problem = '"where" follows the checks that are written like calls, and no condition'
    const [condition, rows] = [text.slice(0, where.start).trim(), text.slice(where.end).trim()]
    return { problem, hint: `write NOT (${rows}) OR ${condition}`, span: spanAt(body, where.start) }
  }
  for (const { start, kind } of tokens) {
    const hint = kind === 'word' && start > 0 ? otherBound(text.slice(start)) : undefined
    if (hint === undefined) continue
    return {
      problem: 'a check says otherwise how much it may find',
      hint,
      span: spanAt(body, start),
    }
  }
  return null
}

interface Misunderstanding extends Explanation {
  readonly span: Span
}

/** null: an ordinary SQL mistake. */
function misunderstoodCheck(
  { message }: DatabaseErrorDetails,
  body: ModelBody,
): Misunderstanding | null {
  const text = body.text.trim()
  const [, rows = ''] =
    /^(?:row_count|count\s*\(\s*\*?\s*\))\s*((?:[<>=]|<>|<=|>=)\s*\d+)$/i.exec(text) ?? []
  const span = spanAt(body, 0)
  if (rows !== '') {
    const problem = text.toLowerCase().startsWith('count')
      ? 'a condition looks at one row at a time, so it cannot count'
      : '"row_count" takes its condition in parentheses'
    return { problem, hint: `write row_count(${rows})`, span }
  }
  const misplaced = /syntax error/.test(message) ? afterCondition(body) : null
  if (misplaced !== null) return misplaced
  if (message.includes('cannot contain aggregates'))
    return {
      problem: 'a condition looks at one row at a time, so it cannot call an aggregate function',
      hint: 'write a model that selects the aggregate, and check that',
      span,
    }
  const [first, second] = tokenize(text)
  const word = first?.text.toLowerCase() ?? ''
  if (!message.startsWith('Scalar Function with name') || !isSymbol(second, '(')) return null
  const meant = foreignTest(word) ?? nearest(word, checkNames)
  if (meant === null) return null
  const problem = `there is no check or function "${first!.text}"`
  return { problem, hint: `did you mean ${meant}${text.slice(first!.end)}?`, span }
}
