// A table of a source that was there when the source was attached, and that a query no longer finds.

import { sameName } from '../../core/names.ts'
import type { ExternalSource } from '../../core/sources.ts'
import type { Connection } from '../../duckdb/database.ts'
import { ifRefused } from '../../duckdb/errors.ts'
import { sourceAccess } from './kinds.ts'
import { cannotBeRead } from './known-sources.ts'

/** `tables`: those that are read, as `source.table`. Asks the server; null: nothing more is known than the message says. */
export async function problemOfMissing(
  connection: Connection,
  sources: readonly ExternalSource[],
  tables: ReadonlySet<string>,
  message: string,
): Promise<string | null> {
  const [, missing] = /^Table with name "?(.+?)"? does not exist/.exec(message) ?? []
  if (missing === undefined) return null
  for (const source of sources) {
    const table = source.tables.find(
      ({ name }) => tables.has(`${source.name}.${name}`) && sameName(name, missing),
    )
    const { explainMissing } = sourceAccess[source.kind]
    if (table === undefined || explainMissing === undefined) continue
    const asked = explainMissing(connection, source, table.name, message)
    const found = await ifRefused(asked, () => null)
    if (found !== null) return cannotBeRead(source, found)
  }
  return null
}
