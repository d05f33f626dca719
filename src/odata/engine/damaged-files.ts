// Files of a snapshot that are no longer what a run has written, as after a fault of a disk. The engine knows a damaged
// block by its checksum, but only when it reads that block, and does not say in which file it lies. So each file is read
// whole. What is found is marked, since a service deletes nothing: the next run writes a marked file anew.

import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from '../../core/logger.ts'
import { Resources } from '../../core/resources.ts'
import {
  damageMarkerFile,
  type PublishedRelation,
  type Snapshot,
  SNAPSHOT_TABLE,
} from '../../core/snapshot.ts'
import { sql } from '../../core/sql.ts'
import { DatabaseError } from '../../duckdb/errors.ts'
import { openReadOnly } from '../../duckdb/read-only.ts'
import type { EngineOptions } from './options.ts'

export interface DamagedFile {
  readonly file: string
  /** One sentence with the name of the file. */
  readonly problem: string
}

/** Errors that repeat values, names or the statement: a caller's text in them says nothing of a file. */
const ABOUT_TEXT: ReadonlySet<string> = new Set([
  'Binder',
  'Catalog',
  'Conversion',
  'Invalid Input',
  'Out of Range',
  'Parser',
])

/** Whether the engine says that a file is not what it wrote, or that the disk does not give it back. */
export const isDamage = (error: unknown): boolean =>
  error instanceof DatabaseError &&
  !ABOUT_TEXT.has(error.details.type) &&
  /Corrupt database file|Could not read|not a valid DuckDB database file/.test(
    error.details.message,
  )

/** Reads every file of the snapshot, one after the other and each to its end. Files that cannot be judged are left out. */
export async function damagedFiles(
  { relations }: Snapshot,
  options: EngineOptions,
  signal: AbortSignal,
): Promise<readonly DamagedFile[]> {
  const found: DamagedFile[] = []
  for (const relation of relations) {
    if (signal.aborted) break
    const problem = await problemIn(relation, options, signal)
    if (problem !== null) found.push({ file: relation.file, problem })
  }
  return found
}

/** The engine opens a file whose end is missing as long as it can read the beginning, so the size is compared first. */
export async function sizeProblem(
  dir: string,
  { file, bytes }: PublishedRelation,
): Promise<string | null> {
  try {
    const { size } = await stat(join(dir, file))
    return size === bytes ? null : `${file} has another size than the manifest says`
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return `${file} is missing`
  }
}

async function problemIn(
  relation: PublishedRelation,
  options: EngineOptions,
  signal: AbortSignal,
): Promise<string | null> {
  try {
    const problem = await sizeProblem(options.dir, relation)
    if (problem === null) await readWhole(relation, options, signal)
    return problem
  } catch (error) {
    return isDamage(error) ? `${relation.file} is damaged` : null
  }
}

async function readWhole(
  { file }: PublishedRelation,
  { dir, threads, memoryLimit, tempDir }: EngineOptions,
  signal: AbortSignal,
): Promise<void> {
  await using resources = new Resources()
  const files = [{ name: 'file', path: join(dir, file) }]
  const engine = { files, threads, memoryLimit, tempDir, connections: 1 }
  const connections = resources.use(await openReadOnly(engine))
  const { connection } = resources.use(await connections.take())
  const stop = () => connection.interrupt()
  signal.addEventListener('abort', stop, { once: true })
  resources.defer(() => signal.removeEventListener('abort', stop))
  // A hash of the row needs every value, where a count is known without looking at any.
  const rows = sql.ident('file', 'main', SNAPSHOT_TABLE)
  await connection.row(sql`SELECT bit_xor(hash(r)) FROM ${rows} AS r`)
}

/** Finds them and asks the next run to write them anew. Where nothing may be written, the log says what is left to do. */
export async function markDamagedFiles(
  snapshot: Snapshot,
  options: EngineOptions & { readonly logger: Logger },
  signal: AbortSignal,
): Promise<readonly DamagedFile[]> {
  const { dir, logger } = options
  const found = await damagedFiles(snapshot, options, signal)
  for (const { file, problem } of found)
    try {
      await writeFile(join(dir, damageMarkerFile(file)), `${problem}\n`)
      const hint = 'the next run that includes its model writes it anew'
      logger.warn('snapshot-file-marked', { file, problem, hint })
    } catch (error) {
      const hint = 'delete the file, then: eider run'
      logger.error('snapshot-file-unmarked', { file, problem, hint, error })
    }
  return found
}
