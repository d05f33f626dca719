// Files that appear whole or not at all, also over a power cut.

import { rename, writeFile } from 'node:fs/promises'
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
