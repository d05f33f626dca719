// Which tables hold rows that were made from those of a model, and by which of their columns they are found: those that pass
// on the values of the columns that a condition uses, step by step from model to model.

import { reach, readersOf } from '../../compiler/graph.ts'
import { kinds } from '../../core/kinds.ts'
import { limits } from '../../core/limits.ts'
import type { ColumnOrigin, CompiledProject, Model } from '../../core/model.ts'
import { foldCase, type ModelName, sameName } from '../../core/names.ts'
import { keepOf } from '../../core/retention.ts'
import type { Followed } from '../../compiler/lineage/follow.ts'
import { followingOf } from '../changes/following.ts'
import { mayForget } from '../changes/forgets.ts'

/** A table in which a condition finds rows. */
export interface ReachedModel {
  readonly model: Model
  /**
   * Each by the columns of the condition, in lower case: the column of this model with the same values. There are several
   * where a model reads another one twice, such as for a buyer and a seller; a row is meant by any of them.
   */
  readonly ways: readonly ReadonlyMap<string, string>[]
}

export interface Reach {
  /** The model itself, and all that are made from it, in the order in which a run builds them. */
  readonly all: readonly Model[]
  readonly reached: readonly ReachedModel[]
  /** Tables that keep rows and do not pass on what the condition asks for. */
  readonly unreached: readonly Model[]
}

/** By a column of the condition, in lower case: all columns of a model with its values. */
type SameColumns = ReadonlyMap<string, readonly string[]>

/** `used`: columns of the model. The project is one that was compiled in this process. */
export function reachOf(project: CompiledProject, model: Model, used: readonly string[]): Reach {
  const readers = reach(new Set([model.name]), readersOf(project.models.values()))
  const names = new Set<ModelName>([model.name, ...readers])
  const all = [...project.models.values()].filter(({ name }) => names.has(name))
  const passed = project.passed?.() ?? new Map<ModelName, readonly (ColumnOrigin | null)[]>()
  const same = new Map<string, SameColumns>()
  const reached: ReachedModel[] = []
  for (const one of all) {
    const columns: SameColumns =
      one === model
        ? new Map(used.map((name) => [foldCase(name), [name]]))
        : passedOn(one, passed.get(one.name) ?? [], same)
    same.set(foldCase(one.name), columns)
    const ways = waysOf(used.map(foldCase), columns)
    if (ways.length > 0 && kinds[one.kind].relation === 'table') reached.push({ model: one, ways })
  }
  const isReached = (one: Model) => reached.some((found) => found.model === one)
  const isLeft = (one: Model) =>
    keepsRows(one) && !isReached(one) && !rebuildsItsPeriods(project, one, names)
  return { all, reached, unreached: all.filter(isLeft) }
}

function passedOn(
  { columns }: Model,
  passed: readonly (ColumnOrigin | null)[],
  same: ReadonlyMap<string, SameColumns>,
): SameColumns {
  const found = new Map<string, string[]>()
  for (const [i, origin] of passed.entries()) {
    if (origin === null) continue
    for (const [key, names] of same.get(foldCase(origin.model)) ?? [])
      if (names.some((name) => sameName(name, origin.column)))
        found.set(key, [...(found.get(key) ?? []), columns[i]!.name])
  }
  return found
}

/** None where a column is missing, or where there are too many. */
function waysOf(used: readonly string[], same: SameColumns): readonly Map<string, string>[] {
  let ways = [new Map<string, string>()]
  for (const key of used) {
    const names = same.get(key) ?? []
    ways = ways.flatMap((way) => names.map((name) => new Map([...way, [key, name]])))
    if (ways.length > limits.erasedWays) return []
  }
  return ways
}

/** A period model makes the periods anew that lose rows, where it follows all of its inputs that do. */
function rebuildsItsPeriods(
  project: CompiledProject,
  model: Model,
  touched: ReadonlySet<string>,
): boolean {
  const following = model.kind === 'period' ? followingOf(project, model) : null
  if (following === null || following.looksAround || following.followed.length === 0) return false
  if (following.others.some(({ name }) => touched.has(name))) return false
  return following.followed.every((one) => tellsWhatIsGone(project, one))
}

/** Of the oldest rows of a table that may forget, nobody can tell whether they were erased. */
function tellsWhatIsGone(project: CompiledProject, { model: name, column }: Followed): boolean {
  const model = project.models.get(name)!
  const keep = keepOf(model)
  return keep === null ? !mayForget(project, model) : sameName(keep.column, column)
}

/** Whether rows that its query no longer gives may stay in its table. */
const keepsRows = (model: Model): boolean =>
  kinds[model.kind].keepsRows && !(model.kind === 'merge' && model.deletes === 'mirror')
