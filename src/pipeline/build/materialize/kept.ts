// Tables that persist from run to run: append, merge, period, scd2. The shared steps: stage the rows, bring the columns of
// the table in line, then write what the kind says. All in the transaction of the caller.

import { isDeepStrictEqual } from 'node:util'
import { count } from '../../../core/counts.ts'
import { kinds } from '../../../core/kinds.ts'
import type { ColumnRename, KeptModel, Model } from '../../../core/model.ts'
import { foldCase, sameName } from '../../../core/names.ts'
import type { RowChanges } from '../../../core/report/planned-changes.ts'
import type { Column } from '../../../core/relation.ts'
import { type Sql, sql } from '../../../core/sql.ts'
import type { PlannedRange, Slice, ValueRange } from '../../../core/step.ts'
import { adaptedTable, keepTable, layOver } from '../../plan/dry-run/layers.ts'
import { comparing } from '../../changes/replaced.ts'
import { compareRows } from '../../plan/dry-run/compare.ts'
import { fullRefreshOf, ModelFailure } from '../../failure.ts'
import { keepsRules } from '../../rules/rule.ts'
import { planYoung } from '../old-rows.ts'
import { builtParts, type ReadAgain, readAgain } from '../../rules/read-again.ts'
import { rangeColumnOf } from '../../../core/range-column.ts'
import { recordOf, type RunContext } from '../../run-context.ts'
import { isEdited } from '../../../store/state.ts'
import {
  checkKey,
  duplicatesHint,
  fillStage,
  refuseLostWatermark,
  STAGE,
  stageStatement,
} from './stage.ts'
import { type Adaptation, adaptationOf } from './evolve.ts'
import type { Built, DryBuilt, DryRunInput, Materialization, RowCounts } from './materialization.ts'
import { continuesTable, countRows, makeWay } from './relation.ts'
import { pendingRenames, refuseTwoNames, renamedTable, tableOf, withRenames } from './renames.ts'

interface KeptKind<M extends KeptModel> extends Pick<
  Materialization<M>,
  'losses' | 'ranges' | 'rowKey' | 'currentRows'
> {
  /** What is lost with a table of the kind: `holds …`. */
  readonly holds: string
  /** Whether `@on_schema_change: rebuild` loses nothing, since the source still has every row; no when not given. */
  canRebuild?(model: M): boolean
  /** Throws ModelFailure for staged rows that must not be written. */
  refuseStage?(context: RunContext, model: M): Promise<void>
  /** Those of a table that is made from nothing; the staged ones when not given. */
  firstRows?(context: RunContext, stage: Sql, model: M, staged: readonly Column[]): Sql
  /** Writes the staged rows into the table. */
  write(context: RunContext, model: M, staged: Staged): Promise<Written>
  /** Shadows the table of the warehouse with what write() would turn it into. */
  dryWrite(context: RunContext, model: M, dry: DryWrite): Promise<DryWritten>
  /** Those of the ranges of which the stage has rows, or may have none. */
  toReplace?(
    context: RunContext,
    model: M,
    ranges: readonly PlannedRange[],
  ): Promise<readonly PlannedRange[]>
  /** What is to be remembered of the ranges that a step has made; only for a kind that makes ranges. */
  remembered?(
    context: RunContext,
    model: M,
    made: readonly ValueRange[],
  ): Promise<readonly ValueRange[]>
  /** The rows of a table that goes on among which a key can be twice once the ranges are made; all when not given. */
  touchedRows?(model: M, key: readonly string[], table: Sql, ranges: readonly ValueRange[]): Sql
}

/** `rows`: how many it wrote or deleted. */
export interface Written extends RowCounts {
  readonly rows: number
}

export interface Staged {
  readonly slice: Slice
  /** Those that are made anew; empty for a kind that makes none. */
  readonly ranges: readonly ValueRange[]
  readonly staged: readonly Column[]
  /** Those that the table had until now, without the ones that a run adds. */
  readonly before: readonly Column[]
  /** What of the stage an older rule has made in the table; null: nothing. */
  readonly again: ReadAgain | null
}

export interface DryWrite extends Staged {
  /** The table of the warehouse, its columns brought in line. */
  readonly table: Sql
  readonly unique: number
}

