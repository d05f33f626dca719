// Files that appear whole or not at all, also over a power cut.

import { open, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Write, fsync, rename, fsync the directory: the order in which no power cut leaves half a file under the name. */
export async function replaceDurably(path: string, text: string): Promise<void> {
  const next = `${path}.tmp`
  await writeFile(next, text)
  await renameDurably(next, path)
}

export async function renameDurably(from: string, to: string): Promise<void> {
  await sync(from)
  await rename(from, to)
  await sync(dirname(to))
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
