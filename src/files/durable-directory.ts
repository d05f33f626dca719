// Directories whose entries are still there after a power cut. A file that is synced is not found again when the directory
// that names it was not.

import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'

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
