// A database file with a log next to it that holds several commits, and copies of the two with another log.

import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { statSync } from 'node:fs'
import { type Sql, sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { temporaryDirectory } from './temporary-directory.ts'

export interface WrittenLog extends AsyncDisposable {
  readonly log: Buffer
  /** Where each commit ends; the first one is that of `first`. */
  readonly ends: readonly number[]
  /** A file with this log in a directory of its own. */
  withLog(log: Uint8Array): Promise<string>
}

/** After `first` each statement is one commit. `attached`: options of ATTACH. */
export async function writtenLog(
  first: Sql,
  statements: readonly Sql[],
  attached = sql.empty,
): Promise<WrittenLog> {
  const directory = await temporaryDirectory()
  const path = join(directory.path, 'written.duckdb')
  const ends: number[] = []
  {
    await using database = await Database.open({ path: ':memory:', threads: 1 })
    await using connection = await database.connect()
    await connection.run(sql`PRAGMA disable_checkpoint_on_shutdown`)
    await connection.run(sql`ATTACH ${sql.value(path)} AS written ${attached}`)
    await connection.run(sql`USE written`)
    for (const statement of [first, ...statements]) {
      await connection.transact(async () => void (await connection.run(statement)))
      ends.push(statSync(`${path}.wal`).size)
    }
  }
  let copies = 0
  return {
    log: await readFile(`${path}.wal`),
    ends,
    async withLog(log) {
      const dir = join(directory.path, String(++copies))
      await mkdir(dir)
      await copyFile(path, join(dir, 'written.duckdb'))
      await writeFile(join(dir, 'written.duckdb.wal'), log)
      return join(dir, 'written.duckdb')
    },
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  }
}
