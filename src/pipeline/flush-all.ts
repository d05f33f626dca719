// The flush of a run: every events model has its table, then what is buffered moves in, target by target.

import type { ClaimSource } from '../buffer/claim-source.ts'
import type { CompiledProject, EventsModel } from '../core/model.ts'
import { type BuildContext, refuseReservedSchema, siteOf } from './build.ts'
import { finishCommitted, type FlushCount, type FlushDependencies, flushTarget } from './flush.ts'
import { prepareEventsTable } from './materialize/events.ts'
import { noteRelation } from './materialize/relation.ts'
import { recordModel } from './state.ts'

export interface FlushAllOptions extends Omit<FlushDependencies, 'connection' | 'claims'> {
  /** null where nothing collects. */
  readonly openClaims: (() => Promise<ClaimSource>) | null
  readonly startedAt: Date
  readonly onFlushed: (model: EventsModel, count: FlushCount) => void
  /** Told of a model that cannot be flushed. Throws what is no failure of the model. */
  readonly onFailure: (model: EventsModel, error: unknown) => void
}

/** Targets without a model keep their events in the buffer. */
export async function flushAll(
  context: BuildContext,
  { models }: CompiledProject,
  options: FlushAllOptions,
): Promise<void> {
  const { openClaims, logger, signal, startedAt, onFlushed, onFailure } = options
  const events = [...models.values()]
    .filter((model) => model.kind === 'events')
    .filter(({ name }) => context.selected.has(name))
  const ready = await prepareTables(context, events, onFailure)
  if (openClaims === null || signal.aborted) return
  await using claims = await openClaims()
  const deps = { ...options, connection: context.connection, claims }
  await finishCommitted(deps, context.state.acks)
  for (const target of await claims.targets())
    if (models.get(target)?.kind !== 'events') logger.warn('flush-target-without-model', { target })
  for (const model of ready) {
    const fence = context.state.positions.get(model.name) ?? null
    try {
      await flushTarget(deps, model, fence, startedAt, (count) => onFlushed(model, count))
    } catch (error) {
      onFailure(model, error)
    }
  }
}

/** Row E082: a model whose columns cannot be brought into its table is refused before anything of it is claimed. */
async function prepareTables(
  context: BuildContext,
  models: readonly EventsModel[],
  onFailure: FlushAllOptions['onFailure'],
): Promise<readonly EventsModel[]> {
  const { connection, catalog, state, runId } = context
  const ready: EventsModel[] = []
  for (const model of models) {
    try {
      refuseReservedSchema(context, model.name)
      await connection.transact(async () => {
        await prepareEventsTable(siteOf(context, model), model)
        // From here on the table is known as one that holds events, whatever happens next.
        if (state.models.get(model.name)?.kind !== 'events')
          await recordModel(connection, model, { fingerprint: '', version: '', runId })
      })
      noteRelation(catalog, model.name, 'table')
      ready.push(model)
    } catch (error) {
      onFailure(model, error)
    }
  }
  return ready
}
