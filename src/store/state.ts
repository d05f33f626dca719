// What the tool remembers of a target, next to its tables. It changes in the same transactions as the relations that it
// describes. Every store has these tables, which are read as they are:
//
//   _eider.runs              one row per finished run, with its results as JSON
//   _eider.rejected_events   events that do not fit their table, set aside with the reason
//   _eider.slices            what runs have built of ranges of models, once there is any (slices.ts)
//   _eider.changes           what changes of tables touch, and
//   _eider.followers         how far models have read them, once a model does (changes.ts)
//   _eider.forgotten         which values rows had that `@keep` has removed (forgotten.ts)
//   _eider.older_rows        which rows of older rules no range tells of, and which are meant (older-rows.ts)
//   _eider.accepted          which changes of published sets are accepted, once one is (accepted.ts)

import type { RunSummary } from '../core/report/progress.ts'
import type { Kind, Macro, Model } from '../core/model.ts'
import type { ModelName } from '../core/names.ts'
import type { EngineCatalog } from '../duckdb/catalog.ts'
import type { Sql } from '../core/sql.ts'
import type { ValueRange } from '../core/step.ts'
import type { ChangeTables } from './changes.ts'
import type { NewLeft, OlderRowsTable } from './older-rows.ts'
import type { Connection } from '../duckdb/database.ts'

export const STATE_SCHEMA = '_eider'

export interface StateStore {
  /** What no range tells of rows of older rules. */
  readonly olderRows: OlderRowsTable
  /** What begin() and read() have found of changes of tables that models follow. */
  readonly changes: ChangeTables
  /**
   * What a run knows when it begins; makes what is not there yet. Records take the name of the model in the project,
   * `names`, where the two differ only in case. Throws EnvironmentError `warehouse-format`, and `move-unfinished` for a
   * target into which tables are being moved, unless it is the move that asks.
   */
  begin(connection: Connection, names: Iterable<ModelName>, options?: BeginOptions): Promise<Known>
  /** For commands that change nothing; a target that no run has written has no state. */
  read(connection: Connection, names: Iterable<ModelName>): Promise<Known>
  /** In the transaction of the caller: what is recorded of one model; null for nothing. */
  readRecord(connection: Connection, model: ModelName): Promise<ModelRecord | null>
  /** Models that get a definition in this run that they had before, until another run changed it. */
  changedBack(
    connection: Connection,
    runId: string,
    models: readonly Pick<Model, 'name' | 'definition'>[],
  ): Promise<readonly ModelName[]>
  /** What changes while a run flushes. */
  readPositions(connection: Connection): Promise<ReadonlyMap<ModelName, FlushPosition>>
  /** Keeps for readers what they cannot see while the run works. */
  saveForReaders(connection: Connection): Promise<void>
  /**
   * A transaction that changes relations or what is remembered of them, like `connection.transact()`. Throws
   * EnvironmentError `run-lock-lost` for a run that is no longer the one that may.
   */
  change<T>(connection: Connection, work: () => Promise<T>): Promise<T>
  /** Those of these models, oldest first: of two that contain a value the later one holds. `until`: as they were then. */
  readSlices(
    connection: Connection,
    models: Iterable<ModelName>,
    until?: Date,
  ): Promise<readonly SliceRecord[]>
  /** What they say together, of each model that has some, without a look at each. */
  summarizeSlices(
    connection: Connection,
    models: Iterable<ModelName>,
  ): Promise<ReadonlyMap<ModelName, SlicesSummary>>
  /** Call this in no transaction, before one that records ranges that must not be lost, or adopts slices. */
  makeSlices(connection: Connection): Promise<void>
  /** Call this in no transaction, before one in which a model notes how far it has read. */
  makeChanges(connection: Connection): Promise<void>
  /** Does what makeSlices() does, before a record of what is left. */
  makeOlderRows(connection: Connection): Promise<void>
  /** Remembers slices that another target has, as they are there. */
  adoptSlices(connection: Connection, slices: readonly SliceRecord[]): Promise<void>
  /** Call this in the transaction that built the relations. */
  recordModels(connection: Connection, runId: string, records: readonly NewRecord[]): Promise<void>
  /** Records models that the project has lost; their relations are kept. */
  recordRemoved(connection: Connection, runId: string, models: readonly ModelName[]): Promise<void>
  /** Replaces all that were recorded before. */
  recordMacros(connection: Connection, macros: readonly Macro[]): Promise<void>
  /**
   * `results` is what JSON prints, for `eider history`. Returns the bytes of the record, which in the log of a file are
   * more by some for its row.
   */
  recordRun(connection: Connection, run: FinishedRun, results: unknown): Promise<number>
  /** A query with the columns of `_eider.runs`: the runs there, and those that are not recorded yet. */
  allRuns(): Promise<Sql>
  /** The relation is dropped. */
  forget(connection: Connection, model: ModelName): Promise<void>
  /** The relation has another name, under which nothing was built before, or what was is forgotten. */
  rename(connection: Connection, from: ModelName, to: ModelName): Promise<void>
}

