// Files that appear whole or not at all, also over a power cut.

import { mkdir, rename, rm, writeFile, open } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Write, fsync, rename, fsync the directory: the order in which no power cut leaves half a file under the name. */
export async function replaceDurably(path: string, text: string): Promise<void> {
  const next = `${path}.tmp`
  await writeFile(next, text)
  await renameDurably(next, path)
}

export async function renameDurably(from: string, to: string): Promise<void> {
  await syncPath(from)
  await rename(from, to)
  await syncPath(dirname(to))
}

/** Makes the directory. Not synced, and without an error: for what is made again where it is missing or cut short. */
export async function replaceIfPossible(path: string, text: string): Promise<void> {
  const next = `${path}.${process.pid}.tmp`
  try {
    await mkdir(dirname(path), { recursive: true })
    await writeFile(next, text)
    await rename(next, path)
  } catch {
    await rm(next, { force: true }).catch(() => {})
  }
}

// Directories whose entries are still there after a power cut. A file that is synced is not found again when the directory
// that names it was not.

/** The file, or what was made, renamed and removed in the directory, is on disk when it resolves. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Creates a directory and its missing parents, durably. `path` is absolute. */
export async function makeDirectory(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true })
  if (first === undefined) return
  for (let made = path; made.length >= first.length; made = dirname(made))
    await syncPath(dirname(made))
}
