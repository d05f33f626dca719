// What a query reads: models, files, and whether it is the same tomorrow. Found in DuckDB's syntax tree.
//
// A name without a schema is a common table expression in scope, a file, or a table of DuckDB's own catalog; models
// are always written schema.table.

import type { Varies } from '../../core/model.ts'
import type { ModelName } from '../../core/names.ts'
import { columnNames, ctesOf, type SyntaxNode } from '../../duckdb/syntax.ts'
import {
  fileFunctions,
  isVolatile,
  isVolatileWord,
  pureTableFunctions,
  reachingFunctions,
  timedFileFunctions,
  variesOf,
} from './engine-functions.ts'
import { nameOf, tokenize } from './tokens.ts'

/** Byte of the query's text; null where DuckDB gives none. */
export type Location = number | null

export interface References {
  /** In order of first mention, each once. */
  readonly models: readonly { readonly name: ModelName; readonly at: Location }[]
  readonly sources: readonly string[]
  readonly unknown: readonly { readonly name: string; readonly at: Location }[]
  /** Calls whose argument names what is read, but is known only when the query runs. */
  readonly hidden: readonly { readonly function: string; readonly at: Location }[]
  /** Calls that reach more than the engine may. */
  readonly reaching: readonly { readonly function: string; readonly at: Location }[]
  readonly hasParameters: boolean
  readonly files: readonly string[]
  readonly volatile: boolean
  /** Only a volatile query has it whose columns are the same each time. */
  readonly varies?: Varies
}

export interface MacroFacts extends Pick<References, 'files' | 'volatile' | 'varies'> {
  /** Its expression, where there is one only. */
  readonly gives?: SyntaxNode
  /** It reads a table that an argument names. */
  readonly takesTable: boolean
}

export interface KnownNames {
  /** The model that a name refers to; case-insensitive. */
  readonly findModel: (name: string) => ModelName | null
  /** The table of a source that a name refers to. */
  readonly findSource: (name: string) => string | null
  /** By name in lower case. */
  readonly macros: ReadonlyMap<string, MacroFacts>
}

/** Names of the common table expressions that are visible, in lower case. */
type Scope = ReadonlySet<string>

export function referencesOf(tree: SyntaxNode, known: KnownNames): References {
  const found: Findings = {
    varies: new Set(),
    tables: [],
    hidden: [],
    reaching: [],
    hasParameters: false,
    files: [],
    sources: [],
    hasTimes: false,
    takesTimes: false,
  }
  const open: Open[] = [[tree, new Set(), false]]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [value, outer, isBound] = next
    if (typeof value !== 'object' || value === null) continue
    if (Array.isArray(value)) {
      for (const item of value) open.push([item, outer, isBound])
      continue
    }
    const node = value as SyntaxNode
    const scope = enter(node, outer, (query, visible) => open.push([query, visible, isBound]))
    const decidesColumns = isBound || node['type'] === 'TABLE_FUNCTION' || node['class'] === 'STAR'
    visit(node, scope, known, { found, decidesColumns })
    for (const member in node)
      if (member !== 'cte_map' && typeof node[member] === 'object')
        open.push([node[member], scope, decidesColumns])
  }
  if (found.hasTimes && found.takesTimes) found.varies.add(null)
  return resolve(found, known)
}

/** A part of the tree, what is visible there, and whether it is evaluated to know the columns of the query. */
type Open = readonly [part: unknown, scope: Scope, isBound: boolean]

interface Findings {
  /** Names that must be models, in no order. */
  readonly tables: { readonly name: string; readonly at: Location }[]
  readonly hidden: { readonly function: string; readonly at: Location }[]
  readonly reaching: { readonly function: string; readonly at: Location }[]
  hasParameters: boolean
  readonly files: string[]
  readonly sources: string[]
  /** How each thing varies that makes the query volatile. null: its columns may differ, too. */
  readonly varies: Set<Varies | null>
  /** It reads files by a function that gives their times. */
  hasTimes: boolean
  /** It takes all columns of something, or those times. */
  takesTimes: boolean
}

function resolve(
  { tables, hasTimes: _has, takesTimes: _takes, varies, ...rest }: Findings,
  { findModel }: KnownNames,
): References {
  const models = new Map<ModelName, Location>()
  const unknown = new Map<string, Location>()
  for (const { name, at } of tables.toSorted((a, b) => (a.at ?? 0) - (b.at ?? 0))) {
    const model = findModel(name)
    if (model === null && !unknown.has(name)) unknown.set(name, at)
    if (model !== null && !models.has(model)) models.set(model, at)
  }
  return {
    ...rest,
    volatile: varies.size > 0,
    ...together(varies),
    models: Array.from(models, ([name, at]) => ({ name, at })),
    unknown: Array.from(unknown, ([name, at]) => ({ name, at })),
    files: [...new Set(rest.files)].toSorted(),
    sources: [...new Set(rest.sources)].toSorted(),
  }
}

/** How something varies that varies in all of these ways. */
export function together(varies: ReadonlySet<Varies | null>): { readonly varies?: Varies } {
  if (varies.size === 0 || varies.has(null)) return {}
  return { varies: varies.has('always') ? 'always' : 'daily' }
}

/** The scope inside a node. A query in WITH sees those before it, and itself when it is recursive. */
function enter(
  node: SyntaxNode,
  outer: Scope,
  visitQuery: (query: unknown, scope: Scope) => void,
): Scope {
  let scope = outer
  if (node['type'] === 'RECURSIVE_CTE_NODE') scope = new Set([...scope, lower(node['cte_name'])])
  for (const { key, value } of ctesOf(node)) {
    visitQuery(value, scope)
    scope = new Set([...scope, lower(key)])
  }
  return scope
}

