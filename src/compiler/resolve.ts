// Queries with their references resolved: what each model reads, and a text that is equal for equal meanings.

import { resolve } from 'node:path'
import { type Diagnostic, diagnostic } from '../core/diagnostics.ts'
import { foldCase, type ModelName, sameName } from '../core/names.ts'
import type { ModelBody } from '../core/sql.ts'
import { didYouMean, nearest } from '../core/suggest.ts'
import type { Connection } from '../duckdb/database.ts'
import { type ParsedStatement, type SyntaxNode, parseStatements } from '../duckdb/syntax.ts'
import { isPipeOrDevice } from '../files/read-file.ts'
import { fileFunctions, isVolatile } from './sql/engine-functions.ts'
import type { ParsedQuery } from './model-file.ts'
import { engineDiagnostic, spanAt, spanAtByte } from './hints/engine-diagnostic.ts'
import { templatesIn } from './hints/other-tools.ts'
import { type KnownNames, type References, isDataFile, referencesOf } from './sql/references.ts'
import { isSymbol, isWord, nameOf, tokenize } from './sql/tokens.ts'

export interface ResolvedQuery {
  readonly parsed: ParsedQuery
  /** null for a PIVOT that takes its columns from the data: DuckDB does not show its tree. */
  readonly tree: SyntaxNode | null
  readonly canonical: string
  readonly references: References
  /** Names, in lower case, that were looked up and that no model has: one that comes to have such a name is read. */
  readonly absent: readonly string[]
}

interface Resolution {
  /** The queries whose references are all known. */
  readonly queries: readonly ResolvedQuery[]
  readonly diagnostics: readonly Diagnostic[]
}

interface How {
  readonly dir: string
  readonly isClosed?: boolean
  /** Each selects rows that must not exist, and nothing is built of it. */
  readonly isCheck?: boolean
}

/** `readable`: names of what a query may read, for hints. */
export async function resolveQueries(
  connection: Connection,
  models: readonly ParsedQuery[],
  known: KnownNames,
  readable: readonly string[],
  { dir, isClosed = false, isCheck = false }: How,
): Promise<Resolution> {
  const statements = await parseStatements(
    connection,
    models.map(({ body }) => body.text),
  )
  const queries: ResolvedQuery[] = []
  const diagnostics: Diagnostic[] = []
  for (const [i, parsed] of models.entries()) {
    const statement = statements[i]!
    const query =
      isCheck && statement.is === 'other'
        ? [noCheck(parsed)]
        : resolveQuery(parsed, statement, known, readable)
    const found =
      'parsed' in query ? [...mistakesIn(query, readable, isClosed), ...pipesIn(query, dir)] : query
    diagnostics.push(...found)
    if ('parsed' in query && found.length === 0) queries.push(query)
  }
  return { queries, diagnostics }
}

const noCheck = ({ source, body }: ParsedQuery): Diagnostic =>
  diagnostic(
    'not-a-select',
    { what: 'a check' },
    { source, span: spanAt(body, 0) },
    'write only the SELECT of the rows that must not exist: SELECT … FROM schema.table WHERE …',
  )

function resolveQuery(
  parsed: ParsedQuery,
  statement: ParsedStatement,
  known: KnownNames,
  readable: readonly string[],
): ResolvedQuery | readonly Diagnostic[] {
  const { body, source } = parsed
  const absent = new Set<string>()
  const findModel = (name: string) => {
    const found = known.findModel(name)
    if (found === null) absent.add(foldCase(name))
    return found
  }
  const names = { ...known, findModel }
  switch (statement.is) {
    case 'select': {
      const { tree, canonical } = statement
      const references = referencesOf(tree, names)
      return { parsed, tree, canonical, references, absent: [...absent] }
    }
    case 'pivot': {
      const canonical = JSON.stringify(wordsOf(body).map(({ text }) => text))
      const references = referencesInText(body, names)
      return { parsed, tree: null, canonical, references, absent: [...absent] }
    }
    case 'enum-inside':
      return [enumInside(body)]
    case 'other': {
      const hint = 'write only the SELECT; eider builds the table or the view'
      return [diagnostic('not-a-select', {}, { source, span: spanAt(body, 0) }, hint)]
    }
    case 'error': {
      const templates = templatesIn(body.text, wordsOf(body), readable)
      if (templates.length === 0) return [engineDiagnostic(statement.details, body)]
      return templates.map(({ span, hint }) =>
        diagnostic('template-syntax', {}, { source, span: body.spanInFile(span) }, hint),
      )
    }
  }
}

