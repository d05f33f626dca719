// Models that only annotations name.

import type { ModelName } from '../../core/names.ts'
import type { Span } from '../../core/source.ts'
import { type CheckContext, modelsInChecks } from '../checks/checks.ts'
import type { ParsedModel } from '../model-file.ts'

/** Models that the annotations name, with the places; a model that refers to itself does not wait for itself. */
export function extraDependencies(
  { name, header }: Pick<ParsedModel, 'name' | 'header'>,
  { findModel }: Pick<CheckContext, 'findModel'>,
): ReadonlyMap<ModelName, Span> {
  const found = new Map<ModelName, Span>()
  for (const named of [...(header.depends_on?.value ?? []), ...modelsInChecks(header)]) {
    const model = findModel(named.name)
    if (model !== null && model !== name && !found.has(model)) found.set(model, named.span)
  }
  return found
}
