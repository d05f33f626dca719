// Models whose last build may have read anything: nobody knows any more what a model read before it was edited.

import { reach, readersOf } from '../../compiler/graph.ts'
import { knownModels } from '../../compiler/select.ts'
import { kinds } from '../../core/kinds.ts'
import type { CompiledProject } from '../../core/model.ts'
import type { ModelName } from '../../core/names.ts'
import { isEdited, type Known } from '../../store/state.ts'

/** Those that were edited since, or do not compile, and all that are made from them, as the project has them now. */
export function outdatedModels(
  project: Pick<CompiledProject, 'models' | 'failed'>,
  { state }: Pick<Known, 'state'>,
): ReadonlySet<ModelName> {
  const models = [...knownModels(project).values()]
  const edited = models.flatMap((model) => {
    const record = state.models.get(model.name)
    if (record === undefined || !kinds[record.kind].hasQuery) return []
    return 'mistakes' in model || isEdited(record, model) ? [model.name] : []
  })
  return new Set([...edited, ...reach(edited, readersOf(models))])
}