interface Visit {
  readonly found: Findings
  readonly decidesColumns: boolean
}

function visit(node: SyntaxNode, scope: Scope, known: KnownNames, visited: Visit): void {
  const { found, decidesColumns } = visited
  if ((node['sample'] as SyntaxNode | null | undefined)?.['seed'] === -1) found.varies.add('always')
  if (node['type'] === 'BASE_TABLE') visitTable(node, scope, known, found)
  else if (node['type'] === 'SHOW_REF') {
    if (node['query'] === null) found.varies.add(null)
  } else if (node['type'] === 'TABLE_FUNCTION')
    visitTableFunction(node['function'] as SyntaxNode, known, found)
  else if (node['class'] === 'FUNCTION') visitCall(node, known, visited)
  else if (node['class'] === 'PARAMETER') found.hasParameters = true
  else if (node['class'] === 'STAR') found.takesTimes = true
  const names = columnNames(node)
  if (names === null) return
  const name = lower(names.at(-1))
  found.takesTimes ||= name === 'last_modified'
  if (names.length === 1 && isVolatileWord(name))
    found.varies.add(decidesColumns ? null : variesOf(name))
}

function visitTable(node: SyntaxNode, scope: Scope, known: KnownNames, found: Findings): void {
  const at = nodeLocation(node)
  const table = String(node['table_name'])
  const schema = String(node['schema_name'])
  const catalog = String(node['catalog_name'])
  const source = catalog === '' && schema !== '' ? known.findSource(`${schema}.${table}`) : null
  const isModel = schema !== '' && known.findModel(`${schema}.${table}`) !== null
  if (catalog !== '') found.tables.push({ name: `${catalog}.${schema}.${table}`, at })
  else if (source !== null) found.sources.push(source)
  else if (isModel) found.tables.push({ name: `${schema}.${table}`, at })
  else if (schema === '' && scope.has(lower(table))) return
  else if (lower(schema) === 'recurring' && scope.has(lower(table))) return
  else if (isCatalogTable(lower(schema), lower(table))) found.varies.add(null)
  else if (schema === '' && isDataFile(table)) addFile(table, found)
  else found.tables.push({ name: schema === '' ? table : `${schema}.${table}`, at })
}

function visitTableFunction(call: SyntaxNode, { macros }: KnownNames, found: Findings): void {
  const name = lower(call['function_name'])
  if (macros.has(name) || name === 'query' || name === 'query_table') return // as any call
  if (pureTableFunctions.has(name)) return
  found.hasTimes ||= timedFileFunctions.has(name)
  const files = fileFunctions.has(name) ? constantTexts(argumentsOf(call)[0]) : null
  if (files === null) found.varies.add(null)
  else for (const file of files) addFile(file, found)
}

function visitCall(call: SyntaxNode, known: KnownNames, { found, decidesColumns }: Visit): void {
  const name = lower(call['function_name'])
  const values = argumentsOf(call)
  const at = nodeLocation(call)
  if (reachingFunctions.has(name)) found.reaching.push({ function: name, at })
  if (isVolatile(name, values.length)) found.varies.add(decidesColumns ? null : variesOf(name))
  if (name === 'query') found.hidden.push({ function: name, at })
  if (name === 'query_table') {
    const tables = constantTexts(values[0])
    if (tables === null) found.hidden.push({ function: name, at })
    else for (const table of tables) found.tables.push({ name: plainName(table), at })
  }
  const macro = known.macros.get(name)
  if (macro === undefined) return
  if (macro.volatile) found.varies.add((decidesColumns ? null : macro.varies) ?? null)
  found.files.push(...macro.files)
  if (!macro.takesTable) return
  const named = values.flatMap((value) => constantTexts(value) ?? []).map(plainName)
  const models = named.filter((table) => known.findModel(table) !== null)
  if (models.length === 0) found.hidden.push({ function: name, at })
  for (const table of models) found.tables.push({ name: table, at })
}

function addFile(path: string, found: Findings): void {
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(path)) found.varies.add(null)
  else found.files.push(path)
}

const isCatalogTable = (schema: string, table: string) =>
  schema === 'information_schema' ||
  schema === 'pg_catalog' ||
  (schema === '' && /^(?:duckdb_|pragma_|pg_|sqlite_(?:temp_)?(?:master|schema)$)/.test(table))

/** Names that DuckDB takes for files when no table has them. */
export const isDataFile = (name: string) =>
  /\.(?:csv|tsv|txt|json|jsonl|ndjson|parquet)(?:\.(?:gz|zst))?$/i.test(name)

/** A constant text or a list of them; null for any other expression. */
function constantTexts(node: SyntaxNode | undefined): readonly string[] | null {
  if (node?.['class'] === 'CONSTANT') {
    const { value } = node['value'] as { value?: unknown }
    return typeof value === 'string' ? [value] : null
  }
  if (node?.['class'] !== 'FUNCTION' || node['function_name'] !== 'list_value') return null
  const texts = argumentsOf(node).map(constantTexts)
  return texts.every((text) => text !== null) ? texts.flat() : null
}

const argumentsOf = (call: SyntaxNode) => call['children'] as readonly SyntaxNode[]

/** `"raw"."s"` and `raw . s` as raw.s */
const plainName = (text: string) =>
  tokenize(text)
    .map((token) => nameOf(token) ?? token.text)
    .join('')

const lower = (name: unknown) => String(name).toLowerCase()

/** Positions that DuckDB does not know are the largest 64-bit number. */
export function nodeLocation(node: SyntaxNode): Location {
  const location = node['query_location']
  return typeof location === 'number' && location < Number.MAX_SAFE_INTEGER ? location : null
}
