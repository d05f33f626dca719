// A file of rows that the engine writes. Each is made by a separate engine, which can write to the directory of this file
// and nowhere else.

import { mkdir, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { limits } from '../../core/limits.ts'
import { entitySetName } from '../../core/names.ts'
import { Resources } from '../../core/resources.ts'
import type { Snapshot } from '../../core/snapshot.ts'
import { openFileWriter, writtenTo } from '../../duckdb/read-only.ts'
import { isDiskFull } from '../../files/system-errors.ts'
import { odataError } from '../protocol/errors.ts'
import type { WrittenFile } from '../sql/engine-types.ts'
import { overloaded } from './admission.ts'
import type { EngineOptions } from './snapshot-engines.ts'
import { type EngineAccess, inTurn } from './query.ts'

export interface FileContent {
  readonly snapshot: Snapshot
  readonly written: WrittenFile
}

export interface FileMaker
  extends
    Pick<EngineOptions, 'published' | 'memoryLimit' | 'tempDir' | 'extensions'>,
    Pick<EngineAccess, 'admission'> {}

interface Making extends FileMaker, Pick<EngineAccess, 'clock' | 'gone' | 'onDamage'> {
  readonly maxFileBytes: number
  /** Gets the bytes that are written so far; returns false when they have no room. */
  readonly onBytes?: (bytes: number) => boolean
}

export interface MadeFile {
  readonly path: string
  readonly bytes: number
  /** Rows that the engine has written, lines before them included. */
  readonly rows: number
}

/**
 * Makes it in `dir`, which belongs to the caller then; where it throws, there is none. Throws RequestError: 413, 503, 504;
 * ClientGone.
 */
export async function makeFile(
  content: FileContent,
  dir: string,
  making: Making,
): Promise<MadeFile> {
  try {
    return await writeRows(content, dir, making)
  } catch (error) {
    throw isDiskFull(error) ? overloaded() : error
  }
}

async function writeRows(
  { snapshot, written: { rows, options } }: FileContent,
  dir: string,
  making: Making,
): Promise<MadeFile> {
  const { published, memoryLimit, tempDir, extensions, ...limited } = making
  const { admission, clock, gone, onDamage } = making
  await using resources = new Resources()
  const unmade = resources.use(new Resources())
  unmade.defer(() => rm(dir, { recursive: true, force: true }))
  await mkdir(dirname(dir), { recursive: true, mode: 0o700 })
  // Not recursive, which says ENOENT where no inode is left.
  await mkdir(dir, { mode: 0o700 })
  const path = join(dir, 'rows')
  const statement = writtenTo(path, rows, options)
  // A name of a set that the statement does not have in it is not read by it.
  const text = statement.inline()
  const files = snapshot.relations
    .map((relation) => ({ relation, name: entitySetName(relation.model) }))
    .filter(({ name }) => text.includes(name))
    .map(({ relation, name }) => published.open(relation, name))
  const pool = resources.use(await openFileWriter({ files, dir, memoryLimit, tempDir, extensions }))
  const { connection } = resources.use(await pool.take())
  const size = resources.use(watchSize(path, limited))
  const access = { admission, clock, gone: AbortSignal.any([gone, size.refused]), onDamage }
  try {
    const turn = { begun: false, isSmall: false }
    const count = await inTurn(access, connection, turn, () => connection.run(statement))
    const bytes = await size.look()
    size.refused.throwIfAborted()
    unmade.move()
    return { path, bytes, rows: count }
  } catch (error) {
    throw size.refused.aborted ? size.refused.reason : error
  }
}

/** `refused` is aborted with the error to answer when the file is too large, or has no room. */
function watchSize(
  path: string,
  { maxFileBytes, onBytes }: Pick<Making, 'maxFileBytes' | 'onBytes'>,
) {
  const refusal = new AbortController()
  const look = async () => {
    const bytes = await stat(path).then(
      ({ size }) => size,
      () => 0,
    )
    if (bytes > maxFileBytes) refusal.abort(tooLarge(maxFileBytes))
    else if (onBytes?.(bytes) === false) refusal.abort(overloaded())
    return bytes
  }
  const timer = setInterval(() => void look(), limits.answerFileLookMs)
  return {
    refused: refusal.signal,
    look,
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
    },
  }
}

const tooLarge = (most: number) =>
  odataError(
    'too-large',
    `the file would have more than ${most / 2 ** 20} MiB; ask for less with $select, $filter or $top`,
    '$format',
  )
