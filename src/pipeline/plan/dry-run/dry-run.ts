// A run in memory: each model is built as the run would build it, after all it reads, so that what changes upstream shows
// downstream. The warehouse is open for reading only; what is built lies in a database in memory that stands before it.

import type { WaitingSegment } from '../../../buffer/claim-source.ts'
import type { CompiledProject, EventsModel, Model } from '../../../core/model.ts'
import { type ModelName, splitModelName } from '../../../core/names.ts'
import type { EventsVerdict, ModelDiff, RowChanges } from '../../../core/report/planned-changes.ts'
import type { Column } from '../../../core/relation.ts'
import { type Sql, sql } from '../../../core/sql.ts'
import { describe } from '../../../duckdb/catalog.ts'
import type { Connection } from '../../../duckdb/database.ts'
import { DatabaseError } from '../../../duckdb/errors.ts'
import { type BuiltModel, isKept, statementOf } from '../../build/build.ts'
import { explainFailure } from '../../failure.ts'
import { ARRIVING, judgeEvents, rejectedFor } from '../../flush/judge-events.ts'
import { checkKey } from '../../build/materialize/check-key.ts'
import { adaptationOfEvents } from '../../build/materialize/events.ts'
import {
  countRows,
  existingType,
  refuseLoss,
  relationOf,
  type Site,
} from '../../build/materialize/relation.ts'
import { createView } from '../../build/materialize/view.ts'
import type { Asked } from '../refusals.ts'
import { runChecks } from '../../build/run-checks.ts'
import { isEdited } from '../../store/state.ts'
import { compareByKey, compareRows } from './compare.ts'
import { adaptedTable, layOver } from './layers.ts'
import { rehearseKept, type Rehearsed } from './kept.ts'

export interface RehearsalResult {
  /** Why the run would fail here; else null. */
  readonly problem: string | null
  /** False: what reads the model would not be built on its account. */
  readonly changed: boolean
  /** As the engine gives them; null when the model fails. */
  readonly columns: readonly Column[] | null
  readonly events: EventsVerdict | null
  readonly diff: ModelDiff | null
}

export interface RehearsalOptions extends Asked {
  readonly project: CompiledProject
  readonly dir: string
  readonly allowEmpty: boolean
  /** Events that wait, without those that a run has committed. */
  readonly waiting: (model: EventsModel) => Promise<readonly WaitingSegment[]>
}

const SPACE = '_eider_plan'

/** Uses the connection until it is closed: names of models mean what is in memory from here on. */
export class Rehearsal {
  readonly #options: RehearsalOptions
  readonly #startedAt = new Date()
  /** Models that stand in memory, as they are or as they would be. */
  readonly #provided = new Set<ModelName>()
  /** For names of tables in memory. */
  #rehearsed = 0

  private constructor(options: RehearsalOptions) {
    this.#options = options
  }

  static async open(options: RehearsalOptions): Promise<Rehearsal> {
    const { connection, project } = options
    await connection.run(sql`ATTACH ':memory:' AS ${sql.ident(SPACE)} (READ_WRITE)`)
    await connection.run(sql`USE ${sql.ident(SPACE)}`)
    for (const { body } of project.macros)
      await connection.run(sql`CREATE OR REPLACE MACRO ${sql.body(body)}`)
    return new Rehearsal(options)
  }

