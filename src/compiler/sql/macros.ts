// Macros of a project: created first, so that models can call them. What a macro reads, its callers read.

import { type Diagnostic, diagnostic, hasErrors } from '../../core/diagnostics.ts'
import type { Macro } from '../../core/model.ts'
import type { SourceFile, FilePlace } from '../../core/source-text.ts'
import { ModelBody, sql } from '../../core/sql.ts'
import { didYouMean } from '../../core/suggest.ts'
import type { Variables } from '../../core/variables.ts'
import type { Connection } from '../../duckdb/database.ts'
import { refusalOf } from '../../duckdb/errors.ts'
import { parseTree, type SyntaxNode } from '../../duckdb/syntax.ts'
import type { Row } from '../../duckdb/values.ts'
import { definitionOf } from '../definition-hash.ts'
import { engineDiagnostic, spanAt } from '../hints/engine-diagnostic.ts'
import { type MacroFacts, type References, referencesOf, together } from './references.ts'
import {
  type Statement,
  statementsOf,
  isSymbol,
  isWord,
  nameOf,
  tokensSpan,
  tokenize,
} from './tokens.ts'
import { bodyOf } from '../variables.ts'

export interface Macros {
  /** What follows CREATE MACRO, in an order in which they can be created. */
  readonly macros: readonly Macro[]
  /** By name in lower case. */
  readonly facts: ReadonlyMap<string, MacroFacts>
  /** Hash of all definitions; part of the definition of every model. */
  readonly definition: string
  /** Hash of those that a canonical text may call, directly or not: those whose names stand in it. */
  readonly definitionIn: (canonical: string) => string
  readonly diagnostics: readonly Diagnostic[]
}

const PREFIX = sql`CREATE MACRO `

/** Creates the macros in the database of the connection, where there are none yet. */
export async function createMacros(
  connection: Connection,
  files: readonly SourceFile[],
  variables: Variables,
): Promise<Macros> {
  const parsed = files.flatMap((source) =>
    statementsOf(source).statements.flatMap((statement) =>
      parseMacro(source, statement, variables),
    ),
  )
  const misplaced = parsed.filter((item) => 'code' in item)
  const { bodies, failed } = await createAll(
    connection,
    parsed.filter((item) => item instanceof ModelBody),
  )
  const { facts, definition, definitionIn, hiding } =
    bodies.length === 0 ? NO_MACROS : await inspect(connection, bodies)
  const hidden = bodies
    .filter((body) => hiding.has(macroName(body)))
    .map((body) => {
      const hint =
        'let the macro take the name of a table as a parameter, for query_table(parameter)'
      return diagnostic('hidden-reference', { function: 'query' }, nameOfMacro(body), hint)
    })
  const macros = bodies.map((body) => ({ name: macroName(body), body }))
  const diagnostics = [...misplaced, ...failed, ...hidden]
  return { macros, facts, definition, definitionIn, diagnostics }
}

/** The span after `CREATE [OR REPLACE] MACRO`. The name has no schema: macros belong to no model. */
function parseMacro(
  source: SourceFile,
  statement: Statement,
  variables: Variables,
): readonly (ModelBody | Diagnostic)[] {
  const orReplace = isWord(statement[1], 'or') && isWord(statement[2], 'replace')
  const at = orReplace ? 3 : 1
  const [first] = statement
  const keyword = statement[at]
  const isMacro = isWord(keyword, 'macro') || isWord(keyword, 'function')
  if (!isWord(first, 'create') || !isMacro)
    return [
      diagnostic(
        'not-a-macro',
        { expected: 'CREATE MACRO' },
        { source, span: first },
        notAMacro(source),
      ),
    ]
  const name = statement[at + 1]
  if (name === undefined || nameOf(name) === null || !isSymbol(statement[at + 2], '(')) {
    const place = { source, span: name ?? keyword ?? first }
    const hint = 'write CREATE MACRO name(x) AS …'
    const expected = 'a name without a schema, and "("'
    return [diagnostic('not-a-macro', { expected }, place, hint)]
  }
  const span = { start: name.start, end: tokensSpan(statement).end }
  const { body, diagnostics } = bodyOf(source, span, variables)
  return hasErrors(diagnostics) ? diagnostics : [body, ...diagnostics]
}

