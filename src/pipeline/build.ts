// One model: is it fresh, and if not, built in one transaction that holds its rows and its state.

import { decide, type Decision, type Situation } from '../compiler/plan.ts'
import { seedQuery } from '../compiler/seed.ts'
import type { AppendModel, EventsModel, Model } from '../core/model.ts'
import { foldCase, type ModelName, sameName, splitModelName } from '../core/names.ts'
import type { ModelResult } from '../core/progress.ts'
import { type Sql, sql } from '../core/sql.ts'
import { hashOf } from '../core/hash.ts'
import type { Catalog, RelationType } from '../duckdb/catalog.ts'
import { ModelFailure } from './failure.ts'
import type { Freshness } from './freshness.ts'
import { checkKey } from './materialize/check-key.ts'
import { buildKept } from './materialize/kept.ts'
import {
  type Built,
  createSchema,
  makeWay,
  noteRelation,
  relationOf,
  relationType,
  type Site,
} from './materialize/relation.ts'
import { type KeptModel, stageStatement } from './materialize/stage.ts'
import { createTable } from './materialize/table.ts'
import { createView } from './materialize/view.ts'
import { runChecks } from './run-checks.ts'
import { type State, STATE_SCHEMA, recordModel } from './state.ts'

export type BuiltModel = Exclude<Model, EventsModel>

export interface BuildContext extends Omit<Site, 'record'> {
  readonly state: State
  readonly runId: string
  /** The project directory. */
  readonly dir: string
  /** The models that the run is about. */
  readonly selected: ReadonlySet<ModelName>
  /** Versions of the models that came before, and of those that the run is not about. */
  readonly versions: Map<ModelName, string>
  /** Schemas that are there or on their way. */
  readonly schemas: Map<string, Promise<void>>
  /** Hashes of the files that models read, by the names in `model.files`. */
  readonly fileHashes: ReadonlyMap<string, string>
  /** Of the sources that say when they were loaded, by name. */
  readonly freshness: ReadonlyMap<string, Freshness>
}

/** Why a model is built whose range is replaced, whatever else there is to say of it. */
export const BACKFILL = 'backfill'

export const isBackfill = ({ range }: Pick<Site, 'range'>, model: Model): model is AppendModel =>
  range !== null && model.kind === 'append'

/** Asked of a model when all before it are finished. */
export function decideNow(
  context: BuildContext,
  model: Model,
  withNewEvents: Situation['withNewEvents'],
): Decision {
  const { state, versions, fileHashes, fullRefresh, catalog } = context
  const decision = decide(model, {
    states: state.models,
    versions,
    pending: new Set(),
    fileHashes,
    fullRefresh,
    exists: (asked) => existsIn(catalog, asked),
    withNewEvents,
  })
  return isBackfill(context, model) ? { ...decision, because: BACKFILL } : decision
}

/** Whether the relation of the model is there, as the table or view that its kind makes. */
export function existsIn(catalog: Catalog, model: Model): boolean {
  return relationType(catalog, model.name) === typeOf(model)
}

/** The statement that holds the author's SQL; errors of the engine are placed in it. */
export function statementOf(model: BuiltModel, dir: string): Sql {
  switch (model.kind) {
    case 'view':
      return createView(model)
    case 'table':
      return createTable(model.name, sql.body(model.body))
    case 'seed':
      return createTable(model.name, seedQuery(model, dir))
    case 'append':
    case 'merge':
    case 'scd2':
      return stageStatement(model)
  }
}

/** COMMITs rows and state together, or changes nothing and throws. */
export async function build(
  context: BuildContext,
  model: BuiltModel,
  fingerprint: string,
): Promise<Pick<ModelResult, 'rows' | 'warnings'>> {
  const { connection, catalog, runId, state } = context
  refuseReservedSchema(context, model.name)
  refuseMissingInputs(context, model)
  await ensureSchema(context, model)
  const { rows, version, warnings } = await connection.transact(async () => {
    const built = await materialize(siteOf(context, model), model, statementOf(model, context.dir))
    const warnings = await runChecks(connection, model)
    const before = state.models.get(model.name)
    const version =
      built.changed || before === undefined
        ? versionOf(context, model, fingerprint)
        : before.version
    await recordModel(connection, model, { fingerprint, version, runId })
    return { rows: built.rows, version, warnings }
  })
  noteRelation(catalog, model.name, typeOf(model))
  noteVersion(context, model.name, version)
  return { ...(rows === undefined ? {} : { rows }), ...(warnings.length === 0 ? {} : { warnings }) }
}

/** Not in the transaction of the model: two that create one schema at once would conflict. */
function ensureSchema(context: BuildContext, model: BuiltModel): Promise<void> {
  const { schema } = splitModelName(model.name)
  const created =
    context.schemas.get(foldCase(schema)) ?? createSchema(siteOf(context, model), model.name)
  context.schemas.set(foldCase(schema), created)
  return created
}

function refuseMissingInputs(context: BuildContext, model: BuiltModel): void {
  const problem = missingInputs(model, context)
  if (problem !== null) throw new ModelFailure(problem)
}

/** What stands in the way of a model whose inputs are neither selected nor built by an earlier run; else null. */
export function missingInputs(
  { name, dependsOn }: Model,
  { selected, state, catalog }: Pick<BuildContext, 'selected' | 'state' | 'catalog'>,
): string | null {
  const isMissing = (input: ModelName) =>
    state.models.get(input)?.removed !== false || relationType(catalog, input) === null
  const missing = dependsOn.filter((input) => !selected.has(input) && isMissing(input))
  if (missing.length === 0) return null
  return `it reads ${missing.join(', ')}, never built and not selected; select the upstream models too: --select +${name}`
}

export function noteVersion(context: BuildContext, model: ModelName, version: string): void {
  context.versions.set(model, version)
}

export function siteOf(context: BuildContext, model: Model): Site {
  return { ...context, record: context.state.models.get(model.name) ?? null }
}

const typeOf = ({ kind }: Model): RelationType => (kind === 'view' ? 'view' : 'table')

/**
 * The rows of a table that is kept depend on what it held before, so a change of it has a version of its own. So has
 * what was built although no known input changed.
 */
function versionOf(context: BuildContext, model: BuiltModel, fingerprint: string): string {
  const own = isKept(model) || model.volatile || context.fullRefresh
  return own ? hashOf(16, [fingerprint, context.runId]) : fingerprint
}

async function materialize(site: Site, model: BuiltModel, statement: Sql): Promise<Built> {
  const { connection } = site
  const relation = relationOf(model.name)
  if (isKept(model)) return buildKept(site, model)
  await makeWay(site, model, typeOf(model))
  const rows = model.kind === 'view' ? undefined : await connection.createTable(statement)
  if (rows === undefined) await connection.run(statement)
  await checkKey(connection, relation, model.expose?.key ?? [], 'expose')
  return rows === undefined ? { changed: true } : { changed: true, rows }
}

export const isKept = (model: Model): model is KeptModel =>
  model.kind === 'append' || model.kind === 'merge' || model.kind === 'scd2'

/** `a.b` means schema a or catalog a; where both exist the engine refuses the name. */
export function refuseReservedSchema(
  { catalog }: Pick<BuildContext, 'catalog'>,
  name: ModelName,
): void {
  const { schema } = splitModelName(name)
  if (foldCase(schema) === STATE_SCHEMA)
    throw new ModelFailure(`the schema "${schema}" belongs to eider; name the folder differently`)
  if (sameName(schema, catalog.database))
    throw new ModelFailure(
      `the schema "${schema}" has the name of the database file; name the folder or the file (\`database\` in eider.yml) differently`,
    )
}
