// One model: is it fresh, and if not, built in one transaction that holds its rows and its state.

import { isDeepStrictEqual } from 'node:util'
import { fingerprint } from '../compiler/plan.ts'
import { seedQuery } from '../compiler/seed.ts'
import type { EventsModel, Model } from '../core/model.ts'
import { foldCase, type ModelName, splitModelName } from '../core/names.ts'
import type { ModelResult } from '../core/progress.ts'
import { type Sql, sql } from '../core/sql.ts'
import type { Catalog, RelationType } from '../duckdb/catalog.ts'
import type { Connection } from '../duckdb/database.ts'
import { ModelFailure } from './failure.ts'
import { hashOf } from './hash.ts'
import { checkKey } from './materialize/check-key.ts'
import { applyStage, stageMerge } from './materialize/merge.ts'
import {
  type Built,
  countRows,
  createSchema,
  existingType,
  makeWay,
  noteRelation,
  relationOf,
  type Site,
} from './materialize/relation.ts'
import { createTable } from './materialize/table.ts'
import { createView } from './materialize/view.ts'
import { type ModelRecord, type State, STATE_SCHEMA, recordModel } from './state.ts'

export type BuiltModel = Exclude<Model, EventsModel>

export interface BuildContext {
  readonly connection: Connection
  readonly catalog: Catalog
  readonly state: State
  readonly runId: string
  /** The project directory. */
  readonly dir: string
  readonly fullRefresh: boolean
  /** Versions of the models that came before. */
  readonly versions: Map<ModelName, string>
  /** Models whose version changed in this run. */
  readonly changed: Set<ModelName>
  /** Hashes of the files that models read, by the names in `model.files`. */
  readonly fileHashes: ReadonlyMap<string, string>
}

/** Why a model must be built, with its fingerprint; `because` is null when it is fresh. */
export interface Decision {
  readonly fingerprint: string
  readonly because: string | null
}

export function decide(context: BuildContext, model: BuiltModel): Decision {
  const { state, versions, fileHashes } = context
  const record = state.models.get(model.name) ?? null
  const now = fingerprint(model, versions, fileHashes)
  return { fingerprint: now, because: reasonToBuild(context, model, record, now) }
}

function reasonToBuild(
  context: BuildContext,
  model: BuiltModel,
  record: ModelRecord | null,
  now: string,
): string | null {
  if (record === null || record.removed) return 'never built'
  if (context.fullRefresh) return 'full refresh'
  if (record.kind !== model.kind) return `kind changed from ${record.kind} to ${model.kind}`
  if (record.definition !== model.definition) return 'definition changed'
  if (record.fingerprint !== now) {
    const upstream = model.dependsOn.find((name) => context.changed.has(name))
    return upstream === undefined
      ? 'something that it reads changed'
      : `upstream ${upstream} changed`
  }
  if (model.volatile) return 'volatile'
  const existing = existingType(siteOf(context, model), model.name)
  return existing === typeOf(model) ? null : 'missing in the warehouse'
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
    case 'merge':
      return stageMerge(model)
  }
}

/** COMMITs rows and state together, or changes nothing and throws. */
export async function build(
  context: BuildContext,
  model: BuiltModel,
  fingerprint: string,
): Promise<Pick<ModelResult, 'rows'>> {
  const { connection, catalog, runId, state } = context
  refuseReservedSchema(context, model.name)
  const { rows, version } = await connection.transact(async () => {
    const built = await materialize(siteOf(context, model), model, statementOf(model, context.dir))
    const before = state.models.get(model.name)
    const version =
      built.changed || before === undefined
        ? versionOf(context, model, fingerprint)
        : before.version
    await recordModel(connection, model, { fingerprint, version, runId })
    return { rows: built.rows, version }
  })
  noteRelation(catalog, model.name, typeOf(model))
  noteVersion(context, model.name, version)
  return rows === undefined ? {} : { rows }
}

export function noteVersion(context: BuildContext, model: ModelName, version: string): void {
  context.versions.set(model, version)
  if (context.state.models.get(model)?.version !== version) context.changed.add(model)
}

export function siteOf(
  { connection, catalog, state, fullRefresh }: BuildContext,
  model: Model,
): Site {
  return { connection, catalog, record: state.models.get(model.name) ?? null, fullRefresh }
}

const typeOf = ({ kind }: BuiltModel): RelationType => (kind === 'view' ? 'view' : 'table')

/**
 * The rows of a merge depend on what the table held before, so a change of it has a version of its own. So has what
 * was built although no known input changed.
 */
function versionOf(context: BuildContext, model: BuiltModel, fingerprint: string): string {
  const own = model.kind === 'merge' || model.volatile || context.fullRefresh
  return own ? hashOf(fingerprint, context.runId) : fingerprint
}

async function materialize(site: Site, model: BuiltModel, statement: Sql): Promise<Built> {
  const { connection, record, fullRefresh } = site
  const relation = relationOf(model.name)
  const key = model.expose?.key ?? []
  await createSchema(site, model.name)
  if (model.kind === 'merge') {
    const exists = existingType(site, model.name) === 'table'
    const merges = exists && record?.kind === 'merge' && !fullRefresh
    await connection.run(statement)
    if (!merges) await makeWay(site, model, 'table')
    const built = await applyStage(connection, model, !merges)
    if (!sameColumns(model.uniqueKey, key)) await checkKey(connection, relation, key)
    return built
  }
  await makeWay(site, model, typeOf(model))
  await connection.run(statement)
  await checkKey(connection, relation, key)
  if (model.kind === 'view') return { changed: true }
  return { changed: true, rows: await countRows(connection, relation) }
}

/** The unique key was checked when the rows were merged. */
const sameColumns = (a: readonly string[], b: readonly string[]) =>
  isDeepStrictEqual(a.map(foldCase).toSorted(), b.map(foldCase).toSorted())

/** `a.b` means schema a or catalog a; where both exist the engine refuses the name. */
export function refuseReservedSchema({ catalog }: BuildContext, name: ModelName): void {
  const { schema } = splitModelName(name)
  if (foldCase(schema) === STATE_SCHEMA)
    throw new ModelFailure(`the schema "${schema}" belongs to eider; name the folder differently`)
  if (foldCase(schema) === foldCase(catalog.database))
    throw new ModelFailure(
      `the schema "${schema}" has the name of the database file; name the folder or the file (\`database\` in eider.yml) differently`,
    )
}
