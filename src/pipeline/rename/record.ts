// `eider mv` renames the file of a model and changes the warehouse, and may be killed between the two. So the renaming is
// written down before the file gets its new name and struck out when the warehouse has committed: where it is found with
// the file under its new name, the relation is renamed too (rename-model.ts).
//
//   <state>/move.json   an object: `from` and `to`, names of models; `file`, an object with the two paths in the project;
//                       `replace`, whether what was built under the new name is dropped; `rollups`, names of the tables of
//                       its rollups

import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { readTextLater } from '../../files/read-file.ts'
import type { ModelName } from '../../core/names.ts'
import type { ProjectPaths } from '../../core/project.ts'
import { replaceDurably } from '../../files/durable-files.ts'

export interface Renaming {
  readonly from: ModelName
  readonly to: ModelName
  /** Relative to the project directory. */
  readonly file: { readonly from: string; readonly to: string }
  readonly replace: boolean
  /** Tables that runs have made of its `@rollup`; absent in what earlier versions have written. */
  readonly rollups?: readonly ModelName[]
}

type Place = Pick<ProjectPaths, 'state'>

const pathOf = ({ state }: Place) => join(state, 'move.json')

export const recordRenaming = (place: Place, renaming: Renaming): Promise<void> =>
  replaceDurably(pathOf(place), `${JSON.stringify(renaming)}\n`)

export const strikeRenaming = (place: Place): Promise<void> => rm(pathOf(place), { force: true })

export const isRecorded = (place: Place): boolean => existsSync(pathOf(place))

/** null: none was interrupted. One that cannot be read was not written whole, so nothing came after it. */
export async function readRenaming(place: Place): Promise<Renaming | null> {
  try {
    return JSON.parse(await readTextLater(pathOf(place))) as Renaming
  } catch {
    return null
  }
}
