// Which changes of its inputs a model follows: those of models that read only a part of their input, by the column that
// says which part.

import { follow, type Followed, type Unfollowed } from '../../compiler/lineage/follow.ts'
import type { CompiledProject, Model } from '../../core/model.ts'
import type { ModelName } from '../../core/names.ts'
import { rangeColumnOf } from '../../core/range-column.ts'
import { readsVolatile } from '../../core/with-views.ts'

export interface ModelFollowing {
  /** The column by which the model reads a part of its input. */
  readonly column: string
  readonly followed: readonly Followed[]
  readonly others: readonly Unfollowed[]
  readonly looksAround: boolean
  readonly touchesOthers: boolean
  readonly dropsPicked: boolean
  readonly window: ModelName | null
  /** Reading all of its input again may harm: rows without a key may come twice, periods may lose what is gone from it. */
  readonly isCareful: boolean
}

const known = new WeakMap<CompiledProject, Map<Model, ModelFollowing | null>>()

/** null: in each run it reads all of its input. */
export function followingOf(project: CompiledProject, model: Model): ModelFollowing | null {
  const ofProject = known.get(project) ?? new Map<Model, ModelFollowing | null>()
  known.set(project, ofProject)
  const found = ofProject.get(model)
  if (found !== undefined) return found
  const made = findFollowing(project, model)
  ofProject.set(model, made)
  return made
}

/** The tables that it follows, each once. */
export const followedInputs = ({
  followed,
}: Pick<ModelFollowing, 'followed'>): readonly ModelName[] => [
  ...new Set(followed.map(({ model }) => model)),
]

function findFollowing(project: CompiledProject, model: Model): ModelFollowing | null {
  const column = rangeColumnOf(model)?.column
  if (column === undefined) return null
  const found = follow(project, model, column)
  const hasNoKey = model.kind === 'append' && model.uniqueKey.length === 0
  // Its rows differ each time that they are read, so reading them again would add them again.
  const isUnsure = hasNoKey && readsVolatile(project, model)
  const followed = isUnsure ? [] : found.followed
  const unsure = found.followed.map((one): Unfollowed => ({ name: one.model, because: 'volatile' }))
  const others = [...found.others, ...(isUnsure ? unsure : [])]
  const isCareful = model.kind === 'period' || (hasNoKey && found.others.length > 0)
  return { ...found, column, followed, others, isCareful }
}