export interface DryWritten {
  readonly changes: RowChanges
  /** Whether write() would write or delete a row, be it by the same one; null: as `changes` say. */
  readonly writes: boolean | null
  /** Rows that the table has more than before. */
  readonly added: number
}

interface Kept {
  readonly kind: KeptKind<KeptModel>
  readonly context: RunContext
  readonly model: KeptModel
  readonly slice: Slice
}

export function keptTable<M extends KeptModel>(kind: KeptKind<M>): Materialization<M> {
  return {
    ...kind,
    statement: (model) => stageStatement(model),
    refuse: (context, model, slice) => refuse({ kind, context, model, slice }),
    refuseReplacement: (name, by, fullRefresh) =>
      fullRefresh
        ? null
        : `${name} ${kind.holds}; as kind ${by} it would lose them; to drop them: ${fullRefreshOf(name)}`,
    build: (context, model, slice) => build({ kind, context, model, slice }),
    dryRun: (context, model, input) => dryRun({ kind, context, model, slice: input.slice }, input),
  }
}

async function refuse(kept: Kept): Promise<void> {
  const { context, model } = kept
  const ranged = rangeColumnOf(model)
  if (!continuesTable(context, model)) return
  const found = (await context.columnsBefore(context.connection, model.name)) ?? []
  refuseTwoNames(model, found)
  const before = withRenames(found, pendingRenames(model, found))
  if (ranged !== null) refuseLostWatermark(model.name, ranged, before)
  if (columnsAreKnown(context, model))
    adaptationFor(kept, ownColumns(model, before), ownColumns(model, model.columns))
  await refuseRowsOfOtherKind(context, model, before)
}

/**
 * A table whose rows had no key until now: those with one key would become one row without a word. One whose rows had no
 * period has none that are in no period, which nothing would replace.
 */
async function refuseRowsOfOtherKind(
  context: RunContext,
  model: KeptModel,
  before: readonly Column[],
): Promise<void> {
  const kind = recordOf(context, model)?.kind
  if (kind === undefined || kind === model.kind) return
  const was = `the table was built as kind ${kind}`
  const missing = model.uniqueKey.find(
    (name) => !before.some((column) => sameName(column.name, name)),
  )
  if (missing !== undefined)
    throw new ModelFailure(
      `${was}, and its rows have no column "${missing}" to be their key; choose another key, or rebuild the table: ${fullRefreshOf(model.name)}`,
      'unique_key',
    )
  const hint = `${was}, where that is allowed; choose a key that tells all rows apart, or rebuild the table: ${fullRefreshOf(model.name)}`
  const table = await tableOf(context.connection, model)
  await checkKey(context.connection, table, model.uniqueKey, 'unique_key', hint)
  if (model.kind !== 'period') return
  const { column } = model.period
  const nulls = await countRows(
    context.connection,
    sql`(FROM ${table} WHERE ${sql.ident(column)} IS NULL)`,
  )
  if (nulls > 0)
    throw new ModelFailure(
      `${was}, and ${count(nulls, 'row')} of it ${nulls === 1 ? 'has' : 'have'} NULL in "${column}", so no period would have ${nulls === 1 ? 'it' : 'them'}; choose another column, or rebuild the table: ${fullRefreshOf(model.name)}`,
      'period',
    )
}

/**
 * Whether a model will have the columns that it was compiled with: not where it reads, directly or not, columns that follow
 * from data, or an edited model that the run leaves out. Then only the build can tell which changes of columns to reject.
 */
function columnsAreKnown(context: RunContext, model: Model): boolean {
  const { project, selected, state } = context
  const seen = new Set<Model>()
  const isKnown = (one: Model): boolean => {
    if (seen.has(one)) return true
    seen.add(one)
    if (one.columnsFromData === true) return false
    return one.dependsOn.every((name) => {
      const input = project.models.get(name)
      if (input === undefined) return true
      if (!selected.has(name) && isEdited(state.models.get(name), input)) return false
      return isKnown(input)
    })
  }
  return isKnown(model)
}

