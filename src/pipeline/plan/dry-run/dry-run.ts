// A run in memory: each model is built as the run would build it, after all it reads, so that what changes upstream shows
// downstream. The warehouse is open for reading only; what is built lies in a database in memory whose names come first.

import { kinds } from '../../../core/kinds.ts'
import type { Model } from '../../../core/model.ts'
import { type ModelName, splitModelName } from '../../../core/names.ts'
import type { EventsVerdict, ModelDiff } from '../../../core/report/planned-changes.ts'
import type { Column } from '../../../core/relation.ts'
import { keepOf } from '../../../core/retention.ts'
import { type Sql, sql } from '../../../core/sql.ts'
import type { PlannedRange, Slice, Step } from '../../../core/step.ts'
import { describe } from '../../../duckdb/catalog.ts'
import { ifRefused } from '../../../duckdb/errors.ts'
import { materializationOf, materializations } from '../../build/materialize/kinds.ts'
import type { DryBuilt, DryRunInput } from '../../build/materialize/materialization.ts'
import { findOldValues, notStaying, oldRowsIn, youngRows } from '../../build/old-rows.ts'
import { countRows, createSchema, relationType } from '../../build/materialize/relation.ts'
import { NO_VALUES } from '../../changes/change-notes.ts'
import { notePlanned } from '../../changes/replaced.ts'
import { versionNow } from '../../changes/touched.ts'
import { runChecks } from '../../build/run-checks.ts'
import { explainFailure } from '../../failure.ts'
import { recordOf, type RunContext } from '../../run-context.ts'
import { isEdited } from '../../../store/state.ts'
import { layOver } from './layers.ts'

interface DryRunResult {
  readonly problem: string | null
  /** False: what reads the model would not be built on its account. */
  readonly changed: boolean
  /** The columns that DuckDB gives; null when the model fails. */
  readonly columns: readonly Column[] | null
  readonly events: EventsVerdict | null
  readonly diff: ModelDiff | null
  /** Absent for a model that is built from nothing. */
  readonly ranges?: readonly PlannedRange[] | undefined
}

const SPACE = '_eider_plan'

/** The version of a table that is built in memory. */
const PLANNED = 'planned'

/** Uses the connection until it is closed: names of models mean what is in memory from here on. */
export class DryRun {
  readonly #context: RunContext
  readonly #waiting: DryRunInput['waiting']
  /** Models that are in memory, as they are or as they would be. */
  readonly #provided = new Set<ModelName>()
  /** For names of tables in memory. */
  #built = 0

  private constructor(context: RunContext, waiting: DryRunInput['waiting']) {
    this.#context = context
    this.#waiting = waiting
  }

  /** `waiting`: events that wait, without those that a run has committed. */
  static async open(context: RunContext, waiting: DryRunInput['waiting']): Promise<DryRun> {
    const { connection, project } = context
    await findOldValues(context)
    await connection.run(sql`ATTACH ':memory:' AS ${sql.ident(SPACE)} (READ_WRITE)`)
    await connection.run(sql`USE ${sql.ident(SPACE)}`)
    for (const { body } of project.macros)
      await connection.run(sql`CREATE OR REPLACE MACRO ${sql.body(body)}`)
    return new DryRun(context, waiting)
  }

  /** Call in DAG order, for models that nothing blocks. A model that fails stays as it is. */
  async build({ model, slice, warnings: saidBefore }: Step): Promise<DryRunResult> {
    const { connection, paths, selected } = this.#context
    this.#built++
    for (const input of model.dependsOn) await this.#provide(input)
    const before = await this.#provide(model.name)
    const materialization = materializationOf(model)
    try {
      const input = this.#inputOf(model, slice, before)
      const built = await this.#withoutOld(
        model,
        await materialization.dryRun(this.#context, model, input),
      )
      const { changed, changes, added, events = null } = built
      if (changed) await this.#noteChange(model, before)
      const checked = await runChecks(connection, model)
      const said = this.#context.changes.takeWarnings(model.name)
      const warnings = [...checked, ...said.filter((text) => !saidBefore.includes(text))]
      const columns = await describe(connection, sql`FROM ${sql.relation(model.name)}`)
      const isCounted = kinds[model.kind].relation === 'table' || model.expose !== null
      // A view whose tables have changed under it cannot be read.
      const rowsBefore =
        before !== null && isCounted
          ? await ifRefused(countRows(connection, before), () => null)
          : null
      const sum = rowsBefore === null || added === null ? null : rowsBefore + added
      const rowsAfter = isCounted
        ? (sum ?? (await countRows(connection, sql.relation(model.name))))
        : null
      const diff = { rowsBefore, rowsAfter, changes, warnings }
      return { problem: null, changed, columns, events, diff, ranges: built.ranges }
    } catch (error) {
      const statement = materialization.statement(model, paths.dir, null)
      const problem = explainFailure(error, model, statement, selected)
      return { problem, changed: false, columns: null, events: null, diff: null }
    }
  }

