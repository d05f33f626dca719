// The file that --out names.

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, relative } from 'node:path'
import { UsageError } from '../core/failures.ts'
import { problemOfSystem } from '../files/system-errors.ts'

/** With the directories that lead to it. A file that has this text already keeps its time. Throws UsageError. */
export async function writeOut(path: string, text: string): Promise<void> {
  if ((await readFile(path, 'utf8').catch(() => null)) === text) return
  try {
    await makeDirectory(dirname(path))
    await writeFile(path, text)
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error
    throw new UsageError(`--out cannot be written: ${problemOfSystem(error)}`, {
      hint: 'name a file in a directory that you may write to',
    })
  }
}

/** What is printed of it then. */
export const wroteLine = (path: string): string => `wrote ${relative(process.cwd(), path) || path}`

/** One after the other: below /proc, where there can be none, Node's own way of making several never ends. */
async function makeDirectory(dir: string): Promise<void> {
  const make = () => mkdir(dir).then(null, (error: NodeJS.ErrnoException) => error.code)
  if ((await make()) !== 'ENOENT') return
  await makeDirectory(dirname(dir))
  await make()
}
