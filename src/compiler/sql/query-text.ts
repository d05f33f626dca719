// One query that a person typed, as a body that can be run.

import { DiagnosticsError } from '../../core/diagnostics.ts'
import { UsageError } from '../../core/failures.ts'
import { ModelBody, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { DatabaseError } from '../../duckdb/errors.ts'
import { parseStatements } from '../../duckdb/syntax.ts'
import { engineDiagnostic } from '../places.ts'
import { statementsOf } from './statements.ts'
import { spanOf } from './tokens.ts'

/** Throws UsageError when `text` is not a single SELECT, DiagnosticsError when DuckDB cannot bind it. */
export async function parseQuery(connection: Connection, text: string): Promise<ModelBody> {
  const source = { path: 'query', text }
  const [statement, second] = statementsOf(source).statements
  if (statement === undefined || second !== undefined) throw notASelect()
  const body = ModelBody.of(source, spanOf(statement))
  const [parsed] = await parseStatements(connection, [body.text])
  if (parsed?.is === 'error') throw new DiagnosticsError([engineDiagnostic(parsed.details, body)])
  if (parsed?.is !== 'select' && parsed?.is !== 'pivot') throw notASelect()
  const prefix = sql`EXPLAIN `
  try {
    await connection.rows(sql`${prefix}${sql.body(body)}`)
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error
    throw new DiagnosticsError([engineDiagnostic(error.details, body, prefix.inline())])
  }
  return body
}

const notASelect = () =>
  new UsageError('a query must be a single SELECT', { hint: 'only a run changes the warehouse' })
