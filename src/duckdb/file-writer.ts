// A DuckDB instance that writes rows of attached database files into one directory. The query comes from a stranger, if in our words: it reads the attached files and that directory and nothing else, and writes nowhere else.

import { type Sql, sql } from '../core/sql.ts'
import type { ConnectionPool } from './connection-pool.ts'
import { EmptyEngine, type EngineSettings, type AttachedFile } from './read-only.ts'

interface FileWriterOptions extends Omit<EngineSettings, 'threads' | 'connections'> {
  readonly files: readonly AttachedFile[]
  /** Absolute; it is empty, so that there is nothing in it to read. */
  readonly dir: string
}

/** Throws DatabaseError as EmptyEngine does. */
export async function openFileWriter({
  files,
  dir,
  ...settings
}: FileWriterOptions): Promise<ConnectionPool> {
  // One thread, so that the same query on the same rows makes the same bytes.
  const engine = await EmptyEngine.open({ ...settings, threads: 1, connections: 1 })
  return await engine.openReadOnly(files, dir)
}

/** A statement that writes `rows` to a file in that directory, with these options of COPY. */
export const writtenTo = (path: string, rows: Sql, options: Sql): Sql =>
  sql`COPY (${rows}) TO ${sql.value(path)} (${options})`
