// A table that its server does not have, or does not show; or only that the engine could not look up over a broken
// connection, which it tells in the same words.

import type { Explanation } from '../hints/engine-words.ts'
import { sameName } from '../../core/names.ts'
import type { ExternalSource, SourceServer } from '../../core/sources.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { didYouMean } from '../../core/suggest.ts'
import type { Connection } from '../../duckdb/database.ts'
import { ifRefused } from '../../duckdb/errors.ts'
import { type Row, textOf } from '../../duckdb/values.ts'
import { askServer } from './exact-numbers.ts'
import { otherSchema } from './problems.ts'

interface AskedServer {
  readonly source: ExternalSource
  readonly server: SourceServer
  /** The function of the engine that runs a query there. */
  readonly query: Sql
  readonly lost: (message: string | null) => Explanation | null
}

/** Names of tables that a hint lists. */
const LISTED = 5

/**
 * What its user sees there instead: the server shows a table that the user may not read as little as one that is gone.
 * `lost`: that the server was lost, as far as the message of an error says so; without one, while the table was looked
 * up. null: the message is about something else. Throws DatabaseError.
 */
export async function missingTable(
  connection: Connection,
  { source, server, query, lost }: AskedServer,
  table: string,
  message: string,
): Promise<Explanation | null> {
  if (!message.startsWith('Table with name')) return null
  const { schema } = source
  const asked = sql`
    SELECT table_schema AS place, table_name AS name FROM information_schema.tables
    WHERE table_schema = ${sql.value(schema)} OR table_name = ${sql.value(table)} ORDER BY table_name`
  const answer = await ifRefused<readonly Row[], Explanation>(
    connection.rows(sql`FROM ${askServer(query, source, asked)}`),
    (error) => {
      const why = lost(error.message)
      if (why === null) throw error
      return why
    },
  )
  if ('problem' in answer) return answer
  const seen = answer.map((row) => ({ place: textOf(row['place']), name: textOf(row['name']) }))
  const problem = `its database has no table "${table}" that ${server.user} can see in ${schema}`
  // It is there, so that it was not found for another reason.
  if (seen.some(({ place, name }) => place === schema && sameName(name, table))) return lost(null)
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
