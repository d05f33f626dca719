// Sources that are databases in files of this machine.

import { type Explanation } from '../hints/engine-words.ts'
import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type Sql, sql } from '../../core/sql.ts'
import { refusePipe, SourceProblem } from './problems.ts'
import { attachedName, type SourceAccess } from './source-access.ts'

/** What the engine would try to install, or take for an empty database; `head`: the first 16 bytes. */
type Check = (head: string) => Explanation | null

const isSqlite = (head: string) => head.startsWith('SQLite format 3')

export const duckdb = databaseFile(sql.empty, (head) => {
  if (isSqlite(head))
    return { problem: 'it is an SQLite database', hint: 'write sqlite: instead of database:' }
  const hint = 'a data file goes under tables, as file: data/x.csv'
  return head.slice(8, 12) === 'DUCK' ? null : { problem: 'it is not a DuckDB database', hint }
})

export const sqlite = databaseFile(sql`TYPE sqlite, `, (head) =>
  isSqlite(head) || head === ''
    ? null
    : { problem: 'it is not an SQLite database', hint: 'write database: for a DuckDB file' },
)

function databaseFile(type: Sql, check: Check): SourceAccess {
  return {
    filesOf: ({ location }, dir) =>
      location === null ? [] : COMPANIONS.map((end) => resolve(dir, location) + end),
    open: async (_database, dir, source) => ({
      async attach(connection) {
        const path = resolve(dir, source.location!)
        refusePipe(path, source.database ?? path)
        const problem = await wrongFormat(path, check)
        if (problem !== null) throw new SourceProblem(problem)
        const as = sql.ident(attachedName(source))
        await connection.run(sql`ATTACH ${sql.value(path)} AS ${as} (${type}READ_ONLY)`)
      },
      stamp: async () => undefined,
      select: async (_connection, { name }) =>
        sql`SELECT * FROM ${sql.ident(attachedName(source), source.schema, name)}`,
      explain: () => null,
    }),
  }
}

/** The database, and what the engine writes next to it. */
const COMPANIONS = ['', '.wal', '-wal', '-shm', '-journal']

/** A missing file is left for the engine to report. */
async function wrongFormat(path: string, check: Check): Promise<Explanation | null> {
  const file = await open(path).catch(() => null)
  if (file === null) return null
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(16), 0, 16, 0)
    return check(buffer.subarray(0, bytesRead).toString('latin1'))
  } finally {
    await file.close()
  }
}
