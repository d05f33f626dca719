// What a run does with volatile models. A table has to be built again when it may have other rows, and a view when somebody
// has rows of it: a table that reads it, or the readers of what is published. A view that only others look through has
// nothing to build, whatever the time is.

import { readersOf, reach } from '../../compiler/graph.ts'
import type { CompiledProject, Model, Varies } from '../../core/model.ts'
import type { ModelName } from '../../core/names.ts'

type Models = CompiledProject['models']

const known = new WeakMap<Models, Map<ModelName, Varies | null>>()

/** When the model is to be built again though nothing that it reads has changed; null: never. */
export function rebuiltAgain(
  project: Pick<CompiledProject, 'models'>,
  model: Model,
): Varies | null {
  if (!model.volatile) return null
  const found = known.get(project.models) ?? findAll(project.models)
  known.set(project.models, found)
  return found.get(model.name) ?? null
}

function findAll(models: Models): Map<ModelName, Varies | null> {
  const readers = readersOf(models.values())
  const find = (model: Model): Varies | null => {
    if (model.varies === undefined) return 'always'
    const all = Array.from(reach([model.name], readers), (name) => models.get(name)!)
    if ([model, ...all].every(isLookedThrough)) return null
    const isRebuilt = model.kind === 'table' || model.kind === 'view'
    // Each build of one that it reads adds rows to an append model, so it is to be built as often as ever.
    const isOften = !isRebuilt || all.some(({ kind }) => kind === 'append')
    return isOften ? 'always' : model.varies
  }
  const volatile = [...models.values()].filter((model) => model.volatile)
  return new Map(volatile.map((model) => [model.name, find(model)]))
}

/** A view of which nobody keeps rows, and that no check looks at. */
const isLookedThrough = ({ kind, expose, checks }: Model): boolean =>
  kind === 'view' && expose === null && checks.length === 0

/** What a model that is built once a day has been built for. */
export const dayOf = (time: Date): string => time.toISOString().slice(0, 10)

/** The day, where it decides whether some model is built. */
export function dayIn(project: Pick<CompiledProject, 'models'>, time: Date): string {
  const isDaily = (model: Model) => rebuiltAgain(project, model) === 'daily'
  return [...project.models.values()].some(isDaily) ? dayOf(time) : ''
}
