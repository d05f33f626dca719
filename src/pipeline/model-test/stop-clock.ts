// The time of a test, as the engine tells it.

import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'

/** Macros hide the functions of DuckDB of the same names. */
export async function stopClock(connection: Connection, now: Date): Promise<void> {
  const time = sql`TIMESTAMPTZ ${sql.value(now.toISOString())}`
  const clocks: Readonly<Record<string, Sql>> = {
    now: time,
    get_current_timestamp: time,
    transaction_timestamp: time,
    current_localtimestamp: sql`(${time})::TIMESTAMP`,
    current_date: sql`(${time})::DATE`,
    today: sql`(${time})::DATE`,
    current_localtime: sql`(${time})::TIMESTAMP::TIME`,
    get_current_time: sql`(${time})::TIMESTAMP::TIME`,
  }
  for (const [name, value] of Object.entries(clocks))
    await connection.run(sql`CREATE OR REPLACE MACRO ${sql.ident(name)}() AS ${value}`)
}
