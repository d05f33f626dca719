// A directory of one process, next to those of others. It goes with the process; what a killed one has left goes when the
// next directory of its kind is made.

import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { readLockHolder, takeProcessLock } from './process-lock.ts'

const OWNER_FILE = 'owner.lock'

/** Its name begins with `prefix`, which tells its kind. */
export async function makeOwnedDirectory(parent: string, prefix: string) {
  await mkdir(parent, { recursive: true })
  await removeLeftovers(parent, prefix)
  const path = await mkdtemp(join(parent, prefix))
  const owner = await takeProcessLock(join(path, OWNER_FILE))
  return {
    path,
    async [Symbol.asyncDispose]() {
      await owner[Symbol.asyncDispose]()
      await rm(path, { recursive: true, force: true })
    },
  }
}

/** Those of processes that no longer live; an empty prefix means all kinds. */
export async function removeLeftovers(parent: string, prefix: string): Promise<void> {
  for (const name of await readdir(parent)) {
    if (!name.startsWith(prefix)) continue
    const found = await readLockHolder(join(parent, name, OWNER_FILE))
    if (found?.alive === false) await rm(join(parent, name), { recursive: true, force: true })
  }
}
