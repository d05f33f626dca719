// Sources that are databases in files of this machine.

import { short, shortLength } from '../csv/misread-numbers.ts'
import type { Explanation } from '../hints/engine-words.ts'
import { statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { ExternalSource } from '../../core/sources.ts'
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

export const sqlite = databaseFile(
  sql`TYPE sqlite, `,
  (head) =>
    isSqlite(head) || head === ''
      ? null
      : { problem: 'it is not an SQLite database', hint: 'write database: for a DuckDB file' },
  // The engine attaches what it has not opened; it would fail when the tables of all sources are listed.
  (path) => sql`SELECT 1 FROM sqlite_scan(${sql.value(path)}, 'sqlite_master') LIMIT 0`,
)

function sqliteProblem(message: string, shown: string): Explanation | null {
  if (message.includes('unable to open database file'))
    return {
      problem: `${shown} does not exist, or cannot be opened`,
      hint: 'paths are relative to the directory of eider.yml',
    }
  const [damage] =
    /(?:file is not a database|database disk image is malformed)$/m.exec(message) ?? []
  return damage === undefined
    ? null
    : { problem: `${shown}: ${damage}`, hint: 'get the file again, whole' }
}

/** A column of SQLite has a type, and each of its values may have another. */
function otherTypeProblem(
  message: string,
  { database, tables }: ExternalSource,
): Explanation | null {
  const [, column, declared, value, found] =
    /Invalid type in column "(.*?)": column was declared as (\w+), found "(.*?)" of type "(\w+)"/s.exec(
      message,
    ) ?? []
  const [, what, text] = /invalid (date|timestamp) field format: "(.*?)"/s.exec(message) ?? []
  const table = tables.length === 1 ? tables[0]!.name : 'the table'
  const change = `correct these values, or give the column the type TEXT`
  if (column !== undefined)
    return {
      problem: `a value of ${database} is ${found}, "${short(value!)}", in the column ${column}, which is ${declared}`,
      hint: `find its rows with SELECT rowid, ${column} FROM ${table} WHERE typeof(${column}) = '${found}'; ${change}`,
    }
  return what === undefined
    ? null
    : {
        problem: `a value of ${database} is "${short(text!)}" in a column of the type ${what}`,
        hint: `find its rows with SELECT rowid FROM ${table} WHERE ${isLike(text!)}; ${change}`,
      }
}

/** Of a value in a message, which may be of any length. */
function isLike(text: string): string {
  const start = text.slice(0, shortLength).replaceAll("'", "''")
  return text.length > shortLength ? `instr(…, '${start}') = 1` : `… = '${start}'`
}

function databaseFile(type: Sql, check: Check, probe?: (path: string) => Sql): SourceAccess {
  return {
    explainRead: otherTypeProblem,
    filesOf: ({ location }, dir) =>
      location === null ? [] : COMPANIONS.map((end) => resolve(dir, location) + end),
    open: async (_database, dir, source) => ({
      async attach(connection) {
        const path = resolve(dir, source.location!)
        refusePipe(path, source.database ?? path)
        const problem = wrongPath(path, source.database ?? path) ?? (await wrongFormat(path, check))
        if (problem !== null) throw new SourceProblem(problem)
        if (probe !== undefined) await connection.run(probe(path))
        const as = sql.ident(attachedName(source))
        await connection.run(sql`ATTACH ${sql.value(path)} AS ${as} (${type}READ_ONLY)`)
      },
      stamp: async () => undefined,
      select: async (_connection, { name }) =>
        sql`SELECT * FROM ${sql.ident(attachedName(source), source.schema, name)}`,
      explain: (message) => sqliteProblem(message, source.database ?? 'the file'),
    }),
  }
}

/** `shown`: as it is written. A missing file of DuckDB the engine reports. */
function wrongPath(path: string, shown: string): Explanation | null {
  const [, isUrl, rest = ''] = /^(\w+:\/\/)(.*)$/.exec(shown) ?? []
  if (isUrl !== undefined) {
    const bare = rest.replace(/^\//, '')
    return { problem: `${shown} is a URL`, hint: `write the path of the file alone: ${bare}` }
  }
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return null
  return { problem: `${shown} is a directory`, hint: 'name the file of the database' }
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
