// Files that appear whole or not at all, also over a power cut.

import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncPath } from './durable-directory.ts'

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
