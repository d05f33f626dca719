// Which tables may lose their oldest rows though nobody has taken them away: those with `@keep`, and those that a run makes
// of the rows that time, a number of rows or another system leaves. What reads one by periods keeps what has left it.

import { addressingOf } from '../../compiler/lineage/addresses.ts'
import { kinds } from '../../core/kinds.ts'
import type { CompiledProject, Model } from '../../core/model.ts'
import { keepOf } from '../../core/retention.ts'

export function mayForget(project: CompiledProject, model: Model): boolean {
  if (keepOf(model) !== null) return true
  if (model.kind === 'events' || model.kind === 'seed') return false
  const isMirror = model.kind === 'merge' && model.deletes === 'mirror'
  if (kinds[model.kind].keepsRows && !isMirror) return false
  const { volatile, files, sources, dependsOn } = model
  if (volatile || files.length + sources.length > 0 || dependsOn.length === 0) return true
  return !isByValues(project, model) || dependsOn.some((name) => isUnsure(project, name))
}

/** Which rows it has of a value follows from the rows of its inputs that have it: none goes because another one has come. */
function isByValues(project: CompiledProject, model: Model): boolean {
  if (model.kind === 'view') return true
  const { inputs, never } = addressingOf(project, model)
  return never === null && inputs.every(({ because }) => because === null)
}

function isUnsure(project: CompiledProject, name: Model['name']): boolean {
  const input = project.models.get(name)
  return input === undefined || mayForget(project, input)
}
