// The first bytes of a file.

import { closeSync, openSync, readSync, statSync } from 'node:fs'

/** None also of what is no file, or cannot be read, of which whoever reads all of it says why. */
export function startOf(path: string, most: number): Buffer {
  let open: number | undefined
  try {
    const file = statSync(path)
    if (!file.isFile()) return Buffer.alloc(0)
    open = openSync(path, 'r')
    const start = Buffer.alloc(Math.min(most, file.size))
    return start.subarray(0, readSync(open, start))
  } catch {
    return Buffer.alloc(0)
  } finally {
    if (open !== undefined) closeSync(open)
  }
}