  /** To be asked in DAG order. What the run would refuse ends as a `problem`, and the model stays as it is. */
  async rehearse(model: Model): Promise<RehearsalResult> {
    const { connection, dir } = this.#options
    this.#rehearsed++
    for (const input of model.dependsOn) await this.#provide(input)
    const before = await this.#provide(model.name)
    const statement = model.kind === 'events' ? null : statementOf(model, dir)
    try {
      const { changed, changes, added, events } = await this.#build(model, before)
      const warnings = await runChecks(connection, model)
      const columns = await describe(connection, sql`FROM ${relationOf(model.name)}`)
      const isCounted = model.kind !== 'view' || model.expose !== null
      const rowsBefore = before !== null && isCounted ? await this.#countBefore(before) : null
      const sum = rowsBefore === null || added === null ? null : rowsBefore + added
      const rowsAfter = isCounted
        ? (sum ?? (await countRows(connection, relationOf(model.name))))
        : null
      const diff = { rowsBefore, rowsAfter, changes, warnings }
      return { problem: null, changed, columns, events, diff }
    } catch (error) {
      const problem = explainFailure(error, model, statement, this.#options.selected)
      return { problem, changed: false, columns: null, events: null, diff: null }
    }
  }

  async #build(
    model: Model,
    before: Sql | null,
  ): Promise<Rehearsed & { readonly events: EventsVerdict | null }> {
    const site = this.#siteOf(model)
    if (model.kind === 'events') return this.#receive(site, model, before)
    if (isKept(model)) {
      const built = await rehearseKept(site, model, before, this.#rehearsed)
      return { ...built, events: null }
    }
    const changes = await this.#makeAnew(site, model, before)
    return { changed: true, added: null, changes, events: null }
  }

  /** null for a view that its tables have left behind. */
  async #countBefore(before: Sql): Promise<number | null> {
    return countRows(this.#options.connection, before).catch((error: unknown) => {
      if (error instanceof DatabaseError) return null
      throw error
    })
  }

  async #makeAnew(site: Site, model: BuiltModel, before: Sql | null): Promise<RowChanges | null> {
    const { connection } = site
    refuseLoss(site, model)
    const relation = relationOf(model.name)
    await connection.run(sql`DROP VIEW IF EXISTS ${relation}`)
    await connection.run(statementOf(model, this.#options.dir))
    const key = model.expose?.key ?? []
    await checkKey(connection, relation, key, 'expose')
    if (before === null || model.kind === 'view') return null
    if (existingType(site, model.name) !== 'table') return null
    return compareTables(connection, before, relation, key)
  }

  async #receive(site: Site, model: EventsModel, before: Sql | null) {
    const { connection, record } = site
    const goesOn = before !== null && record?.kind === 'events'
    const { is } = goesOn
      ? await adaptationOfEvents(connection, model)
      : (refuseLoss(site, model), { is: 'evolved' as const })
    const segments = await this.#options.waiting(model)
    const rejectedIn = rejectedFor(model, this.#options)
    const events = await judgeEvents(connection, model, segments, rejectedIn)
    const unique = `_eider_arriving_${this.#rehearsed}`
    await connection.run(sql`ALTER TABLE ${ARRIVING} RENAME TO ${sql.ident(unique)}`)
    const arriving = sql.ident('temp', 'main', unique)
    const columns = await describe(connection, sql`FROM ${arriving}`)
    const table = goesOn
      ? adaptedTable(before, await describe(connection, sql`FROM ${before}`), columns)
      : null
    const old = table === null ? sql.empty : sql`FROM ${table} UNION ALL BY NAME `
    await layOver(connection, model.name, sql`${old}FROM ${arriving}`)
    const inserted = events.waiting - events.rejected + events.retried
    const changes = { inserted, changed: 0, removed: 0, key: [], sample: [] }
    const changed = is === 'evolved' || events.waiting > 0 || isEdited(record, model)
    return { changed, added: goesOn ? inserted : null, changes, events }
  }

  /** The relation of the warehouse, laid under the name of the model unless something stands there; null: there is none. */
  async #provide(name: ModelName): Promise<Sql | null> {
    const { connection, catalog, project, state } = this.#options
    const { schema, table } = splitModelName(name)
    const exists = existingType({ catalog }, name) !== null
    const relation = exists ? sql.ident(catalog.database, schema, table) : null
    if (this.#provided.has(name)) return relation
    this.#provided.add(name)
    await connection.run(sql`CREATE SCHEMA IF NOT EXISTS ${sql.ident(schema)}`)
    if (relation === null) return null
    const model = project.models.get(name)
    const isSame = state.models.get(name)?.definition === model?.definition
    if (model?.kind === 'view' && isSame) {
      // A view of the warehouse would read the tables of the warehouse, not what becomes of them.
      for (const input of model.dependsOn) await this.#provide(input)
      await connection.run(createView(model))
    } else await layOver(connection, name, sql`FROM ${relation}`)
    return relation
  }

  #siteOf({ name }: Model): Site {
    const { state } = this.#options
    const record = state.models.get(name) ?? null
    return { ...this.#options, record, startedAt: this.#startedAt }
  }
}

/** By key where both have it and each row has a value of its own; else by whole rows. */
async function compareTables(
  connection: Connection,
  before: Sql,
  after: Sql,
  key: readonly string[],
): Promise<RowChanges | null> {
  const names = (await describe(connection, sql`FROM ${before}`)).map(({ name }) =>
    name.toLowerCase(),
  )
  if (key.length === 0 || !key.every((name) => names.includes(name.toLowerCase())))
    return compareRows(connection, { before, after })
  const changes = await compareByKey(connection, { before, after, key })
  const [rowsBefore, rowsAfter] = [
    await countRows(connection, before),
    await countRows(connection, after),
  ]
  // A table that had another key may have rows with the same value of this one; then the counts do not add up.
  const isKey = rowsAfter === rowsBefore + changes.inserted - changes.removed
  return isKey ? changes : compareRows(connection, { before, after })
}
