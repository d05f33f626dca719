// What is wrong with `odata.tokens` once the models are known: sets that nobody exposes, row filters that do not fit.

import { type Diagnostic, diagnostic } from '../core/diagnostics.ts'
import type { Model } from '../core/model.ts'
import { entitySetName } from '../core/names.ts'
import type { ReaderToken } from '../access/hashed-tokens.ts'
import { isInScope, matches, type WrittenFilter } from '../access/reader.ts'
import { sql } from '../core/sql.ts'
import { didYouMean } from '../core/suggest.ts'
import { type Connection, Database } from '../duckdb/database.ts'
import { ifRefused, refusalOf } from '../duckdb/errors.ts'
import { filterMistake, rowFilter } from './row-filter.ts'

/** A pattern may wait for its first set. */
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
  for (const { name, columns } of models) {
    const set = entitySetName(name)
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