  /** Without the rows that are too old. Call it in DAG order as well. */
  async remove(model: Model): Promise<DryRunResult> {
    const { connection, oldRows } = this.#context
    const [keep, old] = [keepOf(model), oldRows.get(model.name)]
    const before = await this.#provide(model.name)
    if (keep === null || old === undefined || before === null)
      throw new Error(`${model.name} has no rows that are too old`)
    await layOver(connection, model.name, youngRows(keep, this.#context, before))
    this.#noteForgotten(model)
    // Nobody who follows the table has anything to read again on account of these.
    if (model.kind === 'events')
      for (const column of this.#changes.columnsOf(model.name)) {
        const versions = await this.#versions(model, before)
        this.#context.changes.plan({ model: model.name, column, ...versions, ranges: [] })
      }
    const columns = await describe(connection, sql`FROM ${sql.relation(model.name)}`)
    const changes = { inserted: 0, changed: 0, removed: old.rows, key: [], sample: [] }
    const counts = { rowsBefore: old.of, rowsAfter: old.of - old.rows }
    const diff = { ...counts, changes, warnings: [] }
    return { problem: null, changed: true, columns, events: null, diff }
  }

  /** As a run removes in the same transaction what is too old. */
  async #withoutOld(model: Model, built: DryBuilt): Promise<DryBuilt> {
    const { connection } = this.#context
    // A table that is made from nothing says itself what it leaves out.
    if (keepOf(model) === null || built.added === null) return built
    const old = await oldRowsIn(this.#context, model)
    if (old === null) return built
    this.#noteForgotten(model)
    const all = `_eider_all_${this.#built}`
    const name = sql.relation(model.name)
    await connection.run(sql`ALTER VIEW ${name} RENAME TO ${sql.ident(all)}`)
    const { schema } = splitModelName(model.name)
    const relation = sql.ident(SPACE, schema, all)
    await layOver(connection, model.name, youngRows(keepOf(model)!, this.#context, relation))
    this.#context.changes.warn(model.name, notStaying(old))
    const { changes, added } = built
    const less = changes && { ...changes, removed: changes.removed + old.rows }
    return { ...built, changes: less, added: added - old.rows }
  }

  #noteForgotten({ name }: Model): void {
    const { changes, oldValues } = this.#context
    changes.planForgotten(name, oldValues.get(name) ?? NO_VALUES)
  }

  /** What others follow of it has changed for those that are built after it. */
  async #noteChange(model: Model, before: Sql | null): Promise<void> {
    if (before === null || this.#changes.columnsOf(model.name).length === 0) return
    await notePlanned(this.#context, model, await this.#versions(model, before), before)
  }

  get #changes() {
    return this.#context.store.state.changes
  }

  async #versions(model: Model, before: Sql) {
    const { connection, versionOf } = this.#context
    if (model.kind !== 'events') return { before: versionOf(model.name) ?? '', after: PLANNED }
    const removed = await this.#changes.removedFrom(connection, model.name)
    const rows = await countRows(connection, before)
    return { before: String(rows + removed), after: await versionNow(this.#context, model.name) }
  }

  #inputOf(model: Model, slice: Slice, before: Sql | null): DryRunInput {
    const record = recordOf(this.#context, model)
    const current =
      before === null || record === null
        ? before
        : materializations[record.kind].currentRows(before)
    return { slice, before, current, unique: this.#built, waiting: this.#waiting }
  }

  /** The relation of the warehouse, laid under the name of the model unless it is provided; null: there is none. */
  async #provide(name: ModelName): Promise<Sql | null> {
    const { connection, catalog, project, state, paths } = this.#context
    const exists = relationType(catalog, name) !== null
    const relation = exists ? sql.relation(name, catalog.database) : null
    if (this.#provided.has(name)) return relation
    this.#provided.add(name)
    await connection.run(createSchema(name))
    if (relation === null) return null
    const model = project.models.get(name)
    const isView = model !== undefined && kinds[model.kind].relation === 'view'
    if (!isView || isEdited(state.models.get(name), model)) {
      await layOver(connection, name, sql`FROM ${relation}`)
      return relation
    }
    // A view of the warehouse would read the tables of the warehouse, not their future contents.
    for (const input of model.dependsOn) await this.#provide(input)
    const statement = materializationOf(model).statement(model, paths.dir, null)
    if (statement !== null) await connection.run(statement)
    return relation
  }
}
