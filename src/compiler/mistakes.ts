// What commands say of the mistakes of a compiled project. It needs none of the compiler, so that a run with nothing to do
// can report a model that does not compile without loading it.

import { byPlace, type Diagnostic } from '../core/diagnostics.ts'
import type { CompiledProject } from '../core/model.ts'
import type { ModelName } from '../core/names.ts'

/**
 * The mistakes to report for a command about these models: their own, and that of the model for which one of them fails.
 * For all models, also those that belong to none.
 */
export function mistakesOf(
  { models, failed, errors }: CompiledProject,
  chosen: Iterable<ModelName>,
): readonly Diagnostic[] {
  const names = new Set(chosen)
  const isAll = [...models.keys(), ...failed.keys()].every((name) => names.has(name))
  if (isAll) return errors
  const roots = [...names].flatMap((name) => failed.get(name)?.failedBy ?? [])
  const wanted = new Set([...names, ...roots].flatMap((name) => failed.get(name)?.mistakes ?? []))
  return errors.filter((error) => wanted.has(error))
}

/** What mistakesOf() returns, and the warnings of these models' own files. */
export function diagnosticsOf(
  project: CompiledProject,
  chosen: ReadonlySet<ModelName>,
): readonly Diagnostic[] {
  const { models, failed, warnings } = project
  const all = [...models.values(), ...failed.values()]
  const paths = new Set(all.flatMap(({ name, source }) => (chosen.has(name) ? [source.path] : [])))
  const isAll = all.every(({ name }) => chosen.has(name))
  const wanted = warnings.filter(({ source }) => isAll || paths.has(source.path))
  return [...mistakesOf(project, chosen), ...wanted].toSorted(byPlace)
}

/** Files that cannot be placed, settings, macros: no model fails for them alone. */
export function mistakesOfNoModel({ failed, errors }: CompiledProject): readonly Diagnostic[] {
  const ofModels = new Set([...failed.values()].flatMap(({ mistakes }) => mistakes))
  return errors.filter((error) => !ofModels.has(error))
}
