// Where a text can still be read below a directory: as it stands in the bytes of a file, and in the rows of database files,
// which may hold it compressed.

import { copyFile, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { numberOf, textOf } from '../../src/duckdb/values.ts'

/** Paths relative to `dir`, with the table where it is in a row. */
export async function findText(dir: string, text: string): Promise<readonly string[]> {
  const found: string[] = []
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const bytes = await readFile(path)
    const name = path.slice(dir.length + 1)
    if (bytes.includes(text)) found.push(name)
    if (bytes.subarray(8, 12).toString() === 'DUCK')
      for (const table of await tablesWith(path, text)) found.push(`${name} ${table}`)
  }
  return found.toSorted()
}

/** Of a copy: opening the file itself would take its lock from whoever has it. */
async function tablesWith(path: string, text: string): Promise<readonly string[]> {
  const dir = await mkdtemp(join(tmpdir(), 'eider-find-'))
  try {
    const copy = join(dir, 'copy.duckdb')
    await copyFile(path, copy)
    await copyFile(`${path}.wal`, `${copy}.wal`).catch(() => undefined) // there may be none
    await using database = await Database.open({ path: copy, threads: 1 })
    await using connection = await database.connect()
    const tables = await connection.rows(sql`
      SELECT schema_name AS schema, table_name AS name FROM duckdb_tables()
      WHERE database_name = current_database()`)
    const found: string[] = []
    for (const { schema, name } of tables) {
      const table = sql.ident(textOf(schema), textOf(name))
      const row = await connection.row(sql`
        SELECT count(*) AS n FROM ${table} AS one
        WHERE contains(CAST(one AS VARCHAR), ${sql.value(text)})`)
      if (numberOf(row?.['n']) > 0) found.push(`${textOf(schema)}.${textOf(name)}`)
    }
    return found
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}
