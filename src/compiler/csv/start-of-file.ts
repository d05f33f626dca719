// The first bytes of a file.

import { closeSync, openSync, readSync, statSync } from 'node:fs'

/** None also where there is no file of this name. Throws what the system says of one that cannot be read. */
export function startOf(path: string, most: number): Buffer {
  const file = statSync(path, { throwIfNoEntry: false })
  if (file?.isFile() !== true) return Buffer.alloc(0)
  const open = openSync(path, 'r')
  try {
    const start = Buffer.alloc(Math.min(most, file.size))
    return start.subarray(0, readSync(open, start))
  } finally {
    closeSync(open)
  }
}