/** Folders of that name hold Jinja in a project of dbt. */
const notAMacro = ({ text }: SourceFile) =>
  /\{%-?\s*macro\b/.test(text)
    ? 'macros of dbt are not read; write CREATE MACRO name(x) AS …'
    : 'write CREATE MACRO name(x) AS …'

/** A macro may call one that stands below it or in another file, so those that fail are tried again. */
async function createAll(
  connection: Connection,
  macros: readonly ModelBody[],
): Promise<{ readonly bodies: readonly ModelBody[]; readonly failed: readonly Diagnostic[] }> {
  const bodies: ModelBody[] = []
  let open = macros
  for (;;) {
    const failed: { readonly macro: ModelBody; readonly diagnostic: Diagnostic }[] = []
    for (const macro of open) {
      const problem = await create(connection, macro)
      if (problem === null) bodies.push(macro)
      else failed.push({ macro, diagnostic: problem })
    }
    if (failed.length === 0 || failed.length === open.length)
      return { bodies, failed: failed.map((item) => item.diagnostic) }
    open = failed.map(({ macro }) => macro)
  }
}

async function create(connection: Connection, macro: ModelBody): Promise<Diagnostic | null> {
  const error = await refusalOf(connection.run(sql`${PREFIX}${sql.body(macro)}`))
  if (error === null) return null
  const found = engineDiagnostic(error.details, macro, PREFIX.inline())
  const meant = didYouMean(error.details.name ?? '', parametersOf(macro))
  if (meant !== undefined) return { ...found, hint: meant }
  if (!error.details.message.startsWith('Table with name')) return found
  const hint =
    'a macro names no model: it takes the name as a parameter, for query_table(parameter)'
  return { ...found, hint }
}

/** Words between the first parentheses of `name(a, b := 1) AS …`. */
function parametersOf(macro: ModelBody): readonly string[] {
  const tokens = tokenize(macro.text)
  const close = tokens.findIndex((token) => isSymbol(token, ')'))
  return tokens.slice(2, close).flatMap((token) => nameOf(token) ?? [])
}

interface Inspection {
  readonly facts: ReadonlyMap<string, MacroFacts>
  readonly definition: string
  readonly definitionIn: Macros['definitionIn']
  /** Macros that run a text as a query; nobody can say what they read. */
  readonly hiding: ReadonlySet<string>
}

const NO_MACROS: Inspection = {
  facts: new Map(),
  definition: '',
  definitionIn: () => '',
  hiding: new Set(),
}

/** What is asked here is part of the definitions of models: with one column more all that call macros would be built again. */
async function inspect(connection: Connection, bodies: readonly ModelBody[]): Promise<Inspection> {
  const rows = await connection.rows(sql`
    SELECT
      lower(function_name) AS name, parameters, parameter_types, macro_definition,
      json_serialize_sql(
        CASE function_type WHEN 'macro' THEN 'SELECT ' ELSE '' END || macro_definition
      ) AS tree
    FROM duckdb_functions()
    WHERE NOT internal AND function_type LIKE '%macro'
    ORDER BY ALL`)
  const facts = new Map<string, MacroFacts>()
  const hiding = new Set<string>()
  // In the order of creation those that a macro calls come before it.
  for (const name of bodies.map(macroName)) {
    for (const row of rows.filter((candidate) => candidate['name'] === name)) {
      const parsed = parseTree(row['tree'] as string)
      if (parsed.is !== 'select') {
        hiding.add(name)
        continue
      }
      const found = referencesOf(parsed.tree, {
        findModel: () => null,
        findSource: () => null,
        macros: facts,
      })
      if (found.hidden.some((call) => call.function === 'query')) hiding.add(name)
      const gives = facts.has(name) ? undefined : itemOf(parsed.tree)
      facts.set(name, { ...joined(facts.get(name), found), ...(gives && { gives }) })
    }
  }
  return { facts, hiding, definition: definitionOf(rows), definitionIn: calledIn(rows) }
}

function itemOf(tree: SyntaxNode): SyntaxNode | undefined {
  const { select_list: items } = tree['node'] as { readonly select_list?: readonly SyntaxNode[] }
  return items?.[0]
}

const calledIn = (rows: readonly Row[]) => (canonical: string) => {
  const used = new Set<Row>()
  const texts = [canonical]
  for (let text = texts.pop(); text !== undefined; text = texts.pop()) {
    const words = new Set(text.toLowerCase().match(/[\p{L}\p{N}_$]+/gu))
    for (const row of rows)
      if (!used.has(row) && words.has(row['name'] as string)) {
        used.add(row)
        texts.push(row['macro_definition'] as string)
      }
  }
  return definitionOf(rows.filter((row) => used.has(row)))
}

/** Macros of one name differ in their parameters; which one is called is not looked at. */
function joined(before: MacroFacts | undefined, found: References): MacroFacts {
  const volatiles = [before, found].filter((one) => one !== undefined && one.volatile)
  return {
    files: [...(before?.files ?? []), ...found.files],
    volatile: (before?.volatile ?? false) || found.volatile,
    ...together(new Set(volatiles.map((one) => one?.varies ?? null))),
    takesTable: (before?.takesTable ?? false) || found.hidden.length > 0,
  }
}

function nameOfMacro(body: ModelBody): FilePlace {
  return { source: body.source, span: spanAt(body, 0) }
}

function macroName(body: ModelBody): string {
  return nameOf(tokenize(body.text)[0])!.toLowerCase()
}
