// `eider erase`: rows that a condition means go from every place of a target where they can be read, in steps of which each
// may be repeated:
//
//   1 what waits in the buffer moves into its table      4 the models that are made from it are built and published;
//   2 it is noted that an erasure has begun                 older states go
//   3 the rows go, in one transaction                    5 what they have left in files goes
//                                                        6 nothing is found any more; the note goes
//
// Each has a store of its own, since that of a lake knows one run.
//
// Events that come in after the first step are others.

import { rm } from 'node:fs/promises'
import type { ClaimSource } from '../../buffer/claim-source.ts'
import { knownModels } from '../../compiler/select.ts'
import { count, grouped } from '../../core/counts.ts'
import { EnvironmentError, UsageError } from '../../core/failures.ts'
import { kinds } from '../../core/kinds.ts'
import type { Logger } from '../../core/logger.ts'
import type { ModelName } from '../../core/names.ts'
import type { ProjectPaths } from '../../core/project.ts'
import type { Erased, ErasedPlace, LeftPlace } from '../../core/report/erased.ts'
import type { ModelResult, Progress } from '../../core/report/progress.ts'
import { openStore } from '../../store/open.ts'
import type { WriteOptions } from '../../store/warehouse.ts'
import { toEnvironmentError } from '../failure.ts'
import { flushBuffer } from '../flush/flush-events.ts'
import { runPipeline } from '../run.ts'
import { countReceivedSince, type Deletion, deleteRows, findRows, type Found } from './deletion.ts'
import { forgetKeptRows } from './said.ts'
import { erasureId, type Erasure, readErasure, recordErasure, strikeErasure } from './record.ts'

export interface EraseRequest
  extends WriteOptions, Omit<Deletion, 'store' | 'connection' | 'known'> {
  readonly paths: ProjectPaths
  /** A condition that means every row is no mistake. */
  readonly all: boolean
  /** The files are made again also where no row is meant: those that were deleted in another way are still in them. */
  readonly rewrite: boolean
  readonly openClaims: () => Promise<ClaimSource>
  readonly progress: Progress
  readonly logger: Logger
  /** For people: what is being done. */
  readonly onDoing?: (doing: string) => void
  /** For crash tests: called after each step, and between those of the last. */
  readonly onStep?: ((step: string) => void | Promise<void>) | undefined
}

/** `unfinished`: why it has not ended; the same command goes on with it. */
export interface EraseOutcome extends Omit<Erased, 'dry_run' | 'ms'> {
  readonly unfinished: string | null
}

/** Throws UsageError, EnvironmentError and errors of `signal`. */
export async function eraseRows(request: EraseRequest): Promise<EraseOutcome> {
  const { paths, model, condition, signal, onStep } = request
  const startedAt = new Date()
  const id = erasureId(model.name, condition.body.text)
  const begun = await readErasure(paths, id)
  const step = async (name: string, doing: string) => {
    await onStep?.(name)
    signal.throwIfAborted()
    request.onDoing?.(doing)
  }
  if (model.kind === 'events') await flush(request)
  await step('flushed', 'deleting')
  const deleted = await deleteUnderLease(request, id, begun)
  const outcome = { model: model.name, rebuilt: [], files_removed: 0, bytes_rewritten: 0 }
  const { left } = deleted
  if (deleted.erasure === null) return { ...outcome, erased: [], left, unfinished: null }
  const { erased } = deleted.erasure
  await step('deleted', 'building')
  const built = await rebuild(request)
  if (built.failed !== null) return { ...outcome, erased, left, unfinished: built.failed }
  await step('built', 'rewriting')
  const removed = await openStore(paths).traces.remove({
    ...request,
    waitMs: request.lockWaitMs,
    ...(onStep === undefined ? {} : { onStep }),
  })
  await step('removed', 'looking again')
  const again = await findAgain(request, startedAt)
  const whole = {
    ...outcome,
    erased,
    rebuilt: built.rebuilt,
    files_removed: removed.filesRemoved,
    bytes_rewritten: removed.bytesRewritten,
    left: [...left, ...removed.left, ...again.left],
  }
  if (again.still.length > 0)
    return {
      ...whole,
      unfinished: `rows are still in ${again.still.join(', ')}: something gives them back`,
    }
  await strikeErasure(paths, id)
  return { ...whole, unfinished: null }
}

async function flush(request: EraseRequest): Promise<void> {
  request.onDoing?.('flushing')
  const { model } = request
  const { ok, failed, damaged } = await flushBuffer({
    ...request,
    store: openStore(request.paths),
    selection: { include: [model.name], exclude: [], retry: false },
  })
  request.signal.throwIfAborted()
  // Damaged events are no reason to stop: they are named, or deleted.
  if (ok || (failed.length === 0 && damaged.length > 0)) return
  throw new EnvironmentError(
    'erase-refused',
    `the events of ${model.name} that wait in the buffer cannot be flushed: ${failed.map(({ because }) => because).join('; ')}`,
    { hint: 'nothing was changed; make eider flush work, and repeat the command' },
  )
}

interface Deleted {
  /** null: nothing is meant, and nothing was changed. */
  readonly erasure: Erasure | null
  readonly left: readonly LeftPlace[]
}

