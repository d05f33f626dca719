// How a file of a project is read. What stands at its path may be anything: opening a pipe that nobody writes to would
// never end, and a device has no end.

import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { limits } from '../core/limits.ts'

/** Without O_NONBLOCK the system waits for the other side of a pipe. Windows has no such flag, and no such pipes. */
const { O_RDONLY } = constants
const FLAGS = O_RDONLY | ((constants.O_NONBLOCK as number | undefined) ?? 0)

/** Has a code as errors of the system do: `EISDIR`, `NOTREG` or `EFBIG`. */
class FileError extends Error {
  readonly code: string
  /** Its path, for those who have no better name for it. */
  readonly file: string

  constructor(code: string, path: string, message: string) {
    super(`${code}: ${message}, read '${path}'`)
    this.code = code
    this.file = path
  }
}

/** Its bytes. Throws errors of the system, EISDIR, NOTREG for a pipe or a device, EFBIG beyond the limit. */
export function readFileNow(path: string, limitBytes: number): Buffer {
  const file = openSync(path, FLAGS)
  try {
    const { size } = requireRegular(fstatSync(file), path, limitBytes)
    // Files of the system have no size before they are read.
    let bytes = Buffer.allocUnsafe(size + 1)
    let length = 0
    for (;;) {
      const count = readSync(file, bytes, length, bytes.length - length, null)
      length += count
      if (count === 0) return bytes.subarray(0, length)
      if (length > limitBytes) throw tooLarge(path)
      if (length === bytes.length)
        bytes = Buffer.concat([bytes], Math.min(length * 2, limitBytes) + 1)
    }
  } finally {
    closeSync(file)
  }
}

/** Does what readFileNow() does, for what may be large. */
export async function readFileLater(
  path: string,
  limitBytes: number = limits.stateFileBytes,
): Promise<Buffer> {
  await using file = await open(path, FLAGS)
  requireRegular(await file.stat(), path, limitBytes)
  return await file.readFile()
}

/** The text of such a file. */
export const readTextLater = async (path: string, limitBytes?: number): Promise<string> =>
  (await readFileLater(path, limitBytes)).toString('utf8')

/** null: there is no such file. */
export const readTextIfThere = (path: string, limitBytes?: number): Promise<string | null> =>
  readTextLater(path, limitBytes).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })

/** Throws as readFileNow() does. */
export function requireRegular(stats: Stats, path: string, limitBytes = Infinity): Stats {
  if (stats.isDirectory()) throw new FileError('EISDIR', path, 'it is a directory')
  if (!stats.isFile()) throw new FileError('NOTREG', path, 'it is a pipe, a socket or a device')
  if (stats.size > limitBytes) throw tooLarge(path)
  return stats
}

/** Opening it may never end, or reading it: DuckDB reads what has such a name. What is not there is none of these. */
export function isPipeOrDevice(path: string): boolean {
  try {
    const found = statSync(path)
    return !found.isFile() && !found.isDirectory()
  } catch {
    return false
  }
}

const tooLarge = (path: string) => new FileError('EFBIG', path, 'it is too large')
