// The file operations that the buffer is built on. Tests substitute their own disk: one that fills up, fails,
// or forgets what was not synced. So the buffer reaches its data only through these.

import { mkdir, open, readdir, rename, unlink, type FileHandle } from 'node:fs/promises'
import { closeSync, fstatSync, fsync, openSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { EnvironmentError } from '../core/failures.ts'
import { errorCode } from './errors.ts'

/** Flags as in `open` of node:fs: a file that exists, only to be read or also written; a file that does not. */
type OpenFlags = 'r' | 'r+' | 'wx'

export interface OpenFile {
  stat(): Promise<{ readonly sizeBytes: number; readonly changedAt: Date }>
  /** Returns the bytes read; 0 at the end of the file. */
  read(into: Uint8Array, position: number): Promise<number>
  /** Into the page cache only. May write less than it was given, as a disk that fills up does; returns the bytes written. */
  write(bytes: Uint8Array, position: number): number
  truncate(sizeBytes: number): Promise<void>
  /**
   * The bytes written are on disk when it resolves, and they are found under `path`. After a failure nothing is known
   * about them (the kernel forgets). Throws LostFileError when `path` is not, or no longer, this file.
   */
  fdatasync(path: string): Promise<void>
  /** Like fdatasync, with the size of a file that was truncated. */
  fsync(): Promise<void>
  close(): Promise<void>
}

/** Nothing that this process could do makes such a file one that a run reads. */
export class LostFileError extends EnvironmentError {
  override name = 'LostFileError'
  constructor(how: string, what = 'this file') {
    super('buffer-unavailable', `somebody has ${how} ${what}: start the daemon again`)
  }
}

export interface Files {
  open(path: string, flags: OpenFlags): Promise<OpenFile>
  rename(from: string, to: string): Promise<void>
  unlink(path: string): Promise<void>
  mkdir(path: string): Promise<void>
  readdir(path: string): Promise<string[]>
  /** Creations, renames and removals in the directory are on disk when it resolves. Before that each may be undone. */
  fsyncDirectory(path: string): Promise<void>
}

const sync = promisify(fsync)

export const realFiles: Files = {
  open: async (path, flags) => openFile(await open(path, flags)),
  rename,
  unlink,
  mkdir: (path) => mkdir(path),
  readdir: (path) => readdir(path),
  async fsyncDirectory(path) {
    // In this thread: to open a directory is cheaper than a trip to the thread pool.
    const directory = openSync(path, 'r')
    try {
      await sync(directory)
    } finally {
      closeSync(directory)
    }
  },
}

function openFile(handle: FileHandle): OpenFile {
  return {
    async stat() {
      const { size, ctime } = await handle.stat()
      return { sizeBytes: size, changedAt: ctime }
    },
    read: async (into, position) => (await handle.read(into, 0, into.length, position)).bytesRead,
    // In this thread: a copy to the page cache is cheaper than a trip to the thread pool.
    write: (bytes, position) => writeSync(handle.fd, bytes, 0, bytes.length, position),
    truncate: (sizeBytes) => handle.truncate(sizeBytes),
    async fdatasync(path) {
      await handle.datasync()
      // Of a deleted file the system would go on syncing, and drop everything when it is closed; one that was moved away
      // with its directory is not where a run looks, though a copy may be there.
      const own = fstatSync(handle.fd)
      if (own.nlink === 0) throw new LostFileError('deleted')
      const named = statSync(path, { throwIfNoEntry: false })
      if (named?.ino !== own.ino || named.dev !== own.dev) throw new LostFileError('moved')
    },
    fsync: () => handle.sync(),
    close: () => handle.close(),
  }
}

export function writeAll(file: OpenFile, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length;) {
    const written = file.write(bytes.subarray(done), position + done)
    if (written === 0) throw new Error('the disk accepted no more bytes')
    done += written
  }
}

interface FileContent extends Disposable {
  /** Empty once it is disposed. */
  readonly bytes: Buffer
}

/**
 * The whole of a file. Its memory goes back to the system when it is disposed: the collector would take its time, and a
 * run would flush while still holding the segments that were read when its buffer was opened.
 */
export async function readAll(file: OpenFile): Promise<FileContent> {
  const { sizeBytes } = await file.stat()
  const memory = new ArrayBuffer(sizeBytes, { maxByteLength: sizeBytes })
  const bytes = Buffer.from(memory, 0, sizeBytes)
  let length = 0
  while (length < sizeBytes) {
    const read = await file.read(bytes.subarray(length), length)
    if (read === 0) break
    length += read
  }
  return {
    bytes: bytes.subarray(0, length),
    [Symbol.dispose]: () => memory.resize(0),
  }
}

/** Renames a file once all that was in it is gone, durably, and leaves it open. */
export async function reuseFile(files: Files, from: string, to: string): Promise<OpenFile> {
  const file = await files.open(from, 'r+')
  try {
    await file.truncate(0)
    await file.fsync()
    await files.rename(from, to)
  } catch (error) {
    await file.close().catch(() => {})
    throw error
  }
  return file
}

/** Makes a directory with its missing parents, durably. */
export async function ensureDirectory(files: Files, path: string): Promise<void> {
  const parent = dirname(path)
  try {
    await files.mkdir(path)
  } catch (error) {
    if (errorCode(error) === 'ENOENT' && parent !== path) {
      await ensureDirectory(files, parent)
      return await ensureDirectory(files, path)
    }
    if (errorCode(error) !== 'EEXIST') throw error
  }
  // Also when it was there already: the process that made it may have died before this line.
  await files.fsyncDirectory(parent)
}

/** Rejects, if one of them does, after the last of them has settled. */
export async function allDone(works: readonly Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(works))
    if (result.status === 'rejected') throw result.reason
}

export async function unlinkIfThere(files: Files, path: string): Promise<void> {
  try {
    await files.unlink(path)
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error
  }
}

/** Writes a file atomically: all of its bytes or no file. */
export async function writeAtomically(
  { files, directory }: { readonly files: Files; readonly directory: string },
  path: string,
  writeTo: (write: (bytes: Uint8Array) => void) => void,
): Promise<void> {
  const copyPath = `${path}.tmp`
  await unlinkIfThere(files, copyPath)
  const copy = await files.open(copyPath, 'wx')
  try {
    let position = 0
    writeTo((bytes) => {
      writeAll(copy, bytes, position)
      position += bytes.length
    })
    await copy.fsync()
  } finally {
    await copy.close()
  }
  await files.rename(copyPath, path)
  await files.fsyncDirectory(directory)
}
