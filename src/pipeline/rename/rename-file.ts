// The file of a model under another name: all that can fail early fails before the warehouse changes.

import { lstat, mkdir, readlink, realpath, rename, rmdir, symlink, unlink } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { EnvironmentError, UsageError } from '../../core/failures.ts'
import { hintOfSystem, problemOfSystem } from '../../files/system-errors.ts'
import type { Renaming } from './record.ts'

export interface RenamedFile extends AsyncDisposable {
  rename(): Promise<void>
  renameBack(): Promise<void>
}

/**
 * Makes the directory, which goes again on disposal unless the file is in it. Throws UsageError where `to` exists, and
 * EnvironmentError `file-failed` where the disk refuses, as rename() does.
 */
export async function prepareFile(
  dir: string,
  { from, to }: Renaming['file'],
): Promise<RenamedFile & Renaming['file']> {
  const [source, target] = [join(dir, from), join(dir, to)]
  const attempt = <T>(work: Promise<T>): Promise<T> =>
    work.catch((cause: unknown) => {
      const message = `${from} cannot be moved to ${to}: ${problemOfSystem(cause)}`
      const hint = hintOfSystem(cause) ?? 'nothing was changed; move the file by hand'
      throw new EnvironmentError('file-failed', message, { hint, cause })
    })
  const made = await attempt(mkdir(dirname(target), { recursive: true }))
  if (await attempt(exists(target)))
    throw new UsageError(`${to} already exists`, { hint: 'move it away, or choose another name' })
  return {
    from,
    to,
    rename: () => attempt(moveOne(source, target)),
    renameBack: () => attempt(moveOne(target, source)),
    async [Symbol.asyncDispose]() {
      // A directory with the file in it is not empty, and stays.
      if (made !== undefined) await rmdir(made).catch(() => undefined)
    },
  }
}

/** A relative link is made again, since from another directory it would lead elsewhere. */
async function moveOne(source: string, target: string): Promise<void> {
  const leadsTo = (await lstat(source)).isSymbolicLink() ? await readlink(source) : null
  const [from, to] = [await realpath(dirname(source)), await realpath(dirname(target))]
  if (leadsTo === null || isAbsolute(leadsTo) || from === to) return await rename(source, target)
  await symlink(relative(to, resolve(from, leadsTo)), target)
  await unlink(source)
}

/** True also for a broken link. */
async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}
