// Where a text can still be read in a lake.

import { openRawEngine } from './raw-engine.ts'
import type { TestLake } from './with-lake.ts'

/** Objects with a row that holds the text, and tables of PostgreSQL. */
export async function findInLake(lake: TestLake, text: string): Promise<readonly string[]> {
  await using engine = await openRawEngine(lake)
  const connection = await engine.connect()
  const objects = await connection.rows(
    `SELECT file FROM glob('${lake.data}**') WHERE file LIKE '%.parquet' ORDER BY file`,
  )
  const found: string[] = []
  for (const [file] of objects) {
    const [[rows] = []] = await connection.rows(
      `SELECT count(*)::VARCHAR FROM read_parquet('${String(file)}') AS one WHERE contains(CAST(one AS VARCHAR), '${text}')`,
    )
    if (rows !== '0') found.push(String(file))
  }
  const tables = await lake.postgres(
    "SELECT table_name FROM information_schema.tables WHERE table_schema = 'shop' ORDER BY 1",
  )
  for (const [table] of tables) {
    const [[rows] = []] = await lake.postgres(
      `SELECT count(*) FROM shop."${table}" t WHERE t::text LIKE '%${text}%'`,
    )
    if (rows !== '0') found.push(`postgres ${table}`)
  }
  return found
}
