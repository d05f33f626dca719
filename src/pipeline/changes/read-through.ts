// What models read of tables that forget, be it that they follow them, or that a table which runs make anew lies between:
// rows that `@keep` removes are gone from that table, too.

import { type Followed, follow, isGrouped } from '../../compiler/lineage/follow.ts'
import type { CompiledProject, Model } from '../../core/model.ts'
import { type ModelName, sameName } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import { keepOf } from '../../core/retention.ts'
import type { RunContext } from '../run-context.ts'
import { followingOf } from './following.ts'
import { followedColumns } from './notes.ts'

/** Whether rows that are read again replace what was made of rows that are gone. */
export const losesRanges = (project: CompiledProject, model: Model): boolean =>
  model.kind === 'period' || (model.kind === 'merge' && isGrouped(project, model))

/** The tables that the model follows, and those that it reads by the same column through others. */
export function readInputs(project: CompiledProject, model: Model): readonly Followed[] {
  const own = followingOf(project, model)?.followed ?? []
  return [...own, ...behind(project, own)]
}

/** Each once, however many ways lead to it: where tables read two others each, every level doubles the ways. */
function behind(project: CompiledProject, own: readonly Followed[]): readonly Followed[] {
  const found = new Map<string, Followed>()
  const open = [...own]
  for (const one of open)
    for (const input of inputsOf(project, one)) {
      const key = JSON.stringify(input)
      if (found.has(key)) continue
      found.set(key, input)
      open.push(input)
    }
  return [...found.values()]
}

/** Of tables alone: what keeps its rows has those that are gone from its inputs. */
function inputsOf(
  project: CompiledProject,
  { model, column, steps }: Followed,
): readonly Followed[] {
  const between = project.models.get(model)
  const isMirror = between?.kind === 'merge' && between.deletes === 'mirror'
  if (between === undefined || (between.kind !== 'table' && !isMirror)) return []
  const type = between.columns.find(({ name }) => sameName(name, column))?.type
  if (type === undefined) return []
  return follow(project, between, column).followed.map((one) => {
    const cast = one.type === type ? [] : [{ cast: type }]
    return { ...one, steps: [...one.steps, ...cast, ...steps] }
  })
}

interface ReadThrough {
  readonly reader: ModelName
  readonly column: string
}

const known = new WeakMap<CompiledProject, ReadonlyMap<ModelName, readonly ReadThrough[]>>()

/** Models that read a table with `@keep` through another one, by which of its columns. */
export function readersThrough(
  project: CompiledProject,
  { name }: Pick<Model, 'name'>,
): readonly ReadThrough[] {
  const found = known.get(project) ?? findReaders(project)
  known.set(project, found)
  return found.get(name) ?? []
}

function findReaders(project: CompiledProject): ReadonlyMap<ModelName, readonly ReadThrough[]> {
  const found = new Map<ModelName, readonly ReadThrough[]>()
  const models = [...project.models.values()]
  if (models.every((model) => keepOf(model) === null)) return found
  for (const model of models.filter((one) => losesRanges(project, one)))
    for (const { model: input, column } of behind(
      project,
      followingOf(project, model)?.followed ?? [],
    ))
      found.set(input, [...(found.get(input) ?? []), { reader: model.name, column }])
  return found
}

/** Of a table with `@keep`: columns whose values are noted of rows that go. */
export function columnsToNote(
  { project, store }: Pick<RunContext, 'project' | 'store'>,
  model: Model,
): readonly Column[] {
  const through = readersThrough(project, model)
  const others = model.columns.filter(({ name }) =>
    through.some(({ column }) => sameName(column, name)),
  )
  return [
    ...new Map(
      [...followedColumns({ store }, model), ...others].map((one) => [one.name, one]),
    ).values(),
  ]
}
