// One step: how its rows are made and checked.

import type { Model } from '../../core/model.ts'
import { kinds } from '../../core/kinds.ts'
import { hashOf } from '../../core/hash.ts'
import { foldCase, splitModelName, type ModelName } from '../../core/names.ts'
import type { ModelResult, Phase } from '../../core/report/progress.ts'
import { sql } from '../../core/sql.ts'
import type { Step } from '../../core/step.ts'
import { recordOf, type RunContext } from '../run-context.ts'
import { materializationOf } from './materialize/kinds.ts'
import type { Built } from './materialize/materialization.ts'
import { createSchema, relationType } from './materialize/relation.ts'
import { runChecks } from './run-checks.ts'

interface BuiltRows extends Pick<ModelResult, 'rows'> {
  readonly version: string
  readonly warnings: readonly string[]
}

/** What carries out each action; null: there is nothing to do. One that removes rows would be another row here. */
const work: Readonly<
  Record<Step['action'], ((context: RunContext, step: Step) => Promise<Built>) | null>
> = {
  build: (context, { model, slice }) => materializationOf(model).build(context, model, slice),
  unchanged: null,
  skip: null,
}

export const hasWork = ({ action }: Step): boolean => work[action] !== null

/** Does a step that nothing blocks (plan/steps.ts). When it throws, the transaction, if any, is to be rolled back. */
export async function buildRows(context: RunContext, step: Step): Promise<Built> {
  const worker = work[step.action]
  if (worker === null) throw new Error(`${step.model.name} has no work to do`)
  return await timed(context, step.model, 'build', () => worker(context, step))
}

/**
 * In the transaction of the caller, who records the version in it. `made`: rows that are there already, else they are
 * made here. Throws with the transaction to be rolled back.
 */
export async function build(
  context: RunContext,
  step: Step,
  fingerprint: string,
  made: Built | null,
): Promise<BuiltRows> {
  const { model } = step
  const built = made ?? (await buildRows(context, step))
  const warnings = await checkRows(context, model)
  const before = recordOf(context, model)
  const isNew = built.changed || before === null
  const version = isNew ? versionOf(context, model, fingerprint) : before.version
  return { version, warnings, ...(built.rows === undefined ? {} : { rows: built.rows }) }
}

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

/**
 * Makes the schemas of models that have none yet, and the place where slices are remembered. Not in the transactions of
 * the steps: two that create one schema at once would conflict.
 */
export async function prepare(
  { connection, catalog, store }: RunContext,
  steps: readonly Step[],
): Promise<void> {
  const missing = new Map<string, ModelName>()
  const made = steps.filter((step) => hasWork(step) && step.problem === null)
  if (made.some(({ slice }) => slice !== 'whole')) await store.state.makeSlices(connection)
  for (const { model } of made) {
    const { name, kind } = model
    if (kind !== 'events' && relationType(catalog, name) === null)
      missing.set(foldCase(splitModelName(name).schema), name)
  }
  if (missing.size === 0) return
  const statements = Array.from(missing.values(), createSchema)
  await connection.transact(() => connection.run(sql.join(statements, sql`;\n`)))
}

/**
 * The rows of a table that goes on depend on its previous contents, so each change gets a new version. So does
 * a model that was built although no known input changed.
 */
export function versionOf(
  { fullRefresh, runId }: RunContext,
  { kind, volatile }: Pick<Model, 'kind' | 'volatile'>,
  fingerprint: string,
): string {
  const own = kinds[kind].keepsRows || volatile || fullRefresh
  return own ? hashOf(16, [fingerprint, runId]) : fingerprint
}