async function deleteUnderLease(
  request: EraseRequest,
  id: string,
  begun: Erasure | null,
): Promise<Deleted> {
  const { paths, model, project, lockWaitMs, signal, unreadable, damaged, onStep } = request
  const store = openStore(paths)
  try {
    await using _lease = await store.lease.take({ waitMs: lockWaitMs, signal, name: 'erase' })
    await using warehouse = await store.warehouse.open({ ...request, lockWaitMs })
    await using connection = await warehouse.connect()
    const known = await store.state.begin(connection, knownModels(project).keys())
    const found = await findRows({ ...request, store, connection, known })
    refuseAll(request, found)
    const files = unreadable ? damaged.length : 0
    const isMeant = found.places.some(({ count }) => count > 0) || files > 0
    if (begun === null && !isMeant && !request.rewrite) return { erasure: null, left: found.left }
    const { name } = model
    const begun_at = begun?.begun_at ?? new Date().toISOString()
    const settled = begun === null ? [] : settle(begun, isMeant)
    const deleting: readonly ErasedPlace[] = [
      ...found.places,
      { place: 'damaged-events', model: name, count: files },
    ]
    await recordErasure(paths, id, { model: name, begun_at, erased: settled, deleting })
    await onStep?.('recorded')
    await deleteRows({ ...request, store, connection, known })
    await onStep?.('committed')
    await store.warehouse.checkpoint(connection, 'much')
    for (const { path } of unreadable ? damaged : []) await rm(path, { force: true })
    await forgetKeptRows(paths.dir, { ...request, known })
    const erasure = { model: name, begun_at, erased: added(settled, deleting), deleting: [] }
    await recordErasure(paths, id, erasure)
    return { erasure, left: found.left }
  } catch (error) {
    throw toEnvironmentError(store.explain(error))
  }
}

/** Rows that an interrupted attempt was about to delete, and that are not found any more, it has deleted. */
const settle = ({ erased, deleting }: Erasure, isMeant: boolean): readonly ErasedPlace[] =>
  isMeant ? erased : added(erased, deleting)

function added(
  before: readonly ErasedPlace[],
  now: readonly ErasedPlace[],
): readonly ErasedPlace[] {
  const countOf = ({ place, model }: ErasedPlace) =>
    before.find((one) => one.place === place && one.model === model)?.count ?? 0
  const others = before.filter(
    (one) => !now.some(({ place, model }) => place === one.place && model === one.model),
  )
  return [...others, ...now.map((one) => ({ ...one, count: one.count + countOf(one) }))].filter(
    ({ count }) => count > 0,
  )
}

function refuseAll({ all: isMeant, model }: EraseRequest, { rows, places }: Found): void {
  const own = places.find(({ place, model: of }) => place === 'table' && of === model.name)
  if (isMeant || rows === 0 || own?.count !== rows) return
  const all = rows === 1 ? 'the only row' : `all ${grouped(rows)} rows`
  throw new UsageError(`the condition means ${all} of ${model.name}`, {
    hint: 'if that is what you want, add --all',
  })
}

interface Rebuilt {
  readonly rebuilt: readonly ModelName[]
  /** null: all are built. */
  readonly failed: string | null
}

/**
 * No state but the one that it publishes stays readable. It takes nothing out of the buffer: events that came in after the
 * first step are others, and would be found at the end.
 */
async function rebuild(request: EraseRequest): Promise<Rebuilt> {
  const { reach, signal } = request
  const names = reach.all.map(({ name }) => name)
  const { models, ok } = await runPipeline({
    ...request,
    store: openStore(request.paths),
    openClaims: null,
    selection: { include: names, exclude: [], retry: false },
    retention: { snapshots: 1, ms: 0 },
  })
  signal.throwIfAborted()
  const failed = models.filter(({ status }) => status === 'failed' || status === 'skipped')
  const isMade = ({ model, status }: ModelResult) => {
    const { kind } = request.project.models.get(model)!
    return status === 'built' && (kind === 'period' || !kinds[kind].keepsRows)
  }
  const built = models.filter(isMade).map(({ model }) => model)
  if (ok || failed.length === 0) return { rebuilt: built, failed: null }
  const texts = failed.map(({ model, because }) => `${model}: ${because}`)
  return { rebuilt: built, failed: texts.join('; ') }
}

interface FoundAgain {
  /** Where rows are that should have gone. */
  readonly still: readonly ModelName[]
  readonly left: readonly LeftPlace[]
}

/** A run beside the erasure may have flushed events that came in meanwhile: these are others, and so is what is made of them. */
async function findAgain(request: EraseRequest, startedAt: Date): Promise<FoundAgain> {
  const { paths, project, model } = request
  const store = openStore(paths)
  await using warehouse = await store.warehouse.openToRead(request)
  await using connection = await warehouse.connect()
  const known = await store.state.read(connection, knownModels(project).keys())
  const deletion = { ...request, store, connection, known }
  const { places, rebuilt } = await findRows(deletion)
  const found = [...places, ...rebuilt].filter(({ count: rows }) => rows > 0)
  const still = found.map(({ model: name }) => name)
  const own = found.find(({ place, model: name }) => place === 'table' && name === model.name)
  if (own === undefined) return { still, left: [] }
  const later = await countReceivedSince(deletion, startedAt)
  if (later < own.count) return { still, left: [] }
  const what = `${count(later, 'row')} of ${model.name} that came in while rows were erased, and what was made of them`
  return { still: [], left: [{ what, next: 'repeat the command if they are to go, too' }] }
}
