// A row filter of eider.yml, as a condition that SQL takes: one expression over the columns of a set. Whether it fits the
// set is known where the set is.

import { type Diagnostic, diagnostic } from '../core/diagnostics.ts'
import { type WrittenFilter, isInScope, matches, opens } from '../access/reader.ts'
import type { RowFilter } from '../core/row-filter.ts'
import { ModelBody, sql } from '../core/sql.ts'
import { isPlainCondition } from './checks/resolve-checks.ts'
import { isVolatile } from './sql/engine-functions.ts'
import { nullComparison } from './sql/null-comparison.ts'
import { isSymbol, nameOf, type Token, tokenize } from './sql/tokens.ts'
import type { Model } from '../core/model.ts'
import { entitySetName, sameName } from '../core/names.ts'
import type { ReaderToken } from '../access/hashed-tokens.ts'
import { didYouMean } from '../core/suggest.ts'
import { type Connection, Database } from '../duckdb/database.ts'
import { ifRefused, refusalOf } from '../duckdb/errors.ts'

export function rowFilter(
  { text, source, span, set }: WrittenFilter,
  token: string,
): RowFilter | Diagnostic {
  const written = { path: source.path, text }
  const condition = ModelBody.of(written, { start: 0, end: text.length })
  const wrong = (problem: string) => filterMistake({ set, source, span }, token, problem)
  if (!isPlainCondition(condition)) return wrong('it is not a single expression without subqueries')
  const changing = changingCall(text)
  if (changing !== null) return wrong(`${changing} gives another result each time`)
  return { text, condition: condition.asExpression(), source, span }
}

const HINT = 'write one condition over the columns of the set, such as "country_id = \'NO\'"'

function filterMistake(
  { set, source, span }: Pick<WrittenFilter, 'set' | 'source' | 'span'>,
  token: string,
  problem: string,
  hint: string = HINT,
): Diagnostic {
  const expected = `a condition that fits ${set ?? 'its sets'} (token "${token}"): ${problem}`
  const parameters = { key: 'odata.tokens.rows', expected }
  return diagnostic('config-invalid-value', parameters, { source, span }, hint)
}

/**
 * A call whose result changes though the rows do not: an answer could be repeated when it has ceased to be true.
 * Bare words may be columns, except those that are reserved.
 */
export function changingCall(text: string): string | null {
  const tokens = tokenize(text).filter(({ kind }) => kind !== 'comment')
  const found = tokens.find((token, i) => {
    const name = nameOf(token)?.toLowerCase() ?? ''
    if (isSymbol(tokens[i + 1], '(')) return isVolatile(name, argumentCount(tokens.slice(i + 2)))
    return token.kind === 'word' && /^(?:current_|local)/.test(name) && isVolatile(name, 0)
  })
  return found?.text ?? null
}

/** What other databases take for whoever asks, where no column has the name. */
const SESSION =
  /^(?:user|current_user|session_user|current_role|current_database|current_schema|current_catalog|current_setting|getvariable)$/i

function sessionWord(text: string, columns: Model['columns']): string | null {
  const tokens = tokenize(text).filter(({ kind }) => kind !== 'comment')
  const found = tokens.find((token, i) => {
    if (token.kind !== 'word' || !SESSION.test(token.text)) return false
    if (isSymbol(tokens[i - 1], '.')) return false
    return isSymbol(tokens[i + 1], '(') || !columns.some(({ name }) => sameName(name, token.text))
  })
  return found?.text ?? null
}

/** From the token after the opening bracket. */
function argumentCount(tokens: readonly Token[]): number {
  let depth = 0
  let commas = 0
  for (const token of tokens) {
    if (isSymbol(token, ')') && depth === 0) break
    if (isSymbol(token, '(') || isSymbol(token, '[')) depth++
    else if (isSymbol(token, ')') || isSymbol(token, ']')) depth--
    else if (isSymbol(token, ',') && depth === 0) commas++
  }
  return commas + 1
}

