// Files of a snapshot that are no longer what a run has written, as after a fault of a disk. DuckDB knows a damaged
// block by its checksum, but only when it reads that block, and does not say in which file it lies. So each file is read
// whole. What is found is marked, since a service deletes nothing: the next run rewrites a marked file.

import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from '../../core/logger.ts'
import { Resources } from '../../core/resources.ts'
import {
  damageMarkerFile,
  type PublishedRelation,
  rowsInAnyOrder,
  type Snapshot,
} from '../../core/snapshot.ts'
import { sql } from '../../core/sql.ts'
import { isDamage } from '../../duckdb/errors.ts'
import { openReadOnly } from '../../duckdb/read-only.ts'
import type { DamagedFile, LookEngine } from '../snapshot-reader.ts'
import { fileRows } from './rows.ts'

/** Reads every file of the snapshot, one after the other and each to its end. Files that cannot be checked are left out. */
export async function damagedFiles(
  dir: string,
  { relations }: Snapshot,
  engine: LookEngine,
  signal: AbortSignal,
): Promise<readonly DamagedFile[]> {
  const found: DamagedFile[] = []
  for (const relation of relations) {
    if (signal.aborted) break
    const problem = await problemIn(dir, relation, engine, signal)
    if (problem !== null) found.push({ file: relation.file, problem })
  }
  return found
}

/** DuckDB opens a file whose end is missing as long as it can read the beginning, so the size is compared first. */
export async function sizeProblem(
  dir: string,
  { file, bytes }: PublishedRelation,
): Promise<string | null> {
  try {
    const { size } = await stat(join(dir, file))
    return size === bytes ? null : `${file} does not have the size that the manifest lists`
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return `${file} is missing`
  }
}

async function problemIn(
  dir: string,
  relation: PublishedRelation,
  engine: LookEngine,
  signal: AbortSignal,
): Promise<string | null> {
  try {
    const problem = await sizeProblem(dir, relation)
    if (problem === null) await readWhole(dir, relation, engine, signal)
    return problem
  } catch (error) {
    return isDamage(error) ? `${relation.file} is damaged` : null
  }
}

async function readWhole(
  dir: string,
  relation: PublishedRelation,
  engine: LookEngine,
  signal: AbortSignal,
): Promise<void> {
  await using resources = new Resources()
  const name = 'file'
  const files = [{ name, path: join(dir, relation.file) }]
  const connections = resources.use(await openReadOnly({ ...engine, files, connections: 1 }))
  const { connection } = resources.use(await connections.take())
  const stop = () => connection.interrupt()
  signal.addEventListener('abort', stop, { once: true })
  resources.defer(() => signal.removeEventListener('abort', stop))
  // A hash of the row needs every value, where a count is known without looking at any.
  const rows = sql.ident(...rowsInAnyOrder(fileRows, relation, name))
  await connection.row(sql`SELECT bit_xor(hash(r)) FROM ${rows} AS r`)
}

/** A service deletes nothing, so it asks for that. */
export async function markFiles(
  dir: string,
  found: readonly DamagedFile[],
  logger: Logger,
): Promise<void> {
  for (const { file, problem } of found)
    try {
      await writeFile(join(dir, damageMarkerFile(file)), `${problem}\n`)
      const hint = 'the next run that includes its model rewrites it'
      logger.warn('snapshot-file-marked', { file, problem, hint })
    } catch (error) {
      const hint = 'delete the file, then: eider run'
      logger.error('snapshot-file-unmarked', { file, problem, hint, error })
    }
}
