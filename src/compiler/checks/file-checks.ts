// Files of checks/: each a SELECT of rows that must not exist. Such a check belongs to the first model that it names which
// none of the others waits for; that one is built after all of them, and the check runs in the transaction that builds
// it, so it keeps that model from being published.

import { reach } from '../graph.ts'
import { basename } from 'node:path'
import { type Diagnostic, diagnostic, hasErrors } from '../../core/diagnostics.ts'
import type { Check, Model } from '../../core/model.ts'
import type { ModelName } from '../../core/names.ts'
import { type FilePlace, positionOf, type SourceFile } from '../../core/source-text.ts'
import { sql } from '../../core/sql.ts'
import { didYouMean } from '../../core/suggest.ts'
import type { Variables } from '../../core/variables.ts'
import { refusalOf } from '../../duckdb/errors.ts'
import type { Connection } from '../../duckdb/database.ts'
import { otherBound, upToAtEnd } from '../annotations/check-syntax.ts'
import { readParts } from '../annotations/read-annotation.ts'
import { comparedWithNull } from '../bind/compared-with-null.ts'
import { definitionOf } from '../definition-hash.ts'
import type { ParsedQuery } from '../model-file.ts'
import { engineDiagnostic, spanAtByte } from '../hints/engine-diagnostic.ts'
import { type ResolvedQuery, resolveQueries } from '../resolve.ts'
import { rowsGivenBy } from '../sql/handed-on.ts'
import type { KnownNames } from '../sql/references.ts'
import { statementsOf, tokensSpan } from '../sql/tokens.ts'
import { bodyOf } from '../variables.ts'
import { isSubquery, nodesIn, type SyntaxNode } from '../../duckdb/syntax.ts'
import { aggregates } from '../measures/aggregates.ts'
import type { CompiledExternal } from '../../core/sources.ts'
import type { ProjectFiles } from '../../core/project.ts'
import { wrongBound } from './never-fails.ts'
import { type CheckContext, resolveDeclared } from './resolve-checks.ts'

export interface FileCheck {
  readonly query: ResolvedQuery
  readonly check: Check
}

interface ParsedCheck {
  readonly parsed: ParsedQuery
  readonly check: Check
}

/** The checks that are understood; what they read is known. */
export async function resolveFileChecks(
  connection: Connection,
  files: readonly SourceFile[],
  context: {
    readonly known: KnownNames
    readonly readable: readonly string[]
    readonly variables: Variables
    readonly dir: string
  },
): Promise<{ readonly checks: readonly FileCheck[]; readonly diagnostics: readonly Diagnostic[] }> {
  const diagnostics: Diagnostic[] = []
  const read = files.flatMap((source) => parseCheck(source, context.variables, diagnostics))
  const { known, readable, dir } = context
  const all = read.map(({ parsed }) => parsed)
  const resolved = await resolveQueries(connection, all, known, readable, { dir, isCheck: true })
  diagnostics.push(...resolved.diagnostics, ...resolved.queries.flatMap(alwaysOneRow))
  const checks = resolved.queries.map((query) => ({
    query,
    check: read.find(({ parsed }) => parsed === query.parsed)!.check,
  }))
  return { checks, diagnostics }
}

/** An aggregate without groups has a row even of no rows. */
function alwaysOneRow({ tree, parsed: { source, body } }: ResolvedQuery): readonly Diagnostic[] {
  const { node } = rowsGivenBy((tree?.['node'] ?? {}) as SyntaxNode)
  const list = (name: string) => (node[name] ?? []) as readonly SyntaxNode[]
  const isAggregate = (item: SyntaxNode) =>
    nodesIn(item, isSubquery).some(
      (part) => part['class'] === 'FUNCTION' && aggregates.has(String(part['function_name'])),
    )
  const leaves = ['having', 'qualify'].some((clause) => node[clause] != null)
  const isOne = node['type'] === 'SELECT_NODE' && list('select_list').some(isAggregate)
  if (!isOne || leaves || list('group_expressions').length + list('modifiers').length > 0) return []
  if (node['aggregate_handling'] === 'FORCE_AGGREGATES') return []
  const hint =
    'select the rows that are wrong: SELECT * FROM … WHERE …; or say which count is: HAVING count(*) > 0'
  return [diagnostic('check-of-one-row', {}, { source, span: spanAtByte(body, null) }, hint)]
}

export interface PlacedCheck extends FileCheck {
  /** What fails when the check does: one model, or all that read its source. */
  readonly owners: readonly ModelName[]
}

