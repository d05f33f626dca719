// Contents of the files that models read: part of their fingerprints.

import { createHash } from 'node:crypto'
import { createReadStream, statSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { hashOf } from '../core/hash.ts'
import type { CompiledProject, Model } from '../core/model.ts'
import { versionedName } from '../core/sources.ts'
import { sql } from '../core/sql.ts'
import type { Connection } from '../duckdb/database.ts'
import { textOf } from '../duckdb/values.ts'
import { isPipeOrDevice } from '../files/read-file.ts'
import { isDataFile } from './sql/references.ts'

/** Asked where a name is a pattern, `~` or a directory; others need no engine. */
type Patterns = Pick<Connection, 'rows'>

/**
 * One hash per name in `files` of the models; a name may be a glob and then stands for the names and contents that it
 * matches now. A file that is missing or remote has none: DuckDB reports it when it reads it, or it makes the model
 * volatile.
 */
export async function hashFiles(
  connection: Patterns,
  dir: string,
  models: Iterable<{ readonly files: readonly string[] }>,
  externals: ReadonlyMap<string, HashedExternal> = new Map(),
): Promise<ReadonlyMap<string, string>> {
  const hashes = new Map<string, string>()
  for (const { files } of models)
    for (const name of files) {
      if (hashes.has(name)) continue
      const external = externals.get(name)
      const { is, location = name, stamp, asText = [] } = external ?? { is: 'file' }
      const read = (hash: string) => (asText.length === 0 ? hash : hashOf(16, [hash, asText]))
      if (typeof stamp === 'string') hashes.set(name, read(stamp))
      else if (is === 'database') hashes.set(name, hashDatabase(dir, location))
      else if (is === 'file' && !location.includes('://'))
        hashes.set(name, read(await hashName(connection, dir, location)))
    }
  return hashes
}

/** What a source reads, by its path as written. */
interface HashedExternal {
  readonly is: 'database' | 'file' | 'stamped'
  /** With the values of the environment. */
  readonly location?: string
  readonly stamp?: string | null
  /** The same file gives other rows. */
  readonly asText?: readonly string[]
}

/**
 * An attached database must not be read outside DuckDB: closing the file would release DuckDB's lock. Its
 * size and times, and those of its log, change with what is in it.
 */
function hashDatabase(dir: string, name: string): string {
  const path = resolve(dir, name)
  const stamps = [path, `${path}.wal`, `${path}-wal`].map((file) => {
    const found = statSync(file, { bigint: true, throwIfNoEntry: false })
    return found === undefined ? null : `${found.ino} ${found.size} ${found.mtimeNs}`
  })
  return hashOf(16, stamps)
}

/** Those files that sources declare, among the files that models name. */
export function externalsOf({
  external,
}: Pick<CompiledProject, 'external'>): ReadonlyMap<string, HashedExternal> {
  const found = new Map<string, HashedExternal>()
  for (const { database, location, server, tables } of external?.sources ?? []) {
    if (database !== null)
      found.set(database, server === null ? databaseAt(location ?? database) : { is: 'stamped' })
    for (const { file, location: at } of tables)
      if (file !== null) found.set(file, { is: 'file', location: at ?? file })
  }
  for (const table of external?.tables ?? []) {
    const { stamp, asText = [], path } = table
    const read = found.get(path)
    if (read !== undefined && asText.length > 0)
      found.set(path, { ...read, asText: [...(read.asText ?? []), ...asText] })
    if (stamp !== undefined) found.set(versionedName(table), { is: 'stamped', stamp, asText })
    else if (table.changedBy !== null) found.set(table.name, { is: 'stamped', stamp: null })
  }
  return found
}

const databaseAt = (location: string): HashedExternal => ({ is: 'database', location })

/** Does what hashFiles() does, for seeds alone, which need no engine. */
export async function hashSeeds(
  dir: string,
  models: Iterable<Model>,
): Promise<ReadonlyMap<string, string>> {
  const hashes = new Map<string, string>()
  for (const { kind, source } of models)
    if (kind === 'seed') hashes.set(source.path, await hashPaths(dir, [join(dir, source.path)]))
  return hashes
}

const hashName = async (connection: Patterns, dir: string, name: string): Promise<string> =>
  hashPaths(dir, await filesOf(connection, dir, name))

async function hashPaths(dir: string, paths: readonly string[]): Promise<string> {
  const hash = createHash('sha256')
  for (const path of paths) {
    hash.update(JSON.stringify(relative(dir, path)))
    if (isPipeOrDevice(path)) {
      hash.update('no file')
      continue
    }
    try {
      for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
    } catch (error) {
      hash.update((error as NodeJS.ErrnoException).code ?? 'unreadable')
    }
  }
  return hash.digest('hex').slice(0, 16)
}

/**
 * Names are expanded by DuckDB, so that they mean the same as in a query: patterns, `~`, `file:` and directories, of
 * which the readers take all data files below. The name of a seed is not a pattern, so only that very file counts.
 */
export async function filesOf(
  connection: Patterns,
  dir: string,
  name: string,
): Promise<readonly string[]> {
  const path = resolve(dir, name)
  const found = statSync(path, { throwIfNoEntry: false })
  if (!/[*?[]|^~|^file:/.test(name) && found?.isDirectory() !== true) return [path]
  const expand = async (pattern: string) => {
    const rows = await connection.rows(sql`SELECT file FROM glob(${sql.value(pattern)})`)
    return rows.map(({ file }) => resolve(dir, textOf(file)))
  }
  const files = await expand(name)
  if (files.length === 0) files.push(...(await expand(`${name}/**`)).filter(isDataFile))
  if (found?.isFile() === true) files.push(path)
  return [...new Set(files)].toSorted()
}
