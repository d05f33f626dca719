// What has to be there before the steps of a run begin.

import type { Model } from '../../core/model.ts'
import { foldCase, type ModelName, splitModelName } from '../../core/names.ts'
import { keepOf } from '../../core/retention.ts'
import { sql } from '../../core/sql.ts'
import type { Step } from '../../core/step.ts'
import { followedColumns } from '../changes/notes.ts'
import { haveFollowers } from '../changes/touched.ts'
import { isRuleChanged } from '../rules/parts.ts'
import { keepsRules } from '../rules/rule.ts'
import { recordOf, type RunContext } from '../run-context.ts'
import { hasWork } from './build-group.ts'
import { createSchema, relationType } from './materialize/relation.ts'

/**
 * Makes the schemas of models that have none yet, and the places where slices and changes are remembered. Not in the transactions of
 * the steps: two that create one schema at once would conflict.
 */
export async function prepare(context: RunContext, steps: readonly Step[]): Promise<void> {
  const { connection, catalog, store } = context
  const missing = new Map<string, ModelName>()
  const made = steps.filter((step) => hasWork(step) && step.problem === null)
  const isRuleNew = made.some(({ model }) => {
    const record = keepsRules(model) ? recordOf(context, model) : null
    return record !== null && keepsRules(model) && isRuleChanged(context, record, model)
  })
  if (isRuleNew || made.some(({ slice, ranges }) => slice !== 'whole' || ranges.length > 0))
    await store.state.makeSlices(connection)
  const isMeant = context.forwardOnly && made.some(({ older }) => older !== undefined)
  if (isRuleNew || isMeant) await store.state.makeOlderRows(connection)
  const models = made.map(({ model }) => model)
  const loseFollowedRows = (model: Model) =>
    keepOf(model) !== null && followedColumns(context, model).length > 0
  if (haveFollowers(context, models) || models.some(loseFollowedRows))
    await store.state.makeChanges(connection)
  for (const { model } of made) {
    const { name, kind } = model
    if (kind !== 'events' && relationType(catalog, name) === null)
      missing.set(foldCase(splitModelName(name).schema), name)
  }
  if (missing.size === 0) return
  const statements = Array.from(missing.values(), createSchema)
  await connection.transact(() => connection.run(sql.join(statements, sql`;\n`)))
}