interface ModelInputs {
  readonly name: ModelName
  readonly dependsOn: readonly ModelName[]
  readonly sources: readonly string[]
}

/** `models`: those that are understood. Tells of checks that no model waits for. */
export function placeFileChecks(
  checks: readonly FileCheck[],
  models: readonly ModelInputs[],
): { readonly placed: readonly PlacedCheck[]; readonly diagnostics: readonly Diagnostic[] } {
  const inputs = new Map(models.map(({ name, dependsOn }) => [name, new Set(dependsOn)]))
  const waitsFor = (model: ModelName, other: ModelName) =>
    reach([model], (name) => inputs.get(name) ?? []).has(other)
  const placed: PlacedCheck[] = []
  const diagnostics: Diagnostic[] = []
  for (const each of checks) {
    const { models: named, sources } = each.query.references
    const read = named.map(({ name }) => name)
    const known = read.filter((name) => inputs.has(name))
    // There is one: of those that are read, the last in the order of the DAG.
    const owner = known.find((name) =>
      known.every((other) => other === name || !waitsFor(other, name)),
    )
    const readers = models.filter((one) => sources.some((name) => one.sources.includes(name)))
    const owners = read.length === 0 ? readers.map(({ name }) => name) : [owner ?? read[0]!]
    if (owners.length === 0) {
      const { source } = each.query.parsed
      const hint = 'select from a model, such as FROM core.orders, or from a source that one reads'
      const place = { source, span: each.check.span }
      diagnostics.push(diagnostic('check-without-model', {}, place, hint))
      continue
    }
    for (const name of owners)
      for (const input of known) if (input !== name) inputs.get(name)?.add(input)
    placed.push({ ...each, owners })
  }
  return { placed, diagnostics }
}

/** Call this once the models are bound. What is wrong with its SQL; `bound`: models whose columns are known. */
export async function mistakesInFileCheck(
  connection: Connection,
  { query: { parsed, references } }: FileCheck,
  bound: ReadonlySet<ModelName>,
): Promise<readonly Diagnostic[]> {
  if (!references.models.every(({ name }) => bound.has(name))) return []
  const error = await refusalOf(connection.columnsOf(sql.body(parsed.body)))
  return error === null ? [] : [engineDiagnostic(error.details, parsed.body)]
}

/** The model waits for what its checks read, and is built again when they change. */
export function withFileChecks(model: Model, placed: readonly PlacedCheck[]): Model {
  const own = placed.filter(({ owners }) => owners.includes(model.name))
  if (own.length === 0) return model
  const read = own.flatMap(({ query }) => query.references.models.map(({ name }) => name))
  const dependsOn = new Set([...model.dependsOn, ...read])
  dependsOn.delete(model.name)
  const parts = own.map(({ query, check: { severity, upTo } }) => [query.canonical, severity, upTo])
  return {
    ...model,
    dependsOn: [...dependsOn],
    checks: [...model.checks, ...own.map(({ check }) => check)],
    definition: definitionOf(model.definition, parts),
  }
}

const known = ['description', 'check', 'warn']
const BOUND = 'nothing, or how many rows it may find: up to 10 rows, up to 1%'

const ONE_OF_TWO = 'a file has one @check, or one @warn; another bound is another file'