async function build(kept: Kept): Promise<Built> {
  const { kind, context, model, slice } = kept
  const renames = await renamesOf(kept)
  if (renames.length > 0) context.changes.doubt(model.name)
  const { connection, store } = context
  for (const rename of renames) {
    await store.tables.renameColumn(connection, model.name, rename)
    await store.state.changes.forgotten.renameColumn(connection, model.name, rename)
  }
  const planned = (await kind.ranges?.(context, model, slice)) ?? []
  const staged = await fillStage(context, model, slice, planned)
  const ranges = await rangesToReplace(kept, planned)
  const built = await writeStage(kept, staged, ranges)
  await connection.run(sql`DROP TABLE ${STAGE}`)
  await checkKeys(kept, ranges)
  const remembered = await kind.remembered?.(context, model, ranges)
  return {
    ...built,
    changed: built.changed || renames.length > 0,
    ...(remembered === undefined ? {} : { ranges: remembered }),
  }
}

const rangesToReplace = async (
  { kind, context, model, slice }: Kept,
  planned: readonly PlannedRange[],
): Promise<readonly PlannedRange[]> =>
  slice === 'whole' && continuesTable(context, model)
    ? ((await kind.toReplace?.(context, model, planned)) ?? planned)
    : planned

/** Those that the table needs which goes on. Throws ModelFailure where they cannot be. */
async function renamesOf({ context, model }: Kept): Promise<readonly ColumnRename[]> {
  if (model.renames.length === 0 || !continuesTable(context, model)) return []
  const found = (await context.columnsBefore(context.connection, model.name)) ?? []
  refuseTwoNames(model, found)
  return pendingRenames(model, found)
}

async function writeStage(
  kept: Kept,
  staged: readonly Column[],
  ranges: readonly ValueRange[],
): Promise<Built> {
  const { kind, context, model, slice } = kept
  const adapted = await adapt(kept, staged)
  if (adapted === null) return create(kept, staged)
  const { is, changes, before } = adapted
  if (is === 'evolved') context.changes.doubt(model.name)
  await context.store.tables.change(context.connection, model.name, changes)
  const again = await readAgainIn(kept)
  const write = { slice, ranges, staged, before, again }
  const { rows, ...counts } = await kind.write(context, model, write)
  if (counts.changed + counts.removed > 0) context.changes.lose(model.name)
  const built = { changed: rows > 0 || is === 'evolved', rows, counts }
  if (slice !== 'whole' || !keepsRules(model) || model.kind === 'period') return built
  const parts = await builtParts(context, model, again)
  return parts === null ? built : { ...built, ...parts }
}

/** A range that is asked for is replaced as it is. */
const readAgainIn = ({ context, model, slice }: Kept): Promise<ReadAgain | null> =>
  slice === 'whole' && keepsRules(model) ? readAgain(context, model) : Promise.resolve(null)

/** null: the table is made from nothing. `before`: its own columns until now. */
async function adapt(
  kept: Kept,
  staged: readonly Column[],
): Promise<(Adaptation & Pick<Staged, 'before'>) | null> {
  const { context, model } = kept
  if (!continuesTable(context, model)) return null
  const found = (await context.columnsBefore(context.connection, model.name)) ?? []
  const before = ownColumns(model, withRenames(found, pendingRenames(model, found)))
  const adaptation = adaptationFor(kept, before, staged)
  if (adaptation.is === 'rebuild') return null
  // What is published has the columns of the SELECT, so it changes with one that only the table keeps.
  const loses = before.some(({ name }) => !staged.some((column) => sameName(column.name, name)))
  const is = loses && isEdited(recordOf(context, model), model) ? 'evolved' : adaptation.is
  return { ...adaptation, is, before }
}

const firstRows = ({ kind, context, model }: Kept, stage: Sql, staged: readonly Column[]): Sql =>
  kind.firstRows?.(context, stage, model, staged) ?? sql`FROM ${stage}`

async function create(kept: Kept, staged: readonly Column[]): Promise<Built> {
  const { kind, context, model } = kept
  const { connection, store, createdIn } = context
  await kind.refuseStage?.(context, model)
  const query = firstRows(kept, STAGE, staged)
  const statement = sql`CREATE OR REPLACE TABLE ${sql.relation(model.name, createdIn)} AS ${query}`
  const rows = await comparing(context, model, async () => {
    await makeWay(context, model)
    return store.tables.create(connection, model.name, { query, statement })
  })
  return { changed: true, rows: rows ?? (await countRows(connection, sql.relation(model.name))) }
}