function mistakesIn(
  { parsed: { kind, header, body }, references, tree }: ResolvedQuery,
  readable: readonly string[],
  isClosed: boolean,
): readonly Diagnostic[] {
  const { unknown, hidden, reaching, hasParameters } = references
  const { source } = body
  const place = (at: number | null) => ({ source, span: spanAtByte(body, at) })
  const pivots = (use: string) => {
    return diagnostic('dynamic-pivot', { use }, place(null), 'list them: PIVOT … ON column IN (…)')
  }
  return [
    ...unknown.map(({ name, at }) => unknownModel(name, place(at), readable)),
    ...hidden.map((call) =>
      diagnostic(
        'hidden-reference',
        { function: call.function },
        place(call.at),
        'name the model in FROM',
      ),
    ),
    ...(isClosed ? reaching : []).map((call) => {
      const problem = `${call.function} reads what no source of eider.yml names`
      const hint = 'declare the table under sources, and read it as source.table'
      return diagnostic('sql-binding', { problem }, place(call.at), hint)
    }),
    ...(hasParameters ? [parameter(body)] : []),
    ...(tree === null && kind !== 'table' ? [pivots(`no model of kind ${kind} can`)] : []),
    ...(tree === null && header.expose !== undefined ? [pivots('no exposed model can')] : []),
  ]
}

/** Whoever opens a pipe waits for its other side, the engine too, which nothing then stops. */
function pipesIn(
  { parsed: { body }, references }: ResolvedQuery,
  dir: string,
): readonly Diagnostic[] {
  return references.files
    .filter((file) => isPipeOrDevice(resolve(dir, file)))
    .map((file) => {
      const at = body.text.indexOf(file)
      const place = { source: body.source, span: spanAt(body, at < 0 ? null : at) }
      const problem = `${file} is a pipe, a socket or a device`
      return diagnostic('unreadable-file', { problem }, place, 'name a file that can be read again')
    })
}

function enumInside(body: ModelBody): Diagnostic {
  const word = wordsOf(body).find((token) => isWord(token, 'enum'))
  const place = { source: body.source, span: spanAt(body, word?.start ?? null) }
  const problem = 'an ENUM inside another type, such as a list or a struct, is not supported'
  return diagnostic('sql-syntax', { problem }, place, 'write VARCHAR in its place')
}

/** DuckDB does not say where a parameter is. */
function parameter(body: ModelBody): Diagnostic {
  const sign = wordsOf(body).find((token) => isSymbol(token, '?') || isSymbol(token, '$'))
  const place = { source: body.source, span: spanAt(body, sign?.start ?? null) }
  const hint = 'write ${name}, and declare it under vars in eider.yml'
  return diagnostic('model-parameter', {}, place, hint)
}

/** A name that no model has; the hint is the one of `known`, each `schema.table`, that may be meant. */
export function unknownModel(
  name: string,
  at: Parameters<typeof diagnostic>[2],
  known: readonly string[],
): Diagnostic {
  const short = new Map(known.map((whole) => [whole.slice(whole.indexOf('.') + 1), whole]))
  const meant = name.includes('.') ? null : short.get(nearest(name, short.keys()) ?? '')
  const hint = meant ? `did you mean "${meant}"?` : didYouMean(name, known)
  return diagnostic('unknown-model', { name }, at, hint ?? shapeHint(name, known))
}

/** What may stand in FROM, for a name that is like none of them. */
function shapeHint(name: string, known: readonly string[]): string {
  const [schema = '', table, ...more] = name.split('.')
  if (/\.xlsx?$/i.test(name))
    return 'save the sheet as CSV, or declare the file under sources in eider.yml'
  if (name.toLowerCase() === 'dual') return 'leave FROM dual out'
  if (table === undefined || more.length > 0) return 'models are named schema.table'
  const tables = known.filter((whole) => sameName(whole.split('.')[0]!, schema))
  if (tables.length > 0) return `in ${schema} there are ${tables.slice(0, 10).join(', ')}`
  const schemas = [...new Set(known.map((whole) => whole.split('.')[0]!))].toSorted()
  return `the schemas are ${schemas.slice(0, 10).join(', ')}; declare tables of other databases and files under sources in eider.yml`
}

/**
 * What is read by a query whose tree DuckDB does not show: each `a.b` that is the name of a model. A column that
 * happens to be written like a model counts too; the only harm is an order that was not needed.
 */
function referencesInText(
  body: ModelBody,
  { findModel, findSource, macros }: KnownNames,
): References {
  const tokens = wordsOf(body)
  const models = new Map<ModelName, number>()
  const sources = new Set<string>()
  let volatile = false
  for (const [i, token] of tokens.entries()) {
    const name = nameOf(token)?.toLowerCase()
    const table = isSymbol(tokens[i + 1], '.') ? nameOf(tokens[i + 2]) : null
    const source = name === undefined || table === null ? null : findSource(`${name}.${table}`)
    if (source !== null) sources.add(source)
    const model = name === undefined || table === null ? null : findModel(`${name}.${table}`)
    if (model !== null && !models.has(model))
      models.set(model, Buffer.byteLength(body.text.slice(0, token.start)))
    if (name !== undefined)
      volatile ||= isVolatile(name, 0) || fileFunctions.has(name) || macros.has(name)
    if (token.kind === 'string' || token.kind === 'quoted')
      volatile ||= isDataFile(token.text.slice(1, -1))
  }
  return {
    models: Array.from(models, ([name, at]) => ({ name, at })),
    sources: [...sources].toSorted(),
    unknown: [],
    hidden: [],
    reaching: [],
    hasParameters: false,
    files: [],
    volatile,
  }
}

const wordsOf = (body: ModelBody) => tokenize(body.text).filter(({ kind }) => kind !== 'comment')
