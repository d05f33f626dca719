// A move of a model renames a file and changes the warehouse, and may be killed between the two. So the move is written
// down before the file is renamed and struck out when the warehouse has committed: whoever finds it there with the file
// under its new name renames the relation too.
//
//   <state>/move.json   an object: `from` and `to`, names of models; `file`, an object with the two paths in the project;
//                       `replace`, whether what was built under the new name is dropped

import { existsSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { ModelName } from '../core/names.ts'
import type { ProjectPaths } from '../core/project.ts'
import { replaceDurably } from '../files/durable-files.ts'

export interface Move {
  readonly from: ModelName
  readonly to: ModelName
  /** Relative to the project directory. */
  readonly file: { readonly from: string; readonly to: string }
  readonly replace: boolean
}

export type MovePlace = Pick<ProjectPaths, 'dir' | 'state'>

const pathOf = ({ state }: Pick<MovePlace, 'state'>) => join(state, 'move.json')

export const writeMove = (place: MovePlace, move: Move): Promise<void> =>
  replaceDurably(pathOf(place), `${JSON.stringify(move)}\n`)

export const strikeMove = (place: MovePlace): Promise<void> => rm(pathOf(place), { force: true })

/** Whether there is a record, of whatever. */
export const hasMove = (place: Pick<MovePlace, 'state'>): boolean => existsSync(pathOf(place))

/** One that cannot be read was not written whole, so nothing came after it. */
export async function readMove(place: MovePlace): Promise<Move | null> {
  try {
    return JSON.parse(await readFile(pathOf(place), 'utf8')) as Move
  } catch {
    return null
  }
}