function parseCheck(
  source: SourceFile,
  variables: Variables,
  diagnostics: Diagnostic[],
): readonly ParsedCheck[] {
  const { header, statements } = statementsOf(source)
  const wrong: Diagnostic[] = []
  let severity: Check['severity'] = 'fail'
  let upTo: Check['upTo']
  let description = ''
  let first: { readonly name: string; readonly start: number } | null = null
  for (const comment of header) {
    const text = /^--[ \t]*(@.*?)\s*$/.exec(comment.text)?.[1]
    if (text === undefined) continue
    const start = comment.start + comment.text.indexOf('@')
    const place = { source, span: { start, end: start + text.length } }
    const parts = readParts(text)
    if ('failedAt' in parts) {
      wrong.push(diagnostic('annotation-syntax', { expected: '@name: value' }, place))
      continue
    }
    const { value } = parts
    const name = parts.name.toLowerCase()
    if (name === 'description') description = value
    else if (name === 'check' || name === 'warn') {
      if (first !== null) {
        const line = positionOf(source, first.start).line
        wrong.push(
          diagnostic('duplicate-annotation', { name: first.name, line }, place, ONE_OF_TWO),
        )
        continue
      }
      first = { name, start }
      severity = name === 'warn' ? 'warn' : 'fail'
      const found = upToAtEnd(value)
      const isWhole = value === '' || /^up[ \t]+to\b/i.test(value)
      if (isWhole) wrong.push(...wrongBound(place, 'query'))
      else
        wrong.push(diagnostic('annotation-syntax', { expected: BOUND }, place, otherBound(value)))
      upTo = found === null ? undefined : { most: found.most, unit: found.unit }
    } else {
      const all = known.map((each) => `@${each}`)
      const hint = HINTS[name] ?? didYouMean(`@${name}`, all) ?? `a check has ${all.join(', ')}`
      wrong.push(diagnostic('unknown-annotation', { name }, place, hint))
    }
  }
  const [statement, second] = statements
  if (statement === undefined) {
    const end = source.text.trimEnd().length
    const hint = 'such as SELECT … FROM schema.table WHERE …'
    const place = { source, span: { start: end, end: end + 1 } }
    wrong.push(
      diagnostic('empty-body', { expected: 'a SELECT of rows that must not exist' }, place, hint),
    )
  } else if (second !== undefined) wrong.push(secondStatement({ source, span: second[0] }))
  diagnostics.push(...wrong)
  if (statement === undefined || wrong.length > 0) return []
  const { body, diagnostics: inBody } = bodyOf(source, tokensSpan(statement), variables)
  diagnostics.push(...inBody, ...comparedWithNull(body))
  if (hasErrors(inBody)) return []
  const name = `checks.${basename(source.path, '.sql')}` as ModelName
  const parsed: ParsedQuery = { name, source, header: {}, kind: 'table', body }
  const text = description === '' ? source.path : `${source.path} (${description})`
  const span = { start: body.span.start, end: body.span.end }
  const check = { severity, text, span, source, test: { is: 'query', body } as const }
  return [{ parsed, check: upTo === undefined ? check : { ...check, upTo } }]
}

const secondStatement = (place: FilePlace): Diagnostic =>
  diagnostic('not-a-select', { what: 'a check' }, place, 'another check is another file')

const HINTS: Readonly<Record<string, string>> = {
  severity: 'write -- @warn for a check that only warns',
  fail_if: 'write -- @check: up to 10 rows',
  error_if: 'write -- @check: up to 10 rows',
  warn_if: 'write -- @warn: up to 10 rows',
}

export interface SourceChecks {
  readonly checks: ReadonlyMap<string, readonly Check[]>
  readonly mistakes: ReadonlyMap<string, readonly Diagnostic[]>
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * Checks of tables of sources, which no run builds: each model that reads the table has them among its own, so a bad
 * source costs those that read it, as one that is too old does. Of the tables whose columns are known.
 */
export async function checksOfSources(
  { sources = [] }: ProjectFiles,
  tables: readonly CompiledExternal[],
  context: CheckContext,
): Promise<SourceChecks> {
  const checks = new Map<string, readonly Check[]>()
  const mistakes = new Map<string, readonly Diagnostic[]>()
  for (const source of sources)
    for (const { name, checks: declared = [] } of source.tables) {
      const table = tables.find((one) => one.name === `${source.name}.${name}`)
      if (table === undefined || declared.length === 0) continue
      const found = await resolveDeclared(declared, table.name, table.columns, context)
      checks.set(
        table.name,
        found.checks.map((check) => ({ ...check, on: table.name })),
      )
      mistakes.set(table.name, [
        ...found.diagnostics,
        ...found.checks.flatMap((check) => circular(check)),
      ])
    }
  return { checks, mistakes, diagnostics: [...mistakes.values()].flat() }
}

/** A model that reads the source would wait for one that may read it too. */
function circular({ test, source, span }: Check): readonly Diagnostic[] {
  if (test.is !== 'references' || source === undefined) return []
  const problem = 'a source is checked before the models, so it cannot refer to one'
  const hint = 'write a file in checks/ that selects the rows without a partner'
  return [diagnostic('invalid-check', { problem }, { source, span }, hint)]
}

export function withSourceChecks(
  model: Model,
  checks: ReadonlyMap<string, readonly Check[]>,
): Model {
  const own = model.sources.flatMap((table) => checks.get(table) ?? [])
  if (own.length === 0) return model
  const parts = own.map(({ severity, text, on }) => [severity, text, on])
  return {
    ...model,
    checks: [...model.checks, ...own],
    definition: definitionOf(model.definition, parts),
  }
}
