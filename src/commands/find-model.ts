// The model that a command line names.

import { UsageError } from '../core/failures.ts'
import type { Model } from '../core/model.ts'
import { entitySetName, sameName } from '../core/names.ts'
import { didYouMean } from '../core/suggest.ts'

/** By its name or that of its entity set. Throws UsageError with a suggestion. */
export function findModel(models: ReadonlyMap<string, Model>, name: string): Model {
  for (const model of models.values())
    if (sameName(model.name, name) || sameName(entitySetName(model.name), name)) return model
  const hint = didYouMean(name, models.keys()) ?? 'see "eider ls" for the models'
  throw new UsageError(`there is no model or entity set "${name}"`, { hint })
}
