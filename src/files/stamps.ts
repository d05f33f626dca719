// Tells whether a file is what it was without reading it. The system alone sets the time at which a file was changed, also
// when somebody sets its other times back, and a file that takes the place of another one has another number.

import { statSync } from 'node:fs'

export interface Stamp {
  readonly text: string
  /** When the content, the name or the rights were last changed, in milliseconds of Unix time. */
  readonly changedMs: number
}

/** null when it is not a file, or the file system counts whole seconds, so that a second change would not show. */
export function stampOf(path: string): Stamp | null {
  const found = statOf(path)
  if (found?.isFile() !== true || found.ctimeNs % 1_000_000_000n === 0n) return null
  const { dev, ino, mode, size, mtimeNs, ctimeNs } = found
  const changedNs = ctimeNs > mtimeNs ? ctimeNs : mtimeNs
  return {
    text: [dev, ino, mode, size, mtimeNs, ctimeNs].join(),
    changedMs: Number(changedNs / 1_000_000n),
  }
}

function statOf(path: string) {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false })
  } catch {
    return undefined // its directory is not ours to read
  }
}
