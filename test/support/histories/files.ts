// The files of a source that a history reads: they get more rows or fewer, and some of them go.

import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestProject } from '../pipeline-project.ts'
import type { History } from './history.ts'

export const filesOf = (space: TestProject, { seed }: History): string =>
  space.path('files', String(seed))

/** Between runs. */
export async function writeFiles(
  space: TestProject,
  history: History,
  today: number,
): Promise<void> {
  if (!history.hasFiles) return
  const dir = filesOf(space, history)
  await rm(dir, { recursive: true, force: true })
  await mkdir(dir, { recursive: true })
  for (const [name, text] of history.files(today)) await writeFile(join(dir, name), text)
}
