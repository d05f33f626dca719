// What a killed `eider mv` has left, and the run that finishes it: the file has its new name, so the relation gets it too.

import { lstatSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Orphan } from '../core/report/progress.ts'
import { type Move, type MovePlace, readMove, strikeMove } from './move-record.ts'
import { moveRelation, type Opened } from './orphans.ts'

/** Under the lease of the target, before anything of it is read; null: no move was interrupted after its first step. */
export async function finishInterruptedMove(
  opened: Opened,
  place: MovePlace,
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
export const isMvInterrupted = async (place: MovePlace): Promise<boolean> =>
  (await readMove(place)) !== null
