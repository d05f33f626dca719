// The macros of the project in the warehouse: created before the models that call them, dropped once it no longer has
// them. A leftover macro would keep hiding the DuckDB function of the same name.

import type { Macro } from '../../core/model.ts'
import { sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import type { SavedMacro, StateStore } from '../../store/state.ts'

/** Changes nothing when the macros are those of the run before. */
export async function replaceMacros(
  state: StateStore,
  connection: Connection,
  before: readonly SavedMacro[],
  macros: readonly Macro[],
): Promise<void> {
  const now = macros.map(({ name, body }) => ({ name, text: body.text }))
  if (JSON.stringify(before) === JSON.stringify(now)) return
  await state.change(connection, async () => {
    for (const { name } of before) {
      await connection.run(sql`DROP MACRO IF EXISTS ${sql.ident(name)}`)
      await connection.run(sql`DROP MACRO TABLE IF EXISTS ${sql.ident(name)}`)
    }
    for (const { body } of macros)
      await connection.run(sql`CREATE OR REPLACE MACRO ${sql.body(body)}`)
    await state.recordMacros(connection, macros)
  })
}
