// A database file that DuckDB was just making when the power went: its headers are on disk in part, nothing follows them,
// and nothing was ever in it. DuckDB syncs the headers before it writes anything else, and does not open such a file. It is
// kept under another name, `<database>.torn-<CRC-32>`, and the run makes the file again. What is left of a file that had
// something in it is told by the number of its checkpoints, and by what a run has published from it.

import { readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { crcDigits } from '../../core/hash.ts'
import { EnvironmentError } from '../../core/failures.ts'
import type { ProjectPaths } from '../../core/project.ts'
import { MANIFEST_FILE } from '../../core/snapshot.ts'
import { renameDurably } from '../../files/durable-files.ts'
import { problemOfSystem } from '../../files/system-errors.ts'
import { logsOf } from './log-repair.ts'

const HEADER_BYTES = 4096
/** One for the file, and two that checkpoints write in turn; the first block begins after them. */
const HEADERS_BYTES = 3 * HEADER_BYTES
/** In a header of checkpoints, after its checksum; 0 where none was made. */
const CHECKPOINTS = { at: 8, bytes: 8 }
/** After a checksum. */
const MAGIC = Buffer.from('DUCK')
const MAGIC_AT = 8

/** Under the lease, and after DuckDB could not open the file, so that nobody has it open. false: it is none of these. */
export async function setUnmadeAside({ database, snapshots }: ProjectPaths): Promise<boolean> {
  const bytes = await readUnmade({ database, snapshots })
  if (bytes === null) return false
  const kept = `${database}.torn-${crcDigits(crc32(bytes))}`
  try {
    await renameDurably(database, kept)
  } catch (cause) {
    const message = `the warehouse ${database} was never made whole, and cannot be renamed: ${problemOfSystem(cause)}`
    throw new EnvironmentError('warehouse-unusable', message, {
      hint: 'move it away, and run again',
      cause,
    })
  }
  process.stderr.write(
    `the warehouse was just being made when the power went, and nothing was in it; the file is kept as ${kept}\n`,
  )
  return true
}

/** Under the lease, where this process could not make the file that was not there before. */
export async function removeUnmade(paths: ProjectPaths): Promise<void> {
  if (await isUnmadeFile(paths)) await rm(paths.database, { force: true }).catch(() => {})
}

export const isUnmadeFile = async (paths: ProjectPaths): Promise<boolean> =>
  (await readUnmade(paths)) !== null

type Places = Pick<ProjectPaths, 'database' | 'snapshots'>

async function readUnmade({ database, snapshots }: Places): Promise<Buffer | null> {
  for (const path of [database, ...logsOf(database), join(snapshots, MANIFEST_FILE)]) {
    const found = await stat(path).catch(() => null)
    const isUnmade = path === database ? found?.isFile() === true : found === null
    if (!isUnmade || (found?.size ?? 0) > HEADERS_BYTES) return null
  }
  // What keeps this process from reading it has kept DuckDB from it, which has said so.
  const bytes = await readFile(database).catch(() => null)
  if (bytes === null) return null
  return isBegunByDuckDB(bytes) && hasNoCheckpoint(bytes) ? bytes : null
}

/** What is not there yet of its first header is zeros. */
function isBegunByDuckDB(bytes: Buffer): boolean {
  const header = bytes.subarray(0, HEADER_BYTES)
  const magic = header.subarray(MAGIC_AT, MAGIC_AT + MAGIC.length)
  if (magic.equals(MAGIC)) return true
  const wrong = magic.findIndex((byte, i) => byte !== MAGIC[i])
  return header.subarray(MAGIC_AT + Math.max(0, wrong)).every((byte) => byte === 0)
}

const hasNoCheckpoint = (bytes: Buffer) =>
  [1, 2].every((header) => {
    const start = header * HEADER_BYTES + CHECKPOINTS.at
    return bytes.subarray(start, start + CHECKPOINTS.bytes).every((byte) => byte === 0)
  })
