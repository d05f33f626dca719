// One query that a person typed, as a body that can be run.

import { DiagnosticsError } from '../../core/diagnostics.ts'
import { UsageError } from '../../core/failures.ts'
import { ModelBody, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { refusalOf } from '../../duckdb/errors.ts'
import { parseStatements } from '../../duckdb/syntax.ts'
import { engineDiagnostic } from '../hints/engine-diagnostic.ts'
import { statementsOf, tokensSpan } from './tokens.ts'

/** Statements that only read, and that stand where a query may: `FROM (SHOW TABLES)`. */
const READS = new Set(['show', 'describe', 'desc', 'summarize'])

/** In DuckDB, SHOW TABLES lists the schema main, in which no model is. */
const ALL_TABLES = `SELECT schema || '.' || name AS name FROM (SHOW ALL TABLES)
  WHERE database = current_database() AND schema <> '_eider' ORDER BY name`

/** Throws UsageError when `text` is not a single statement that only reads, DiagnosticsError when DuckDB cannot bind it. */
export async function parseQuery(connection: Connection, typed: string): Promise<ModelBody> {
  const text = /^\s*show\s+tables\s*;?\s*$/i.test(typed) ? ALL_TABLES : typed
  const source = { path: 'query', text }
  const [statement, second] = statementsOf(source).statements
  if (statement === undefined || second !== undefined) throw notASelect()
  const body = ModelBody.of(source, tokensSpan(statement))
  const [parsed] = await parseStatements(connection, [body.text])
  if (parsed?.is === 'error') throw new DiagnosticsError([engineDiagnostic(parsed.details, body)])
  const [word] = statement
  const reads = word?.kind === 'word' && READS.has(word.text.toLowerCase())
  if (parsed?.is !== 'select' && parsed?.is !== 'pivot' && !reads) throw notASelect()
  const [prefix, end] = reads ? [sql`EXPLAIN FROM (`, sql`)`] : [sql`EXPLAIN `, sql.empty]
  const refusal = await refusalOf(connection.rows(sql`${prefix}${sql.body(body)}${end}`))
  if (refusal === null) return body
  throw new DiagnosticsError([engineDiagnostic(refusal.details, body, prefix.inline())])
}

const notASelect = () =>
  new UsageError('a query must be a single SELECT, SHOW, DESCRIBE or SUMMARIZE', {
    hint: 'only a run changes the warehouse',
  })
