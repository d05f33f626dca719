// Queries with their references resolved: what each model reads, and a text that is equal for equal meanings.

import { type Diagnostic, diagnostic } from '../core/diagnostics.ts'
import type { ModelName } from '../core/names.ts'
import type { ModelBody } from '../core/sql.ts'
import { didYouMean, nearest } from '../core/suggest.ts'
import type { Connection } from '../duckdb/database.ts'
import { type ParsedStatement, type SyntaxNode, parseStatements } from '../duckdb/syntax.ts'
import { fileFunctions, isVolatile } from './sql/engine-functions.ts'
import type { ParsedQuery } from './model-file.ts'
import { engineDiagnostic, spanAt, spanAtByte } from './places.ts'
import { type KnownNames, type References, isDataFile, referencesOf } from './sql/references.ts'
import { isSymbol, nameOf, tokenize } from './sql/tokens.ts'

export interface ResolvedQuery {
  readonly parsed: ParsedQuery
  /** null for a PIVOT that takes its columns from the data: the engine does not show its tree. */
  readonly tree: SyntaxNode | null
  readonly canonical: string
  readonly references: References
}

export interface Resolution {
  /** Those whose references are all known. */
  readonly queries: readonly ResolvedQuery[]
  readonly diagnostics: readonly Diagnostic[]
}

/** `readable`: names of what a query may read, for hints. */
export async function resolveQueries(
  connection: Connection,
  models: readonly ParsedQuery[],
  known: KnownNames,
  readable: readonly string[],
): Promise<Resolution> {
  const statements = await parseStatements(
    connection,
    models.map(({ body }) => body.text),
  )
  const queries: ResolvedQuery[] = []
  const diagnostics: Diagnostic[] = []
  for (const [i, parsed] of models.entries()) {
    const query = resolveQuery(parsed, statements[i]!, known)
    const found = 'code' in query ? [query] : mistakesIn(query, readable)
    diagnostics.push(...found)
    if (!('code' in query) && found.length === 0) queries.push(query)
  }
  return { queries, diagnostics }
}

function resolveQuery(
  parsed: ParsedQuery,
  statement: ParsedStatement,
  known: KnownNames,
): ResolvedQuery | Diagnostic {
  const { body, source } = parsed
  switch (statement.is) {
    case 'select': {
      const { tree, canonical } = statement
      return { parsed, tree, canonical, references: referencesOf(tree, known) }
    }
    case 'pivot': {
      const canonical = JSON.stringify(wordsOf(body).map(({ text }) => text))
      return { parsed, tree: null, canonical, references: referencesInText(body, known) }
    }
    case 'other':
      return diagnostic('not-a-select', {}, { source, span: spanAt(body, 0) })
    case 'error':
      return engineDiagnostic(statement.details, body)
  }
}

function mistakesIn(
  { parsed: { kind, header, body }, references, tree }: ResolvedQuery,
  readable: readonly string[],
): readonly Diagnostic[] {
  const { unknown, hidden, hasParameters } = references
  const { source } = body
  const place = (at: number | null) => ({ source, span: spanAtByte(body, at) })
  const pivots = (use: string) => {
    const hint = 'list them: PIVOT … ON column IN (…)'
    return diagnostic('dynamic-pivot', { use }, place(null), { hint })
  }
  return [
    ...unknown.map(({ name, at }) => unknownModel(name, place(at), readable)),
    ...hidden.map((call) =>
      diagnostic('hidden-reference', { function: call.function }, place(call.at), {
        hint: 'name the model in FROM',
      }),
    ),
    ...(hasParameters ? [diagnostic('model-parameter', {}, placeOfParameter(body))] : []),
    ...(tree === null && kind !== 'table' ? [pivots(`no model of kind ${kind} can`)] : []),
    ...(tree === null && header.expose !== undefined ? [pivots('no exposed model can')] : []),
  ]
}

/** The engine does not say where a parameter is. */
function placeOfParameter(body: ModelBody) {
  const sign = wordsOf(body).find((token) => isSymbol(token, '?') || isSymbol(token, '$'))
  return { source: body.source, span: spanAt(body, sign?.start ?? null) }
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
  const shape = name.split('.').length === 2 ? undefined : 'models are named schema.table'
  return diagnostic('unknown-model', { name }, at, { hint: hint ?? shape })
}

/**
 * What is read by a query whose tree the engine does not show: each `a.b` that is the name of a model. A column that
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
    hasParameters: false,
    files: [],
    volatile,
  }
}

const wordsOf = (body: ModelBody) => tokenize(body.text).filter(({ kind }) => kind !== 'comment')
