// A move of a model renames a file and changes the warehouse, and may be killed between the two. So the move is written
// down before the file is renamed and struck out when the warehouse has committed: whoever finds it there with the file
// under its new name renames the relation too.
//
//   <state>/move.json   an object: `from` and `to`, names of models; `file`, an object with the two paths in the project;
//                       `replace`, whether what was built under the new name is dropped

import { lstatSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { ModelName } from '../core/names.ts'
import type { ProjectPaths } from '../core/project.ts'
import type { Orphan } from '../core/report/progress.ts'
import { replaceDurably } from '../files/durable-files.ts'
import { moveRelation, type Opened } from './orphans.ts'

export interface Move {
  readonly from: ModelName
  readonly to: ModelName
  /** Relative to the project directory. */
  readonly file: { readonly from: string; readonly to: string }
  readonly replace: boolean
}

type Place = Pick<ProjectPaths, 'dir' | 'state'>

const pathOf = ({ state }: Place) => join(state, 'move.json')

export const writeMove = (place: Place, move: Move): Promise<void> =>
  replaceDurably(pathOf(place), `${JSON.stringify(move)}\n`)

export const strikeMove = (place: Place): Promise<void> => rm(pathOf(place), { force: true })

/** Under the lease of the target, before anything of it is read; null: no move was interrupted after its first step. */
export async function finishInterruptedMove(
  opened: Opened,
  place: Place,
): Promise<{ readonly move: Move; readonly relation: Orphan | null } | null> {
  const move = await readMove(place)
  if (move === null) return null
  const statOf = (path: string) => lstatSync(join(place.dir, path), { throwIfNoEntry: false })
  const { from, to, file, replace } = move
  const made = statOf(file.to)
  const isRenamed = made !== undefined && statOf(file.from) === undefined
  try {
    // A link is made under the new name before the old one goes.
    if (!isRenamed && made?.isSymbolicLink() === true) await rm(join(place.dir, file.to))
    if (!isRenamed) return null
    return { move, relation: await moveRelation(opened, from, to, { replace, file: null }) }
  } finally {
    await strikeMove(place)
  }
}

/** Whether the next run has a move to finish. */
export const isMvInterrupted = async (place: Place): Promise<boolean> =>
  (await readMove(place)) !== null

/** One that cannot be read was not written whole, so nothing came after it. */
async function readMove(place: Place): Promise<Move | null> {
  try {
    return JSON.parse(await readFile(pathOf(place), 'utf8')) as Move
  } catch {
    return null
  }
}
