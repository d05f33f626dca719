// A disk of a few MiB that can be filled: a tmpfs. Needs the right to mount; tests on it are skipped without.

import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, statfs, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'

export async function smallDisk(sizeBytes: number, inodes = 10_000) {
  const dir = await mkdtemp(join(tmpdir(), 'eider-disk-'))
  const mount = ['-t', 'tmpfs', '-o', `size=${sizeBytes},nr_inodes=${inodes}`, 'tmpfs', dir]
  execFileSync('mount', mount, { stdio: 'ignore' })
  return {
    dir,
    /** Leaves about this much room. `empty` takes the filling away. */
    async fill(freeBytes: number): Promise<void> {
      const { bavail, bsize } = await statfs(dir)
      const filler = Buffer.alloc(Math.max(0, bavail * bsize - freeBytes))
      await writeFile(join(dir, 'filler'), filler)
    },
    empty: () => rm(join(dir, 'filler')),
    /** Room is left, and no more files may be made. */
    async useUpInodes(): Promise<void> {
      const { ffree } = await statfs(dir)
      for (let i = 0; i < ffree; i++) await writeFile(join(dir, `inode-${i}`), '')
    },
    /** From now on nothing can be written. Nothing may be open for writing. */
    makeReadOnly(): void {
      execFileSync('mount', ['-o', 'remount,ro', dir])
    },
    makeWritable(): void {
      execFileSync('mount', ['-o', 'remount,rw', dir])
    },
    async [Symbol.asyncDispose]() {
      execFileSync('umount', [dir])
      await rm(dir, { recursive: true })
    },
  }
}

const canMount = await smallDisk(65_536).then(
  (disk) => disk[Symbol.asyncDispose]().then(() => true),
  () => false,
)
export const testOnDisk = (name: string, run: () => Promise<void>) =>
  canMount ? test(name, run) : test.skip(name, run)
