// The macros of the project in the warehouse: created before the models that call them, dropped once it no longer has
// them. A leftover macro would keep hiding the DuckDB function of the same name.

import type { Macro } from '../../core/model.ts'
import { sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { textOf } from '../../duckdb/values.ts'

/** Changes nothing when the macros are those of the run before. */
export async function replaceMacros(
  connection: Connection,
  macros: readonly Macro[],
): Promise<void> {
  const rows = await connection.rows(sql`SELECT name, text FROM _eider.macros ORDER BY rowid`)
  const before = rows.map(({ name, text }) => [textOf(name), textOf(text)])
  const now = macros.map(({ name, body }) => [name, body.text])
  if (JSON.stringify(before) === JSON.stringify(now)) return
  await connection.transact(async () => {
    for (const [name = ''] of before) {
      await connection.run(sql`DROP MACRO IF EXISTS ${sql.ident(name)}`)
      await connection.run(sql`DROP MACRO TABLE IF EXISTS ${sql.ident(name)}`)
    }
    await connection.run(sql`DELETE FROM _eider.macros`)
    for (const { name, body } of macros) {
      await connection.run(sql`CREATE OR REPLACE MACRO ${sql.body(body)}`)
      await connection.run(
        sql`INSERT INTO _eider.macros (name, text) VALUES (${sql.value(name)}, ${sql.value(body.text)})`,
      )
    }
  })
}