export interface BeginOptions {
  readonly isMove: boolean
}

/** What stands of a target at one moment. */
export interface Known {
  readonly catalog: EngineCatalog
  readonly state: State
  /** Those that a run has made, as the author wrote them, in order. */
  readonly macros: readonly SavedMacro[]
}

export interface SavedMacro {
  readonly name: string
  readonly text: string
}

export interface State {
  readonly models: ReadonlyMap<ModelName, ModelRecord>
  readonly positions: ReadonlyMap<ModelName, FlushPosition>
  readonly acks: readonly AckRecord[]
}

export const NO_STATE: State = { models: new Map(), positions: new Map(), acks: [] }

/** The recorded state of a relation in the warehouse. */
export interface ModelRecord {
  readonly kind: Kind
  /** Identity of everything that the content depends on, at the last build. */
  readonly fingerprint: string
  /** Identity of the content; what downstream fingerprints and published files are built from. */
  readonly version: string
  readonly definition: string
  /** True when the project no longer has the model; the relation is kept. */
  readonly removed: boolean
}

/** Whether an earlier run has made the relation by another definition. */
export const isEdited = (
  record: ModelRecord | null | undefined,
  { definition }: Pick<Model, 'definition'>,
): boolean => record != null && record.definition !== definition

/** By the opening of the buffer the last segment of it that is in the table. */
export type FlushPosition = ReadonlyMap<number, number>

/** Positions of targets from rows in their order. */
export function positionsOf(
  rows: Iterable<Readonly<Record<string, unknown>>>,
): ReadonlyMap<ModelName, FlushPosition> {
  const positions = new Map<ModelName, Map<number, number>>()
  for (const { target, opening, segment } of rows) {
    const position = positions.get(target as ModelName) ?? new Map<number, number>()
    positions.set(target as ModelName, position.set(Number(opening), Number(segment)))
  }
  return positions
}

/** Whether a segment is in the table, for all that the position of its target says. */
export const isFlushed = (
  position: FlushPosition | undefined,
  { opening, segment }: { readonly opening: number; readonly segment: number },
): boolean => segment <= (position?.get(opening) ?? -1)

/** A claim whose events are committed and whose segment may still be in the buffer. */
export interface AckRecord {
  readonly id: string
  readonly target: ModelName
  readonly opening: number
}

/** A range of a model whose rows a run has built, or has found as they should be. */
export interface SliceRecord extends ValueRange {
  readonly model: ModelName
  /** The definition of the model at that time. */
  readonly definition: string
  /** What its rows follow from (pipeline/rules/rule.ts); null: an earlier version has recorded none. */
  readonly rule: string | null
  readonly runId: string
  /** ISO 8601. */
  readonly builtAt: string
}

/** The slices of a model: all that hold, and maybe some that later ones have replaced. */
export interface SlicesSummary {
  /** Whether one of those that hold has no limits. */
  readonly isWhole: boolean
  readonly madeBy: readonly Pick<SliceRecord, 'definition' | 'rule'>[]
}

/** A range that rows were built of: by the definition of the model, and now, where nothing else is said. */
export interface RecordedRange extends ValueRange {
  readonly definition?: string
  readonly rule?: string | null
  readonly builtAt?: string | null
}

/** What was built of a model, and what it was built from. */
export interface NewRecord {
  readonly model: Pick<Model, 'name' | 'kind' | 'definition'>
  readonly fingerprint: string
  readonly version: string
  /** The project no longer has it; false when not given. */
  readonly removed?: boolean
  /** Those whose rows were made by this definition; they are remembered once there is a place for them. */
  readonly ranges?: readonly RecordedRange[]
  /** The rule of ranges that do not name one. */
  readonly rule?: string | null
  /** One that a longer one of `ranges` takes the place of. */
  readonly outgrown?: ValueRange | null
  /** What is left of older rules; as before when not given. */
  readonly left?: NewLeft
  /** The table was made from nothing, so what is remembered of its ranges no longer holds. */
  readonly isNewTable?: boolean
}

export type FinishedRun = Pick<RunSummary, 'runId' | 'startedAt' | 'ms' | 'ok'>
