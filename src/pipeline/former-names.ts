// Under which name a published state may have a model that it does not have by its name of now: nobody has recorded
// which one `eider mv` meant.

import type { ModelName } from '../core/names.ts'
import { sameName } from '../core/names.ts'
import type { PublishedRelation } from '../core/snapshot.ts'

/**
 * Names that no file makes any more, of relations with all of these columns; in their order. `columns`: null where those
 * of the model are not known.
 */
export function formerNames(
  columns: readonly { readonly name: string }[] | null,
  relations: readonly PublishedRelation[],
  known: Iterable<ModelName>,
): readonly ModelName[] {
  const names = [...known]
  return relations
    .filter(({ model }) => !names.some((name) => sameName(name, model)))
    .filter(({ columns: then }) =>
      (columns ?? []).every((one) => then.some(({ name }) => sameName(name, one.name))),
    )
    .map(({ model }) => model)
    .toSorted()
}
