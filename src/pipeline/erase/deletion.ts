// Step 3 of an erasure: how many rows of which tables are meant, and the transaction in which they go.

import { randomUUID } from 'node:crypto'
import type { Condition } from '../../compiler/condition.ts'
import { knownModels } from '../../compiler/select.ts'
import { EnvironmentError, UsageError } from '../../core/failures.ts'
import { count } from '../../core/counts.ts'
import { hashOf } from '../../core/hash.ts'
import { kinds } from '../../core/kinds.ts'
import type { CompiledProject, EventsModel, Model } from '../../core/model.ts'
import { foldCase, type ModelName, sameName } from '../../core/names.ts'
import type { DamagedEvents } from '../../core/report/damaged-events.ts'
import type { ErasedPlace, LeftPlace } from '../../core/report/erased.ts'
import type { ModelResult } from '../../core/report/progress.ts'
import { sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { DatabaseError } from '../../duckdb/errors.ts'
import type { Known } from '../../store/state.ts'
import type { Store } from '../../store/store.ts'
import type { TouchedColumn } from '../../store/changes.ts'
import { followedColumns } from '../changes/notes.ts'
import { eventsVersion } from '../changes/touched.ts'
import { countRows, relationType } from '../build/materialize/relation.ts'
import { problemIn } from '../failure.ts'
import { recordWork, workOn } from '../record-work.ts'
import { RunResults } from '../results.ts'
import { outdatedModels } from './outdated.ts'
import type { Reach, ReachedModel } from './reach.ts'
import { forgetSaid } from './said.ts'
import {
  countMeant,
  countMeantSince,
  deleteMeant,
  isDeletedFrom,
  rejectedEvents,
  touchedByMeant,
} from './rows.ts'

export interface Deletion {
  readonly store: Pick<Store, 'state' | 'tables'>
  readonly connection: Connection
  readonly known: Known
  readonly project: CompiledProject
  readonly model: Model
  readonly condition: Condition
  readonly reach: Reach
  /** What nobody can search goes too. */
  readonly unreadable: boolean
  /** Files with events of the model that have changed on disk. */
  readonly damaged: readonly DamagedEvents[]
}

export interface Found {
  /** Rows that were deleted from the table of the model. */
  readonly rows: number
  /** Where rows are deleted. */
  readonly places: readonly ErasedPlace[]
  /** Tables that are made again without them. */
  readonly rebuilt: readonly ErasedPlace[]
  readonly left: readonly LeftPlace[]
}

/** Changes nothing. Throws UsageError for a condition that fails on a row, EnvironmentError `not-built`. */
export async function findRows(deletion: Deletion): Promise<Found> {
  const { connection, known, model, reach, store, condition } = deletion
  if (!isTable(known, model))
    throw new EnvironmentError('not-built', `${model.name} is not in the warehouse yet`, {
      hint: `build it: eider run +${model.name}`,
    })
  const found: { readonly reached: ReachedModel; readonly place: ErasedPlace }[] = []
  for (const reached of reach.reached.filter((one) => isTable(known, one.model))) {
    const { name } = reached.model
    const counting = countMeant(connection, store.tables, { condition, model }, reached)
    const place = { place: 'table', model: name, count: await placed(name, counting) } as const
    found.push({ reached, place })
  }
  const places = found.filter(({ reached }) => isDeletedFrom(reached)).map(({ place }) => place)
  const rebuilt = found.filter(({ reached }) => !isDeletedFrom(reached)).map(({ place }) => place)
  const left = [
    ...leftTables(deletion),
    ...leftOutdated(deletion),
    ...leftBySource(deletion),
    ...leftBesides(deletion),
    ...leftDamaged(deletion),
  ]
  if (model.kind === 'events') {
    const rejected = await placed(model.name, ofRejected(deletion, model, false))
    const { meant, unclear } = rejected
    const total = meant + (deletion.unreadable ? unclear : 0)
    places.push({ place: 'rejected-events', model: model.name, count: total })
    if (unclear > 0 && !deletion.unreadable)
      left.push({
        what: `${count(unclear, 'rejected event')} of ${model.name}, which cannot be read well enough to tell`,
        next: 'look at them in _eider.rejected_events; --unreadable deletes them',
      })
  }
  const rows = await countRows(connection, sql.relation(model.name))
  return { rows, places, rebuilt, left }
}

/** Rows of the model itself that are meant and came in since then: a run beside the erasure has flushed them. */
export async function countReceivedSince(
  { connection, store, model, condition, reach }: Deletion,
  at: Date,
): Promise<number> {
  const own = reach.reached.find((one) => one.model.name === model.name)
  if (own === undefined) return 0
  return await countMeantSince(connection, store.tables, { condition, model }, { ...own, at })
}

const ofRejected = (
  { connection, store, condition, unreadable }: Deletion,
  model: EventsModel,
  isRemoved: boolean,
) =>
  rejectedEvents(
    connection,
    store.tables,
    { condition, model },
    isRemoved ? { unclear: unreadable } : null,
  )

/** In one transaction, with new versions of what has changed: what reads it is built again, and it is published again. */
export async function deleteRows(deletion: Deletion): Promise<void> {
  const { connection, known, model, reach, store, condition } = deletion
  // It stays in the records. A hash of the condition would tell whoever guesses the condition that it was used.
  const id = randomUUID()
  const { runId, startedAt } = new RunResults(new Date(), () => {})
  if (reach.all.some(({ name }) => store.state.changes.columnsOf(name).length > 0))
    await store.state.makeChanges(connection)
  await store.state.change(connection, async () => {
    const changed = new Map<ModelName, readonly TouchedColumn[]>()
    const work: ModelResult[] = []
    for (const reached of reach.reached) {
      if (!isDeletedFrom(reached) || !isTable(known, reached.model)) continue
      const meaning = { condition, model }
      const columns = followedColumns(deletion, reached.model)
      const touched = await touchedByMeant(connection, store.tables, meaning, {
        ...reached,
        columns,
      })
      const rows = await deleteMeant(connection, store.tables, meaning, reached)
      if (rows === 0) continue
      changed.set(reached.model.name, touched)
      work.push(await erasedFrom(deletion, reached.model, rows))
      if (reached.model.kind === 'events')
        await recordRemoved(deletion, reached.model, rows, touched)
    }
    if (model.kind === 'events') await ofRejected(deletion, model, true)
    await recordChanged(deletion, changed, id)
    if (work.length > 0)
      await recordWork(connection, { command: 'erase', runId, startedAt, models: work })
    await forgetSaid(connection, deletion)
  })
}

function erasedFrom({ connection, known }: Deletion, model: Model, rows: number) {
  const { definition } = known.state.models.get(model.name) ?? model
  const counts = { rows_in: 0, rows_changed: 0, rows_out: rows }
  const because = 'rows were erased'
  return workOn(connection, model.name, { definition }, { way: 'erase', because, ...counts })
}

async function recordChanged(
  { connection, known, store }: Deletion,
  changed: ReadonlyMap<ModelName, readonly TouchedColumn[]>,
  id: string,
): Promise<void> {
  const records = [...changed.keys()].flatMap((name) => {
    const record = known.state.models.get(name)
    if (record === undefined) return []
    const { kind, definition, fingerprint, version } = record
    const next = nextVersion(version, id)
    return [{ model: { name, kind, definition }, fingerprint, version: next }]
  })
  await store.state.recordModels(connection, `erase-${id}`, records)
  for (const [name, touched] of changed) {
    const before = known.state.models.get(name)?.version
    if (before === undefined) continue
    const versions = { before, after: nextVersion(before, id) }
    await store.state.changes.record(connection, name, versions, touched)
  }
}

/** Events have gone, so there are others, though none has come: what follows the table reads what they touch once more. */
async function recordRemoved(
  { connection, store: { state } }: Deletion,
  { name }: EventsModel,
  rows: number,
  touched: readonly TouchedColumn[],
): Promise<void> {
  const { changes } = state
  // One more than there were, so that the table has a version which it never had.
  await changes.noteRemoved(connection, name, rows + 1)
  const after = await eventsVersion(connection, changes, name)
  const before = String(Number(after) - 1)
  await changes.record(connection, name, { before, after }, touched)
}

const nextVersion = (version: string, id: string): string => hashOf(16, [version, id])

const isTable = ({ catalog }: Known, { name }: Model) => relationType(catalog, name) === 'table'

function leftTables({ known, project, reach, model }: Deletion): LeftPlace[] {
  const unreached = reach.unreached.map(({ name, kind }) => ({
    what: `${name} (${kind}) keeps rows made from ${model.name}, and does not pass on the columns of the condition`,
    next: `by its own columns: eider erase ${name} "…", or rebuild it: eider run ${name} --full-refresh`,
  }))
  const isKnown = new Set([...knownModels(project).keys()].map(foldCase))
  const orphans = [...known.state.models]
    .filter(([name]) => !isKnown.has(foldCase(name)) && relationType(known.catalog, name) !== null)
    .map(([name]) => ({
      what: `${name}, whose model is gone from the project`,
      next: `eider drop ${name}`,
    }))
  return [...unreached, ...orphans]
}

/** What they hold was made by other queries, which may have read the model. */
function leftOutdated({ known, project, reach, model }: Deletion): LeftPlace[] {
  const isReached = (name: ModelName) => reach.all.some((one) => one.name === name)
  return [...outdatedModels(project, known)]
    .filter((name) => !isReached(name) && relationType(known.catalog, name) !== null)
    .map((name) => {
      const record = known.state.models.get(name)
      const keepsRows = record !== undefined && kinds[record.kind].keepsRows
      const refresh = keepsRows ? `, eider run ${name} --full-refresh` : ''
      return {
        what: `${name}, which may have been made from ${model.name} before it, or a model that it reads, was edited`,
        next: `eider run${refresh}, then this command with --rewrite`,
      }
    })
}

/** What a model reads that keeps rows may give them back. */
function leftBySource({ model, project }: Deletion): LeftPlace[] {
  if (!kinds[model.kind].hasQuery) return []
  const names = [...model.dependsOn.filter((name) => project.models.has(name)), ...model.sources]
  if (names.length + model.files.length === 0) return []
  const read = [...names, ...model.files].join(', ')
  return [
    {
      what: `${read}, which ${model.name} reads: its next build takes back what is still there`,
      next: 'delete the rows there first',
    },
  ]
}

/**
 * What a reader takes from elsewhere and is found by the same columns, such as the orders of another shop: its table has
 * these rows still, and no lineage leads there.
 */
function leftBesides({ model, project, reach, condition }: Deletion): LeftPlace[] {
  const places = [
    ...(project.external?.tables ?? []),
    ...[...project.models.values()].filter(({ kind }) => kind === 'seed'),
  ]
  const has = ({ columns }: (typeof places)[number]) =>
    condition.columns.length > 0 &&
    condition.columns.every((used) => columns.some(({ name }) => sameName(name, used)))
  return places.filter(has).flatMap(({ name }) => {
    const reader = reach.all.find(
      (one) => one !== model && [...one.sources, ...one.dependsOn].includes(name),
    )
    if (reader === undefined) return []
    const columns = condition.columns.join(', ')
    return [
      {
        what: `${name}, which ${reader.name} reads and which has ${columns}, too: its rows are still there, and in what is made of them`,
        next: 'look there; if rows are meant, delete them, run eider run, and repeat this command with --rewrite',
      },
    ]
  })
}

function leftDamaged({ damaged, unreadable }: Deletion): LeftPlace[] {
  if (unreadable) return []
  return damaged.map(({ path }) => ({
    what: `${path}, with events that changed on disk and cannot be searched`,
    next: 'look at it and delete it, or add --unreadable',
  }))
}

async function placed<T>(name: ModelName, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error
    if (error.details.type === 'Binder')
      throw new UsageError(
        `the table ${name} does not have the columns of its model: ${problemIn(error)}`,
        {
          hint: `bring it in line first: eider run ${name}`,
        },
      )
    if (!['Conversion', 'Invalid Input', 'Out of Range'].includes(error.details.type)) throw error
    throw new UsageError(`the condition fails on a row of ${name}: ${problemIn(error)}`, {
      hint: 'nothing was changed; use TRY_CAST for values that cannot be read',
    })
  }
}
