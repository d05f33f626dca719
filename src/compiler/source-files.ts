// Contents of the files that models read: part of their fingerprints.

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { relative, resolve } from 'node:path'
import { sql } from '../core/sql.ts'
import type { Connection } from '../duckdb/database.ts'
import { textOf } from '../duckdb/values.ts'

/**
 * One hash per name in `files` of the models; a name may be a glob and then stands for the names and contents that it
 * matches now. A file that is missing or remote has none: reading it is for the engine to refuse, or makes the model
 * volatile.
 */
export async function hashFiles(
  connection: Connection,
  dir: string,
  models: Iterable<{ readonly files: readonly string[] }>,
): Promise<ReadonlyMap<string, string>> {
  const hashes = new Map<string, string>()
  for (const { files } of models)
    for (const name of files)
      if (!hashes.has(name) && !name.includes('://'))
        hashes.set(name, await hashName(connection, dir, name))
  return hashes
}

async function hashName(connection: Connection, dir: string, name: string): Promise<string> {
  const hash = createHash('sha256')
  for (const path of await filesOf(connection, dir, name)) {
    hash.update(JSON.stringify(relative(dir, path)))
    try {
      for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
    } catch (error) {
      hash.update((error as NodeJS.ErrnoException).code ?? 'unreadable')
    }
  }
  return hash.digest('hex').slice(0, 16)
}

/** Globs are expanded by the engine, so that they mean the same as in a query. */
export async function filesOf(
  connection: Connection,
  dir: string,
  name: string,
): Promise<readonly string[]> {
  const pattern = resolve(dir, name)
  if (!isGlob(name)) return [pattern]
  const rows = await connection.rows(
    sql`SELECT file FROM glob(${sql.value(pattern)}) ORDER BY file`,
  )
  return rows.map(({ file }) => textOf(file))
}

export const isGlob = (name: string) => /[*?[]/.test(name)
