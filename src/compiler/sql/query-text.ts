// One query that a person typed, as a body that can be run.

import { DiagnosticsError } from '../../core/diagnostics.ts'
import { UsageError } from '../../core/failures.ts'
import { ModelBody, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { refusalOf } from '../../duckdb/errors.ts'
import { parseStatements } from '../../duckdb/syntax.ts'
import { engineDiagnostic } from '../hints/engine-diagnostic.ts'
import { isSymbol, nameOf, statementsOf, type Token, tokensSpan } from './tokens.ts'

/** Statements that only read, and that stand where a query may: `FROM (SHOW TABLES)`. */
const READS = new Set(['show', 'describe', 'desc', 'summarize'])

/** In DuckDB, SHOW TABLES lists the schema main, in which no model is. */
const ALL_TABLES = `SELECT schema || '.' || name AS name FROM (SHOW ALL TABLES)
  WHERE database = current_database() AND schema <> '_eider' ORDER BY name`

/**
 * The name of a table alone stands for all of its rows. Throws UsageError when the text is not a single statement that only
 * reads, DiagnosticsError when DuckDB cannot bind it.
 */
export async function parseQuery(connection: Connection, typed: string): Promise<ModelBody> {
  const text = /^\s*show\s+tables\s*;?\s*$/i.test(typed) ? ALL_TABLES : typed
  const source = { path: 'query', text }
  const [statement, second] = statementsOf(source).statements
  if (statement === undefined || second !== undefined) throw notASelect()
  const body = ModelBody.of(source, tokensSpan(statement))
  const rowsOf = `FROM ${body.text}`
  const texts = isName(statement) ? [body.text, rowsOf] : [body.text]
  const [parsed, named] = await parseStatements(connection, texts)
  // A word such as CHECKPOINT is a statement before it is a name.
  if (parsed?.is === 'error' && named?.is === 'select') return await parseQuery(connection, rowsOf)
  if (parsed?.is === 'error') throw new DiagnosticsError([engineDiagnostic(parsed.details, body)])
  const [word] = statement
  const reads = word?.kind === 'word' && READS.has(word.text.toLowerCase())
  if (parsed?.is !== 'select' && parsed?.is !== 'pivot' && !reads) throw notASelect()
  const [prefix, end] = reads ? [sql`EXPLAIN FROM (`, sql`)`] : [sql`EXPLAIN `, sql.empty]
  const refusal = await refusalOf(connection.rows(sql`${prefix}${sql.body(body)}${end}`))
  if (refusal === null) return body
  throw new DiagnosticsError([engineDiagnostic(refusal.details, body, prefix.inline())])
}

/** Names with dots between them. */
const isName = (statement: readonly Token[]): boolean =>
  statement.length % 2 === 1 &&
  statement.every((token, i) => (i % 2 === 0 ? nameOf(token) !== null : isSymbol(token, '.')))

const notASelect = () =>
  new UsageError('a query must be a single SELECT, SHOW, DESCRIBE or SUMMARIZE', {
    hint: 'only a run changes the warehouse',
  })
