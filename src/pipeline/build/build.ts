// One model: is it fresh, and if not, how it is built and checked.

import { decide, type Decision, type Situation } from '../plan/decide.ts'
import { seedQuery } from '../../compiler/seed.ts'
import type { AppendModel, CompiledProject, EventsModel, Model } from '../../core/model.ts'
import { foldCase, type ModelName, sameName, splitModelName } from '../../core/names.ts'
import type { ModelResult } from '../../core/report/progress.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { hashOf } from '../../core/hash.ts'
import type { Catalog, RelationType } from '../../duckdb/catalog.ts'
import { ModelFailure } from '../failure.ts'
import type { Freshness } from '../plan/source-age.ts'
import { checkKey } from './materialize/check-key.ts'
import { buildKept } from './materialize/kept.ts'
import {
  type Built,
  countRows,
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
import { type State, STATE_SCHEMA } from '../store/state.ts'

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

/** What a build gives, besides the relation. */
export interface BuiltRows extends Pick<ModelResult, 'rows'> {
  readonly version: string
  readonly warnings: readonly string[]
}

/** In the transaction of the caller, who records the version in it. Throws with the transaction to be rolled back. */
export async function build(
  context: BuildContext,
  model: BuiltModel,
  fingerprint: string,
): Promise<BuiltRows> {
  const { connection, state, dir } = context
  refuseReservedSchema(context, model.name)
  const problem = missingInputs(model, context)
  if (problem !== null) throw new ModelFailure(problem)
  const built = await materialize(siteOf(context, model), model, statementOf(model, dir))
  const warnings = await runChecks(connection, model)
  const before = state.models.get(model.name)
  const isNew = built.changed || before === undefined
  const version = isNew ? versionOf(context, model, fingerprint) : before.version
  return { version, warnings, ...(built.rows === undefined ? {} : { rows: built.rows }) }
}

/** Of the models that have none yet. Not in their transactions: two that create one schema at once would conflict. */
export async function createSchemas(
  { connection, catalog, selected }: BuildContext,
  models: CompiledProject['models'],
): Promise<void> {
  const missing = new Map<string, ModelName>()
  for (const name of selected) {
    const { schema } = splitModelName(name)
    const isBuilt = models.get(name)?.kind !== 'events' && relationType(catalog, name) === null
    if (isBuilt && reservedSchema(catalog, name) === null) missing.set(foldCase(schema), name)
  }
  if (missing.size === 0) return
  const statements = Array.from(missing.values(), createSchema)
  await connection.transact(() => connection.run(sql.join(statements, sql`;\n`)))
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

/** To be told once a model is committed. */
export function noteBuilt({ catalog }: BuildContext, model: Model): void {
  if (model.kind !== 'events') noteRelation(catalog, model.name, typeOf(model))
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
  const isView = model.kind === 'view'
  const made = isView ? await connection.run(statement) : await connection.createTable(statement)
  await checkKey(connection, relation, model.expose?.key ?? [], 'expose')
  return {
    changed: true,
    ...(isView ? {} : { rows: made ?? (await countRows(connection, relation)) }),
  }
}

export const isKept = (model: Model): model is KeptModel =>
  model.kind === 'append' || model.kind === 'merge' || model.kind === 'scd2'

export function refuseReservedSchema(
  { catalog }: Pick<BuildContext, 'catalog'>,
  name: ModelName,
): void {
  const problem = reservedSchema(catalog, name)
  if (problem !== null) throw new ModelFailure(problem)
}

/** Why no model can lie there. `a.b` means schema a or catalog a; where both exist the engine refuses the name. */
function reservedSchema(catalog: Catalog, name: ModelName): string | null {
  const { schema } = splitModelName(name)
  if (foldCase(schema) === STATE_SCHEMA)
    return `the schema "${schema}" belongs to eider; name the folder differently`
  if (sameName(schema, catalog.database))
    return `the schema "${schema}" has the name of the database file; name the folder or the file (\`database\` in eider.yml) differently`
  return null
}
