// What blocks a model, known before a row is read: checked once for each model that is to be built, by a run and
// by a plan. What only the rows can show comes up when the model is built, or built in memory by a plan with a diff.

import { sql } from '../../core/sql.ts'
import { count } from '../../core/counts.ts'
import { kinds } from '../../core/kinds.ts'
import type { Model } from '../../core/model.ts'
import { foldCase, type ModelName, sameName, splitModelName } from '../../core/names.ts'
import type { Borrowed } from '../borrow/borrow.ts'
import { materializationOf, materializations } from '../build/materialize/kinds.ts'
import { countRows, relationType } from '../build/materialize/relation.ts'
import { explainFailure, fullRefreshOf, isInterruption, ModelFailure } from '../failure.ts'
import type { Slice } from '../../core/step.ts'
import { recordOf, type RunContext } from '../run-context.ts'
import { STATE_SCHEMA } from '../../store/state.ts'

interface Assessment {
  /** One line with its place, which names the flag or the change that helps; null: nothing blocks it yet. */
  readonly problem: string | null
  /** What the run would replace or drop, as far as the flags allow it; one line each. */
  readonly losses: readonly string[]
}

export async function assess(context: RunContext, model: Model, slice: Slice): Promise<Assessment> {
  try {
    refuseReservedSchema(context, model)
    if (kinds[model.kind].relation === 'table') context.store.tables.refuse(model.columns)
    refuseMissingInputs(context, model)
    refuseLostTable(context, model)
    await materializationOf(model).refuse(context, model, slice)
    refuseReplacement(context, model)
    return { problem: null, losses: await lossesOf(context, model, slice) }
  } catch (error) {
    if (isInterruption(error, context.signal)) throw error
    return { problem: explainFailure(error, model, null), losses: [] }
  }
}

async function lossesOf(
  context: RunContext,
  model: Model,
  slice: Slice,
): Promise<readonly string[]> {
  const { connection, fullRefresh, catalog } = context
  if (relationType(catalog, model.name) !== 'table' || model.kind === 'events') return []
  const record = recordOf(context, model)
  if (!fullRefresh || (record !== null && !kinds[record.kind].keepsRows))
    return materializationOf(model).losses(context, model, slice)
  const rows = await countRows(connection, sql.relation(model.name))
  return [`--full-refresh drops ${count(rows, 'row')} of the table`]
}

function refuseReservedSchema({ catalog }: RunContext, { name }: Model): void {
  const { schema } = splitModelName(name)
  if (foldCase(schema) === STATE_SCHEMA)
    throw new ModelFailure(`the schema "${schema}" is reserved for eider; rename the folder`)
  // `a.b` means schema a or catalog a; where both exist DuckDB refuses the name.
  if (sameName(schema, catalog.database))
    throw new ModelFailure(
      `the schema "${schema}" has the same name as the database file; rename the folder or the file (\`database\` in eider.yml)`,
    )
}

/** Its inputs are neither selected nor built by an earlier run. */
function refuseMissingInputs(
  { selected, state, catalog, borrowed }: RunContext,
  { name, dependsOn }: Model,
): void {
  if (borrowed !== null) return refuseUnpublished(borrowed, selected, name, dependsOn)
  const isBuilt = (input: ModelName) =>
    state.models.get(input)?.removed === false && relationType(catalog, input) !== null
  const missing = dependsOn.filter((input) => !selected.has(input) && !isBuilt(input))
  if (missing.length === 0) return
  throw new ModelFailure(
    `it reads ${missing.join(', ')}, which was never built and is not selected; select the upstream models too: --select +${name}`,
  )
}

/** Only events models: others are built along. */
function refuseUnpublished(
  { lender, relations }: Borrowed,
  selected: RunContext['selected'],
  name: ModelName,
  dependsOn: readonly ModelName[],
): void {
  const missing = dependsOn.filter((input) => !selected.has(input) && !relations.has(input))
  if (missing.length === 0) return
  const names = missing.join(', ')
  throw new ModelFailure(
    `it reads ${names}, whose events ${lender} does not publish; add -- @expose to it and run ${lender}, or take the events of this target: --select ${name} --select ${missing.join(' --select ')}`,
  )
}

/** What it held is not what can be built again, so readers would be given less, and nobody would have said so. */
function refuseLostTable({ lost, allowEmpty, fullRefresh }: RunContext, model: Model): void {
  const { name, kind } = model
  if (!lost.has(name) || allowEmpty || (fullRefresh && kind !== 'events')) return
  const [held, way] =
    kind === 'events'
      ? ['the events in it', `start without them: eider run ${name} --allow-empty`]
      : [
          'rows that its source may no longer have',
          `build it from what it reads now: ${fullRefreshOf(name)}`,
        ]
  throw new ModelFailure(
    `the table ${name} is gone from the warehouse, and with it ${held}; restore the warehouse from a backup, or ${way}`,
  )
}

/**
 * Rebuilding a relation from nothing would destroy rows that cannot be recovered: a history, collected events, or a
 * table that no run created. A merge may have kept rows that its source deleted; nothing remembers whether it did.
 */
function refuseReplacement(context: RunContext, model: Model): void {
  const { catalog, fullRefresh } = context
  if (relationType(catalog, model.name) !== 'table') return
  const record = recordOf(context, model)
  if (record === null) {
    if (fullRefresh) return
    throw new ModelFailure(
      `a table ${model.name} exists that no run created; rename it, or replace it: ${fullRefreshOf(model.name)}`,
    )
  }
  if (record.kind === model.kind) return
  const { name, kind } = model
  const refusal = materializations[record.kind].refuseReplacement(name, kind, fullRefresh)
  if (refusal !== null) throw new ModelFailure(refusal)
}
