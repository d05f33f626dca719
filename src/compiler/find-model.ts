// The model that a command line names.

import { knownModels, meantModel } from './select.ts'
import { DiagnosticsError } from '../core/diagnostics.ts'
import { UsageError } from '../core/failures.ts'
import type { CompiledProject, Model } from '../core/model.ts'
import { entitySetName, type ModelName, sameName } from '../core/names.ts'
import { didYouMean } from '../core/suggest.ts'

/** By its name or that of its entity set. Throws UsageError with a suggestion, and the mistakes of one that failed. */
export function findModel(
  { models, failed }: Pick<CompiledProject, 'models' | 'failed'>,
  name: string,
): Model {
  const isMeant = (model: { readonly name: ModelName }) =>
    sameName(model.name, name) || sameName(entitySetName(model.name), name)
  for (const model of models.values()) if (isMeant(model)) return model
  const broken = [...failed.values()].find(isMeant)
  if (broken !== undefined)
    throw new DiagnosticsError(failed.get(broken.failedBy)?.mistakes ?? broken.mistakes)
  const meant = meantModel(knownModels({ models, failed }), name)
  const hint =
    meant === null
      ? (didYouMean(name, models.keys()) ?? 'see "eider ls" for the models')
      : `did you mean "${meant}"?`
  throw new UsageError(`there is no model or entity set "${name}"`, { hint })
}