/** Those that the SELECT gives. */
function ownColumns({ kind }: KeptModel, columns: readonly Column[]): readonly Column[] {
  const { addedColumns } = kinds[kind]
  return columns.filter(({ name }) => !addedColumns.some((added) => sameName(added.name, name)))
}

/** How the columns become those of the SELECT. Throws ModelFailure for a change that `@on_schema_change` refuses. */
function adaptationFor(
  { kind, model }: Kept,
  from: readonly Column[],
  to: readonly Column[],
): Adaptation {
  const { name, onSchemaChange: policy } = model
  const canRebuild = kind.canRebuild?.(model) ?? false
  return adaptationOf({ model: name, kind: model.kind, from, to, policy, canRebuild })
}

// The rows of the SELECT have been checked, so no change of it helps.
const otherKeyHint = ({ name }: KeptModel) =>
  `the table was built with another key; keep that key, or rebuild the table: ${fullRefreshOf(name)}`

/**
 * The stage has each key once, so the table has too, unless it was built with another key, or a range of it was
 * replaced. An exposed key that differs is checked each time.
 */
async function checkKeys(
  { kind, context, model, slice }: Kept,
  ranges: readonly ValueRange[],
): Promise<void> {
  const { connection } = context
  const target = sql.relation(model.name)
  const edited = isEdited(recordOf(context, model), model)
  const goesOn = continuesTable(context, model)
  const rowsWith = (key: readonly string[]) =>
    edited || !goesOn || key.length === 0 || ranges.length === 0
      ? target
      : (kind.touchedRows?.(model, key, target, ranges) ?? target)
  if (edited || slice !== 'whole' || (goesOn && ranges.length > 0)) {
    const hint = edited && slice === 'whole' ? otherKeyHint(model) : duplicatesHint(model)
    const rows = kind.currentRows(rowsWith(model.uniqueKey))
    await checkKey(connection, rows, model.uniqueKey, 'unique_key', hint)
  }
  const exposed = model.expose?.key ?? []
  if (!sameColumns(kind.rowKey(model), exposed))
    await checkKey(connection, rowsWith(exposed), exposed, 'expose')
}

const sameColumns = (a: readonly string[], b: readonly string[]) =>
  isDeepStrictEqual(a.map(foldCase).toSorted(), b.map(foldCase).toSorted())

/** The rows are staged and checked as a run does it. The table itself is not copied. */
async function dryRun(kept: Kept, input: DryRunInput): Promise<DryBuilt> {
  const { kind, context, model, slice } = kept
  const { before: found, unique } = input
  const renames = await renamesOf(kept)
  const relation = found === null ? null : renamedTable(found, renames)
  if (renames.length > 0) await layOver(context.connection, model.name, sql`FROM ${relation!}`)
  const planned = (await kind.ranges?.(context, model, slice)) ?? []
  const staged = await fillStage(context, model, slice, planned)
  const ranges = await rangesToReplace(kept, planned)
  const adapted = relation === null ? null : await adapt(kept, staged)
  if (relation === null || adapted === null) return dryCreate(kept, staged, input)
  const { is, before } = adapted
  const table = adaptedTable(relation, before, staged)
  await layOver(context.connection, model.name, sql`FROM ${table}`)
  const again = await readAgainIn(kept)
  const dry = { slice, ranges, staged, before, again, table, unique }
  const { changes, writes, added } = await kind.dryWrite(context, model, dry)
  await checkKeys(kept, ranges)
  const { inserted, changed, removed } = changes
  if (writes === true || changed + removed > 0) context.changes.lose(model.name)
  const isChanged =
    renames.length > 0 || is === 'evolved' || (writes ?? inserted + changed + removed > 0)
  return { changed: isChanged, added, changes, ranges }
}

async function dryCreate(
  kept: Kept,
  staged: readonly Column[],
  { current, unique }: DryRunInput,
): Promise<DryBuilt> {
  const { kind, context, model } = kept
  const { connection } = context
  await kind.refuseStage?.(context, model)
  context.changes.lose(model.name)
  const all = await keepTable(connection, '_eider_stage', unique)
  const stage = await planYoung(context, model, all)
  await layOver(connection, model.name, firstRows(kept, stage, staged))
  await checkKeys(kept, [])
  const compared = current !== null && { before: current, after: stage }
  const changes = compared ? await compareRows(connection, compared) : null
  return { changed: true, added: null, changes }
}
