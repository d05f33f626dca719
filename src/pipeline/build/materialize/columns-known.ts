// Whether a model will have the columns that it was compiled with. Where only the build can tell, so it is for changes
// of columns that would have to be rejected.

import type { Model } from '../../../core/model.ts'
import type { RunContext } from '../../run-context.ts'
import { isEdited } from '../../../store/state.ts'

type Context = Pick<RunContext, 'project' | 'selected' | 'state'>

/** False where it reads, directly or not, columns that follow from data, or an edited model that the run leaves out. */
export function columnsAreKnown(context: Context, model: Model): boolean {
  const { project, selected, state } = context
  const seen = new Set<Model>()
  const isKnown = (one: Model): boolean => {
    if (seen.has(one)) return true
    seen.add(one)
    if (one.columnsFromData === true) return false
    return one.dependsOn.every((name) => {
      const input = project.models.get(name)
      if (input === undefined) return true
      if (!selected.has(name) && isEdited(state.models.get(name), input)) return false
      return isKnown(input)
    })
  }
  return isKnown(model)
}
