// Whether this user can write what commands write: the directories of a target, and its warehouse.

import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { dirname, relative } from 'node:path'
import { systemProblem } from '../files/system-errors.ts'
import type { ProjectPaths } from '../core/project.ts'

/** null: all of it can be written. */
export async function writeProblem({
  dir,
  state,
  buffer,
  snapshots,
  database,
  target,
}: ProjectPaths): Promise<{ readonly problem: string; readonly hint: string } | null> {
  const shut: string[] = []
  for (const directory of [state, buffer, snapshots, dirname(database), target])
    if (!(await takesFiles(directory))) shut.push(directory)
  if ((await isAccessible(database, THERE)) && !(await isAccessible(database, READ | WRITE)))
    shut.push(database)
  if (shut.length === 0) return null
  const names = [...new Set(shut)].map((path) => {
    const name = relative(dir, path)
    return name.startsWith('..') ? path : name || '.'
  })
  return (
    (await readOnlyProblem(shut)) ?? {
      problem: `cannot be written: ${names.join(', ')}`,
      hint: 'give it to the user who runs eider (chown -R), or run eider as the user who owns it',
    }
  )
}

const { F_OK: THERE, R_OK: READ, W_OK: WRITE, X_OK: ENTER } = constants

/** A missing directory will be created in its nearest existing parent. */
async function takesFiles(directory: string): Promise<boolean> {
  if (await isAccessible(directory, THERE))
    return (await stat(directory)).isDirectory() && isAccessible(directory, READ | WRITE | ENTER)
  return takesFiles(dirname(directory))
}

/** What a run says of the first of them on a read-only file system, where no owner and no mode is the cause. */
async function readOnlyProblem(shut: readonly string[]) {
  for (const path of shut) {
    try {
      await access(await nearestThere(path), WRITE)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EROFS') return systemProblem(error)
    }
  }
  return null
}

const nearestThere = async (path: string): Promise<string> =>
  (await isAccessible(path, THERE)) ? path : nearestThere(dirname(path))

const isAccessible = (path: string, mode: number): Promise<boolean> =>
  access(path, mode).then(
    () => true,
    () => false,
  )
