// What a run refuses as a whole, before it changes anything: publishing nothing over something, and ending histories
// that nobody named.

import { sql } from '../core/sql.ts'
import { count } from '../core/counts.ts'
import { knownModels } from '../compiler/select.ts'
import { EnvironmentError, UsageError } from '../core/failures.ts'
import { kinds } from '../core/kinds.ts'
import type { Model } from '../core/model.ts'
import { countRows, relationType } from './build/materialize/relation.ts'
import { keptRelations } from './orphans.ts'
import type { PlanRequest } from './run-request.ts'
import { recordOf, type RunContext } from './run-context.ts'
import { fullRefreshOf } from './failure.ts'

/**
 * A wrong checkout or an empty volume looks like a project without models, or one that has never run: `models-missing`,
 * `warehouse-missing`, to be thrown; null: nothing is published over something.
 */
export async function refusalToEmpty({
  project,
  store,
  allowEmpty = false,
}: PlanRequest): Promise<EnvironmentError | null> {
  const published = allowEmpty ? null : await store.snapshots.current()
  if (published === null || published.relations.length === 0) return null
  const { id, relations } = published
  const all = [...project.models.values()]
  const isServed = all.some(({ expose }) => expose !== null)
  const isKept = keptRelations(project)
  if (!isServed && !relations.some(({ model }) => isKept(model))) {
    const what = all.length === 0 ? 'no models' : 'no model with @expose'
    return new EnvironmentError(
      'models-missing',
      `the project has ${what}, and snapshot ${id} serves ${count(relations.length, 'set')}`,
      { hint: 'is this the right directory, with its models/? --allow-empty publishes nothing' },
    )
  }
  const rows = relations.reduce((sum, relation) => sum + relation.rows, 0)
  // The kind of a model whose file has mistakes may not be known.
  const cannotBeMadeAgain = [...knownModels(project).values()].some(
    ({ kind }) => kind === null || kinds[kind].keepsRows,
  )
  if (rows === 0 || !cannotBeMadeAgain || (await store.warehouse.exists())) return null
  return new EnvironmentError(
    'warehouse-missing',
    `the warehouse ${store.warehouse.name} is gone, and snapshot ${id} serves ${count(rows, 'row')} of it`,
    {
      hint: 'restore it from a backup; --allow-empty starts without the events that were flushed, and without history',
    },
  )
}

/** Throws UsageError, with all of them. */
export async function refuseToEndHistories(context: RunContext): Promise<void> {
  const { connection, project, selected } = context
  const ended: string[] = []
  let first: Model | null = null
  for (const name of selected) {
    const model = project.models.get(name)!
    if (!hasHistory(context, model)) continue
    const rows = await countRows(connection, sql.relation(name))
    if (rows === 0) continue
    first ??= model
    ended.push(`${name} (${count(rows, 'row')}, ${model.kind})`)
  }
  if (first === null) return
  throw new UsageError(`--full-refresh would end the history of ${ended.join(', ')}`, {
    hint: `name the models that you mean: ${fullRefreshOf(first.name)}; or add --drop-history`,
  })
}

function hasHistory(context: RunContext, model: Model): boolean {
  const before = recordOf(context, model)
  if (before === null || before.kind === 'events' || model.kind === 'events') return false
  return kinds[before.kind].keepsRows && relationType(context.catalog, model.name) === 'table'
}
