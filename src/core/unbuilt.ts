// Sets that are declared and not there, since no build of their models has succeeded yet.

import { statesIn } from './catalog.ts'
import { type EntitySetName, entitySetName, type ModelName } from './names.ts'

export interface UnbuiltSet {
  readonly name: EntitySetName
  readonly model: string
  /** Why the last build failed, in one line. */
  readonly because: string
}

/** Sets of models that are exposed, that no run has built, and of which the last build failed; by the text of a catalog. */
export function unbuiltSets(
  text: string,
  { relations }: { readonly relations: readonly { readonly model: string }[] },
): readonly UnbuiltSet[] {
  const published = new Set(relations.map(({ model }) => model))
  return Object.entries(statesIn(text) ?? {}).flatMap(([model, { status, because }]) => {
    const name = entitySetName(model as ModelName)
    const isUnbuilt = (status === 'failed' || status === 'skipped') && !published.has(model)
    // Only the line of a model that is exposed has it after another member.
    const isExposed = () => text.includes(`,"set":${JSON.stringify(name)},`)
    return isUnbuilt && isExposed() ? [{ name, model, because }] : []
  })
}
