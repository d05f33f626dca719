// Files that a command writes for its user: whole under their names, or not at all.

import {
  mkdir,
  open,
  readFile,
  realpath,
  rename,
  rm,
  rmdir,
  stat,
  writeFile,
} from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { renameDurably } from './durable-files.ts'
import { problemOfSystem } from './system-errors.ts'

/** Says why, in words for people. */
export class CannotReplace extends Error {
  override name = 'CannotReplace'
}

/**
 * `write` writes the file beside `path`, under a name that it is given; what is at `path` stays as it is until that has
 * returned, and its permissions stay. Throws CannotReplace before it calls `write`, and what `write` throws.
 */
export async function replaceFile<T>(
  path: string,
  write: (beside: string) => Promise<T>,
): Promise<T> {
  const target = await explained(dirname(path), () => targetOf(path))
  const beside = join(dirname(target.path), `.eider-${process.pid}.tmp`)
  await explained(dirname(path), async () => {
    await rm(beside, { force: true })
    const file = await open(beside, 'wx', target.mode)
    await file.close()
  })
  try {
    const result = await write(beside)
    await renameDurably(beside, target.path)
    return result
  } catch (error) {
    await rm(beside, { force: true })
    throw error
  }
}

interface WrittenText {
  readonly path: string
  readonly text: string
  /** Nothing may be there; its directory is made. */
  readonly isNew: boolean
}

/** All of these texts, or none: what fails most is done before the first file is replaced. */
export async function writeAllOrNone(files: readonly WrittenText[]): Promise<void> {
  const undo: (() => Promise<unknown>)[] = []
  try {
    const moves: (() => Promise<void>)[] = []
    for (const [i, { path, text, isNew }] of files.entries())
      if (isNew) await writeNew(path, text, undo)
      else {
        const { path: target, mode } = await targetOf(path)
        const old = await readFile(target)
        const beside = join(dirname(target), `.eider-${process.pid}-${i}.tmp`)
        undo.push(() => rm(beside, { force: true }))
        await writeFile(beside, text, { mode })
        moves.push(async () => {
          await rename(beside, target)
          undo.push(() => writeFile(target, old))
        })
      }
    for (const move of moves) await move()
  } catch (error) {
    for (const step of undo.toReversed()) await step().catch(() => {})
    throw error
  }
}

async function writeNew(path: string, text: string, undo: (() => Promise<unknown>)[]) {
  const first = await mkdir(dirname(path), { recursive: true })
  if (first !== undefined)
    undo.push(async () => {
      // Only what is empty: somebody else may have put something there since.
      for (let dir = dirname(path); dir.length >= first.length; dir = dirname(dir)) await rmdir(dir)
    })
  const file = await open(path, 'wx')
  undo.push(() => rm(path, { force: true }))
  try {
    await file.writeFile(text)
  } finally {
    await file.close()
  }
}

/** A symbolic link stays one. */
async function targetOf(path: string): Promise<{ readonly path: string; readonly mode: number }> {
  const stats = await stat(path).catch(unlessMissing)
  if (stats === null) return { path, mode: 0o666 }
  if (stats.isDirectory()) throw new CannotReplace(`${path} is a directory`)
  if (!stats.isFile()) throw new CannotReplace(`${path} is a pipe, a socket or a device`)
  return { path: await realpath(path), mode: stats.mode & 0o777 }
}

function unlessMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null
  throw error
}

/** The directory is what a new file may lack. */
async function explained<T>(dir: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof CannotReplace) throw error
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    const problem = isMissing ? `the directory ${dir} does not exist` : problemOfSystem(error)
    throw new CannotReplace(problem, { cause: error })
  }
}
