// kind events: a table made from the column list and widened when the list grows; rows come from the flush only.
//
// Its columns are nullable, also those that the model says are NOT NULL: the collection service and the flush check them,
// and a constraint would stand in the way of every later ALTER.

import type { EventsModel } from '../../../core/model.ts'
import type { Column } from '../../../core/relation.ts'
import { type Sql, sql } from '../../../core/sql.ts'
import { describe } from '../../../duckdb/catalog.ts'
import type { Connection } from '../../../duckdb/database.ts'
import { ARRIVING, judgeEvents, rejectedFor } from '../../flush/judge-events.ts'
import { isRedefined, type ReadModel, readingOf } from '../../flush/reading.ts'
import { adaptedTable, layOver } from '../../plan/dry-run/layers.ts'
import { recordOf, type RunContext } from '../../run-context.ts'
import { isEdited } from '../../../store/state.ts'
import { type Adaptation, adaptationOf } from './evolve.ts'
import type { DryBuilt, DryRunInput, Materialization } from './materialization.ts'
import { continuesTable, createSchema, makeWay } from './relation.ts'
import { pendingRenames, refuseTwoNames, renamedTable, withRenames } from './renames.ts'

export const events: Materialization<EventsModel> = {
  statement: () => null,
  losses: () => Promise.resolve([]),
  rowKey: () => [],
  currentRows: (table) => table,
  /** A change of columns that would lose values: nothing is claimed for such a model. */
  async refuse(context, model) {
    if (continuesTable(context, model)) await adaptationFor(context, model)
  },
  refuseReplacement: (name) =>
    `${name} holds events that were collected, and no flag drops them; give the model another name, or drop the table yourself`,
  /** For the flush, before it claims anything. A column that left the list stays in the table. */
  async build(context, model) {
    const { connection, store } = context
    if (continuesTable(context, model)) {
      const { is, changes } = await adaptationFor(context, model)
      const renames = await renamesOf(context, model)
      for (const rename of renames) {
        await store.tables.renameColumn(connection, model.name, rename)
        await store.state.changes.forgotten.renameColumn(connection, model.name, rename)
      }
      await store.tables.change(connection, model.name, changes)
      return { changed: is === 'evolved' || renames.length > 0 }
    }
    await makeWay(context, model)
    await connection.run(createSchema(model.name))
    await store.tables.createEmpty(connection, model.name, model.columns)
    return { changed: true }
  },
  dryRun,
}

/** Whether `build` would change nothing. */
export async function isAsListed(context: RunContext, model: EventsModel): Promise<boolean> {
  if (!continuesTable(context, model)) return false
  if ((await renamesOf(context, model)).length > 0) return false
  return (await adaptationFor(context, model)).changes.length === 0
}

const renamesOf = async ({ connection, columnsBefore }: RunContext, model: EventsModel) =>
  pendingRenames(model, (await columnsBefore(connection, model.name)) ?? [])

async function adaptationFor(context: RunContext, model: EventsModel): Promise<Adaptation> {
  const { connection, columnsBefore } = context
  const found = (await columnsBefore(connection, model.name)) ?? []
  refuseTwoNames(model, found)
  return adaptationOf({
    model: model.name,
    from: withRenames(found, await renamesOf(context, model)),
    to: await spelledByEngine(connection, model),
    kind: model.kind,
    policy: model.onSchemaChange,
    canRebuild: false,
  })
}

/** They are always the same for a model, and both the plan of a run and its flush ask for them. */
const spelled = new WeakMap<EventsModel, readonly Column[]>()

/** One type can be written in several ways, such as with quoted or bare field names of a STRUCT. */
async function spelledByEngine(
  connection: Connection,
  model: EventsModel,
): Promise<readonly Column[]> {
  const nulls = sql`SELECT ${sql.nulls(model.columns)}`
  const columns = spelled.get(model) ?? (await describe(connection, nulls))
  spelled.set(model, columns)
  return columns
}

async function dryRun(
  context: RunContext,
  model: EventsModel,
  { before, unique, waiting }: DryRunInput,
): Promise<DryBuilt> {
  const { connection } = context
  const table = before !== null && continuesTable(context, model) ? before : null
  const isEvolved =
    table === null ||
    (await adaptationFor(context, model)).is === 'evolved' ||
    (await renamesOf(context, model)).length > 0
  const segments = await waiting(model)
  const read = await readingFor(context, model)
  const events = await judgeEvents(context, read, segments, rejectedFor(model, context))
  const arriving = await keepArriving(connection, unique)
  const old = table === null ? sql.empty : await rowsBefore(context, model, table, arriving)
  await layOver(connection, model.name, sql`${old}FROM ${arriving}`)
  const inserted = events.waiting - events.rejected + events.retried
  const changes = { inserted, changed: 0, removed: 0, key: [], sample: [] }
  const changed = isEvolved || events.waiting > 0 || isEdited(recordOf(context, model), model)
  return { changed, added: table === null ? null : inserted, changes, events }
}

/** As the next run reads waiting events. */
export async function readingFor(context: RunContext, model: EventsModel): Promise<ReadModel> {
  const formerly = isRedefined(context, model)
  return continuesTable(context, model)
    ? await readingOf(context, model, formerly)
    : { ...model, anyCase: formerly }
}

async function rowsBefore(
  context: RunContext,
  model: EventsModel,
  table: Sql,
  arriving: Sql,
): Promise<Sql> {
  const { connection, columnsBefore } = context
  const renames = await renamesOf(context, model)
  const before = withRenames((await columnsBefore(connection, model.name)) ?? [], renames)
  const to = await describe(connection, sql`FROM ${arriving}`)
  return sql`FROM ${adaptedTable(renamedTable(table, renames), before, to)} UNION ALL BY NAME `
}

async function keepArriving(connection: Connection, unique: number): Promise<Sql> {
  const name = `_eider_arriving_${unique}`
  await connection.run(sql`ALTER TABLE ${ARRIVING} RENAME TO ${sql.ident(name)}`)
  return sql.ident('temp', 'main', name)
}