/** Sets of `odata.tokens` that nobody exposes, and row filters that do not fit. A pattern may wait for its first set. */
export async function readerMistakes(
  tokens: readonly ReaderToken[],
  models: Iterable<Model>,
): Promise<readonly Diagnostic[]> {
  if (tokens.length === 0) return []
  const exposed = [...models].filter(({ expose }) => expose !== null)
  const names = exposed.map(({ name }) => entitySetName(name))
  const isKnown = (text: string) => text.includes('*') || names.some((name) => matches(text, name))
  const found: Diagnostic[] = []
  for (const { scope } of tokens)
    for (const { text, source, span } of scope ?? []) {
      if (isKnown(text)) continue
      const parameters = {
        key: 'odata.tokens.sets',
        expected: `names of entity sets; there is no "${text}"`,
      }
      const hint = didYouMean(text, names) ?? 'eider ls lists the models'
      found.push(diagnostic('config-invalid-value', parameters, { source, span }, hint))
    }
  for (const token of tokens) found.push(...closedSets(token, exposed))
  for (const { name, scope, rows } of tokens)
    for (const filter of rows) {
      const { set } = filter
      if (set !== null && !isKnown(set)) {
        const hint = didYouMean(set, names) ?? 'eider ls lists the models'
        found.push(filterMistake(filter, name, 'no exposed model has this name', hint))
        continue
      }
      const concerned = exposed.filter((model) => {
        const known = entitySetName(model.name)
        return set === null ? isInScope(scope, known) : matches(set, known)
      })
      found.push(...(await misfits(filter, name, concerned)))
    }
  return found
}

/** What somebody may miss who holds the token. A rollup of a set with a filter is never there. */
function closedSets(token: ReaderToken, exposed: readonly Model[]): readonly Diagnostic[] {
  const { name, scope, rows } = token
  const names = exposed
    .filter(({ meaning }) => meaning?.rollup === undefined)
    .map((model) => entitySetName(model.name))
  return (scope ?? []).flatMap(({ text, source, span }) => {
    const closed = names.filter((set) => matches(text, set) && !opens(token, set))
    const [first, ...more] = closed
    if (first === undefined) return []
    const others = more.length === 0 ? '' : ` and ${more.length} more`
    const parameters = { token: name, sets: `${first}${others}`, pattern: text }
    // A filter of all sets closes none.
    const { set, text: condition } = rows[0]!
    const hint = `list ${first} in sets too, or filter its rows: rows: {${set}: "${condition}", ${first}: …}`
    return [diagnostic('token-set-closed', parameters, { source, span }, hint)]
  })
}

async function misfits(
  written: WrittenFilter,
  token: string,
  models: readonly Model[],
): Promise<readonly Diagnostic[]> {
  const filter = rowFilter(written, token)
  if ('code' in filter) return [filter]
  await using database = await Database.open({ path: ':memory:', threads: 1 })
  await using connection = await database.connect()
  const found: Diagnostic[] = []
  const nothing = nullComparison(written.text)
  if (nothing !== null) {
    const problem = `"${nothing.written}" is NULL for every row, so its reader sees none`
    return [filterMistake(written, token, problem, `write ${nothing.meant}`)]
  }
  for (const { name, columns } of models) {
    const set = entitySetName(name)
    const session = sessionWord(written.text, columns)
    if (session !== null) {
      const problem = `${session} is the same for everybody who reads`
      const hint = 'write the value itself, in a token for each reader'
      found.push(filterMistake({ ...written, set }, token, problem, hint))
      continue
    }
    if (!(await canStandIn(connection, set, columns))) continue
    const query = sql`SELECT (${sql.body(filter.condition)}\n) FROM ${sql.ident(set)}`
    const problem = await ifRefused(
      connection.columnsOf(query).then(([column]) => {
        return column?.type === 'BOOLEAN' ? null : `it is ${column?.type}, not BOOLEAN`
      }),
      ({ details }) => details.message.split('\n')[0]!,
    )
    if (problem !== null) found.push(filterMistake({ ...written, set }, token, problem))
  }
  return found
}

/** An empty table with the columns of a model. False for types of extensions, which the service looks at when it starts. */
async function canStandIn(
  connection: Connection,
  table: string,
  columns: Model['columns'],
): Promise<boolean> {
  const create = sql`CREATE TABLE ${sql.ident(table)} (${sql.definitions(columns)})`
  return (await refusalOf(connection.run(create))) === null
}
