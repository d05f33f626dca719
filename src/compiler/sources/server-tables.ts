// A table that its server does not have, or does not show.

import { type Explanation } from '../hints/engine-words.ts'
import type { ExternalSource, SourceServer } from '../../core/sources.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { didYouMean } from '../../core/suggest.ts'
import type { Connection } from '../../duckdb/database.ts'
import { textOf } from '../../duckdb/values.ts'
import { askServer } from './exact-numbers.ts'
import { otherSchema } from './problems.ts'

interface AskedServer {
  readonly source: ExternalSource
  readonly server: SourceServer
  /** The function of the engine that runs a query there. */
  readonly query: Sql
}

/** Names of tables that a hint lists. */
const LISTED = 5

/**
 * What its user sees there instead: the server shows a table that the user may not read as little as one that is gone.
 * null: the message is about something else. Throws DatabaseError.
 */
export async function missingTable(
  connection: Connection,
  { source, server, query }: AskedServer,
  table: string,
  message: string,
): Promise<Explanation | null> {
  if (!message.startsWith('Table with name')) return null
  const { schema } = source
  const asked = sql`
    SELECT table_schema AS place, table_name AS name FROM information_schema.tables
    WHERE table_schema = ${sql.value(schema)} OR table_name = ${sql.value(table)} ORDER BY table_name`
  const rows = await connection.rows(sql`FROM ${askServer(query, source, asked)}`)
  const seen = rows.map((row) => ({ place: textOf(row['place']), name: textOf(row['name']) }))
  const problem = `its database has no table "${table}" that ${server.user} can see in ${schema}`
  const elsewhere = seen.find(({ place }) => place !== schema)
  if (elsewhere !== undefined) return { problem, hint: otherSchema(elsewhere.place) }
  const names = seen.map(({ name }) => name)
  return { problem, hint: didYouMean(table, names) ?? renamedHint(names, server.user) }
}

function renamedHint(names: readonly string[], user: string): string {
  const reasons = `it may have another name or schema now, or ${user} may have lost the right to read it`
  if (names.length === 0) return `${reasons}; ${user} sees no table there`
  const rest = names.length > LISTED ? ', …' : ''
  return `${reasons}; there are ${names.slice(0, LISTED).join(', ')}${rest}`
}
