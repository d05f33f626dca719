// What files held when they were last looked at, so that one that is saved as it was, or only touched, is no change.

import { readFile, stat } from 'node:fs/promises'
import { hashOf } from '../core/hash.ts'
import { limits } from '../core/limits.ts'

export class KnownContents {
  readonly #hashes = new Map<string, string>()

  /** Takes these files for what is known; directories among them are left out. */
  async learn(paths: readonly string[]): Promise<void> {
    await Promise.all(paths.map((path) => this.hasChanged(path)))
  }

  /** Since the last call with this path; a file that is not there has changed when it was there before. */
  async hasChanged(path: string): Promise<boolean> {
    const before = this.#hashes.get(path)
    const now = await identityOf(path)
    if (now === null) this.#hashes.delete(path)
    else this.#hashes.set(path, now)
    return (now ?? undefined) !== before
  }
}

/** Of a large file when it was written, since reading it takes longer than a run that finds nothing to do. */
async function identityOf(path: string): Promise<string | null> {
  try {
    const { size, mtimeMs } = await stat(path)
    if (size > limits.comparedFileBytes) return `${size} ${mtimeMs}`
    return hashOf(32, [await readFile(path, 'base64')])
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' || code === 'EISDIR' || code === 'ENOTDIR' ? null : `${code}`
  }
}
