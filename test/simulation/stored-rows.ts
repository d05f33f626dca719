// What is in the warehouse of a world after a run, beside what those outside know.

import { damagedEvents } from '../../src/buffer/damaged.ts'
import { sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import type { Project } from '../../src/project/project.ts'
import type { Call, Known, StoredRow } from './known.ts'

/** Of projects that collect into one warehouse, which nobody has open. null: what must hold holds. */
export async function wrongInWarehouse(
  projects: readonly Project[],
  known: Known,
  { due, mayReturn }: { readonly due: ReadonlySet<Call>; readonly mayReturn: boolean },
): Promise<string | null> {
  const path = projects[0]!.paths.database
  await using database = await Database.open({ path, readOnly: true, threads: 1 })
  await using connection = await database.connect()
  const rows = await connection.rows(
    sql`SELECT call::INTEGER AS call, i::INTEGER AS i, note FROM raw.events ORDER BY ALL`,
  )
  let lost = 0
  for (const { paths } of projects)
    for (const { events } of await damagedEvents(paths.buffer)) lost += events
  const wrong = known.wrongRows(rows as unknown as StoredRow[], { due, lost, mayReturn })
  if (wrong !== null) return wrong
  const kept = await connection.row(sql`
    SELECT count(*)::INTEGER AS n FROM (FROM raw.events SELECT call, i EXCEPT ALL FROM mart.kept SELECT call, i)`)
  const few = Number(kept?.['n'])
  return few === 0 ? null : `mart.kept has ${few} rows too few`
}
