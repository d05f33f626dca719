// One model: how it is built and checked.

import type { EventsModel, Model } from '../../core/model.ts'
import { kinds } from '../../core/kinds.ts'
import { hashOf } from '../../core/hash.ts'
import { foldCase, splitModelName, type ModelName } from '../../core/names.ts'
import type { ModelResult, Phase } from '../../core/report/progress.ts'
import { sql } from '../../core/sql.ts'
import type { Step } from '../../core/report/planned-changes.ts'
import { recordOf, type RunContext } from '../run-context.ts'
import { materializationOf } from './materialize/kinds.ts'
import { createSchema, relationType } from './materialize/relation.ts'
import { runChecks } from './run-checks.ts'

export type BuiltModel = Exclude<Model, EventsModel>

/** What a build gives, besides the relation. */
export interface BuiltRows extends Pick<ModelResult, 'rows'> {
  readonly version: string
  readonly warnings: readonly string[]
}

/**
 * A model that nothing blocks (plan/steps.ts), in the transaction of the caller, who records the version in
 * it. Throws with the transaction to be rolled back.
 */
export async function build(
  context: RunContext,
  model: BuiltModel,
  fingerprint: string,
): Promise<BuiltRows> {
  const built = await timed(context, model, 'build', () =>
    materializationOf(model).build(context, model),
  )
  const warnings = await checkRows(context, model)
  const before = recordOf(context, model)
  const isNew = built.changed || before === null
  const version = isNew ? versionOf(context, model, fingerprint) : before.version
  return { version, warnings, ...(built.rows === undefined ? {} : { rows: built.rows }) }
}

/** As runChecks(). */
export function checkRows(context: RunContext, model: Model): Promise<readonly string[]> {
  const check = () => runChecks(context.connection, model)
  return model.checks.length === 0 ? check() : timed(context, model, 'checks', check)
}

async function timed<T>(
  { onPhase }: RunContext,
  { name: model }: Model,
  phase: Phase['phase'],
  work: () => Promise<T>,
): Promise<T> {
  const startedMs = performance.now()
  try {
    return await work()
  } finally {
    onPhase?.({ model, phase, startedMs, ms: performance.now() - startedMs })
  }
}

/** Of the models that have none yet. Not in their transactions: two that create one schema at once would conflict. */
export async function createSchemas(
  { connection, catalog }: RunContext,
  steps: readonly Step[],
): Promise<void> {
  const missing = new Map<string, ModelName>()
  for (const { model, action, problem } of steps) {
    const { name, kind } = model
    const isMade = action === 'build' && problem === null && kind !== 'events'
    if (isMade && relationType(catalog, name) === null)
      missing.set(foldCase(splitModelName(name).schema), name)
  }
  if (missing.size === 0) return
  const statements = Array.from(missing.values(), createSchema)
  await connection.transact(() => connection.run(sql.join(statements, sql`;\n`)))
}

/**
 * The rows of a table that goes on depend on its previous contents, so each change gets a new version. So does
 * whatever was built although no known input changed.
 */
export function versionOf(
  { fullRefresh, runId }: RunContext,
  { kind, volatile }: Pick<Model, 'kind' | 'volatile'>,
  fingerprint: string,
): string {
  const own = kinds[kind].keepsRows || volatile || fullRefresh
  return own ? hashOf(16, [fingerprint, runId]) : fingerprint
}
