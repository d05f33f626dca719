// The flush of a run: every events model has its table, then what is buffered moves in, target by target.

import type { ClaimSource } from '../../buffer/claim-source.ts'
import { knownModels } from '../../compiler/select.ts'
import type { EventsModel } from '../../core/model.ts'
import { sameName, targetsOf } from '../../core/names.ts'
import { sql } from '../../core/sql.ts'
import { roomMaker } from '../../duckdb/vectors/memory.ts'
import { recordOf, type RunContext } from '../run-context.ts'
import type { FlushCount } from '../../core/report/run-summary.ts'
import { finishCommitted, type FlushDependencies, flushTarget } from './flush.ts'
import { dropBatch, insertRejected, isOf } from './load-batch.ts'
import { events as eventsTable } from '../build/materialize/events.ts'
import { noteRelation } from '../build/materialize/relation.ts'
import { isEdited } from '../../store/state-store.ts'

type Given = Omit<
  FlushDependencies,
  'connection' | 'records' | 'tables' | 'makeRoom' | 'claims' | 'formerly'
>

export interface FlushAllOptions extends Given {
  /** null where nothing collects. */
  readonly openClaims: (() => Promise<ClaimSource>) | null
  readonly startedAt: Date
  readonly onFlushed: (model: EventsModel, count: FlushCount) => void
  /** Called for a model that cannot be flushed. Throws anything that is not a failure of the model. */
  readonly onFailure: (model: EventsModel, error: unknown) => void
}

/** Of `events`, which nothing blocks. Targets without a model keep their events in the buffer. */
export async function flushAll(
  context: RunContext,
  events: readonly EventsModel[],
  options: FlushAllOptions,
): Promise<void> {
  const { openClaims, logger, signal, startedAt, onFlushed, onFailure } = options
  const ready = await prepareTables(context, events, options)
  if (openClaims === null || signal.aborted) return
  await using claims = await openClaims()
  const { connection, store } = context
  const makeRoom = await roomMaker(connection)
  const all = {
    ...options,
    connection,
    records: store.flushed,
    tables: store.tables,
    makeRoom,
    claims,
    formerly: false,
  }
  await finishCommitted(all, context.state.acks)
  const targets = await claims.targets()
  const known = [...knownModels(context.project).values()].filter(
    ({ kind }) => kind === 'events' || kind === null,
  )
  for (const target of targets)
    if (!known.some(({ name }) => sameName(name, target)))
      logger.warn('flush-target-without-model', { target })
  for (const model of ready) {
    const { name } = model
    const deps = { ...all, formerly: isRedefined(context, model) }
    const others = targetsOf(name, targets).filter((target) => target !== name)
    try {
      for (const target of [...others.toSorted(), name]) {
        const fence = context.state.positions.get(target)
        await flushTarget(deps, model, target, fence, startedAt, (count) => onFlushed(model, count))
      }
    } catch (error) {
      onFailure(model, error)
    }
  }
}

/** Since the last run that flushed all of it. */
function isRedefined({ state }: RunContext, model: EventsModel): boolean {
  const record = state.models.get(model.name)
  return record === undefined || record.fingerprint === '' || isEdited(record, model)
}

/** What did not fit the model as it was may fit it as it is. */
async function retryRejected(
  { store, connection }: RunContext,
  model: EventsModel,
): Promise<number> {
  const query = sql`SELECT 1 FROM _eider.rejected_events WHERE ${isOf(model)} LIMIT 1`
  if ((await connection.row(query)) === null) return 0
  const target = await store.tables.written(connection, model.name)
  const events = await insertRejected(connection, target, model)
  await dropBatch(connection)
  return events
}

/** Before anything is claimed. */
async function prepareTables(
  context: RunContext,
  models: readonly EventsModel[],
  { onFailure, onFlushed, logger }: FlushAllOptions,
): Promise<readonly EventsModel[]> {
  const { connection, runId, store } = context
  const ready: EventsModel[] = []
  for (const model of models) {
    try {
      const record = recordOf(context, model)
      const wasEdited = isEdited(record, model)
      const retried = await store.state.change(connection, async () => {
        await eventsTable.build(context, model)
        // From here on the table is known as one that holds events, by this definition, whatever happens next: what is
        // rejected by it is tried again when it changes, also when it becomes again what it was.
        if (record?.kind !== 'events' || wasEdited)
          await store.state.recordModels(connection, runId, [
            { model, fingerprint: '', version: '' },
          ])
        return wasEdited ? await retryRejected(context, model) : 0
      })
      if (retried > 0) {
        onFlushed(model, { events: retried, rejected: 0 })
        logger.info('flush-rejected-retried', { target: model.name, events: retried })
      }
      noteRelation(context, model)
      ready.push(model)
    } catch (error) {
      onFailure(model, error)
    }
  }
  return ready
}
