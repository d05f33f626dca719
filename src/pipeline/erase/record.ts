// What says that an erasure has begun and has not ended: written before a row is deleted, and removed once nothing of the
// rows can be read any more. The same command goes on with it, since all that comes after the deletion may be done again.
//
//   <state>/erasures/<id>.json   an object: `model`; `begun_at`, ISO 8601; `erased`, the rows that were deleted, by place;
//                                `deleting`, those of the transaction that comes next, or has just been
//
// The condition names a person, so it is not in it: the id is a hash of the model and the condition.

import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { EnvironmentError } from '../../core/failures.ts'
import { hashOf } from '../../core/hash.ts'
import { foldCase, type ModelName } from '../../core/names.ts'
import type { ProjectPaths } from '../../core/project.ts'
import type { ErasedPlace } from '../../core/report/erased.ts'
import { replaceDurably } from '../../files/durable-files.ts'
import { readTextIfThere } from '../../files/read-file.ts'

export interface Erasure {
  readonly model: ModelName
  /** ISO 8601. */
  readonly begun_at: string
  readonly erased: readonly ErasedPlace[]
  readonly deleting: readonly ErasedPlace[]
}

type Place = Pick<ProjectPaths, 'state'>

const directoryOf = ({ state }: Place) => join(state, 'erasures')
const pathOf = (place: Place, id: string) => join(directoryOf(place), `${id}.json`)

export const erasureId = (model: ModelName, condition: string): string =>
  hashOf(16, [foldCase(model), condition.trim()])

export async function recordErasure(place: Place, id: string, erasure: Erasure): Promise<void> {
  await mkdir(directoryOf(place), { recursive: true })
  await replaceDurably(pathOf(place, id), `${JSON.stringify(erasure)}\n`)
}

export const strikeErasure = (place: Place, id: string): Promise<void> =>
  rm(pathOf(place, id), { force: true })

export const readErasure = (place: Place, id: string): Promise<Erasure | null> =>
  read(pathOf(place, id))

/** The oldest comes first. */
export async function unfinishedErasures(place: Place): Promise<readonly Erasure[]> {
  const names = await readdir(directoryOf(place)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  const found: Erasure[] = []
  for (const name of names.filter((one) => one.endsWith('.json'))) {
    const erasure = await read(join(directoryOf(place), name))
    if (erasure !== null) found.push(erasure)
  }
  return found.toSorted((a, b) => (a.begun_at < b.begun_at ? -1 : 1))
}

export const unfinishedText = ({ model, begun_at: at }: Erasure): string =>
  `an erasure in ${model} that began at ${at} is unfinished`

export const HOW_TO_FINISH =
  'repeat the same eider erase; the condition is not written down, since it may name a person'

/** Older states may hold what has to go. Throws EnvironmentError `erase-unfinished`. */
export async function refuseUnfinished(place: Place): Promise<void> {
  const [unfinished] = await unfinishedErasures(place)
  if (unfinished === undefined) return
  throw new EnvironmentError('erase-unfinished', unfinishedText(unfinished), {
    hint: HOW_TO_FINISH,
  })
}

/** One that cannot be read was not written whole, so nothing came after it. */
async function read(path: string): Promise<Erasure | null> {
  const text = await readTextIfThere(path)
  try {
    return text === null ? null : (JSON.parse(text) as Erasure)
  } catch {
    return null
  }
}
