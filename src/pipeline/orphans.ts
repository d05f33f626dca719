// Relations that runs created and no file of the project creates any more. They are kept, since a history is not the
// tool's to destroy; `eider mv` adopts one under another name (rename/), and dropRelation() drops one.

import { lineOf } from '../core/diagnostics.ts'
import { UsageError, EnvironmentError } from '../core/failures.ts'
import { knownModels } from '../compiler/select.ts'
import type { CompiledProject, Model } from '../core/model.ts'
import { type ModelName, sameName, foldCase } from '../core/names.ts'
import type { Orphan } from '../core/report/progress.ts'
import { sql } from '../core/sql.ts'
import { didYouMean } from '../core/suggest.ts'
import type { EngineCatalog } from '../duckdb/catalog.ts'
import type { Connection } from '../duckdb/database.ts'
import { countRows, relationType } from './build/materialize/relation.ts'
import type { State } from '../store/state.ts'
import type { Store } from '../store/store.ts'
import { mistakesOfNoModel } from '../compiler/mistakes.ts'
import { count } from '../core/counts.ts'
import { kinds } from '../core/kinds.ts'
import type { PlanRequest } from './run-request.ts'
import { recordOf, type RunContext } from './run-context.ts'
import { fullRefreshOf } from './failure.ts'

/** By name. None while files are there that could not be placed or read: one of them may be that of the relation. */
export async function readOrphans(
  { connection, catalog, state }: Found,
  project: CompiledProject,
): Promise<readonly Orphan[]> {
  if (mayHoldMoreModels(project)) return []
  const known = knownModels(project)
  const orphans: Orphan[] = []
  const added = [...project.models.values()].filter(({ name }) => !state.models.has(name))
  for (const [model, { kind, definition }] of state.models) {
    const type = relationType(catalog, model)
    if (type === null || known.has(model)) continue
    const rows = type === 'view' ? null : await countRows(connection, sql.relation(model))
    const heir = added.find((one) => one.definition === definition)
    orphans.push({ model, kind, rows, ...(heir === undefined ? {} : { renamed_to: heir.name }) })
  }
  return orphans.toSorted((a, b) => (a.model < b.model ? -1 : 1))
}

interface Found {
  readonly connection: Connection
  readonly catalog: EngineCatalog
  readonly state: State
}

/** The warehouse of a target, to be changed by a command that holds its lease. */
export interface Opened extends Pick<Store, 'state' | 'tables'> {
  readonly connection: Connection
}

/** Removes the relation and its state. Throws UsageError where no run created it. */
export async function dropRelation(
  { connection, state, tables }: Opened,
  name: string,
): Promise<Orphan> {
  const known = await state.begin(connection, [])
  const { catalog } = known
  const { models } = known.state
  const found = [...models].find(([model]) => sameName(model, name))
  if (found === undefined)
    throw new UsageError(`no run created "${name}"`, {
      hint:
        didYouMean(name, models.keys()) ??
        '"eider ls" lists tables and views that no file creates any more',
    })
  const [model, { kind }] = found
  const type = relationType(catalog, model)
  const rows = type === 'table' ? await countRows(connection, sql.relation(model)) : null
  await state.change(connection, async () => {
    if (type !== null) await tables.drop(connection, model, type)
    await state.forget(connection, model)
    await connection.run(
      sql`DELETE FROM _eider.rejected_events WHERE lower(target) = ${lower(model)}`,
    )
  })
  return { model, kind, rows }
}

const lower = (name: ModelName) => sql`lower(${sql.value(name)})`

/**
 * Whether files of models were found that have no name, or a directory of theirs could not be read. Then a model that the
 * project does not have may be one of them.
 */
const mayHoldMoreModels = (project: CompiledProject): boolean =>
  mistakesOfNoModel(project).some(({ source: { path } }) => /^(?:models|seeds)(?:\/|$)/.test(path))

/** Whether the relation of a model that does not compile stays as it is. By name, in any letter case. */
export function keptRelations(project: CompiledProject): (name: string) => boolean {
  const namesOf = (models: ReadonlyMap<string, unknown>) =>
    new Set(Array.from(models.keys(), foldCase))
  const failed = namesOf(project.failed)
  const compiled = namesOf(project.models)
  const isHidden = mayHoldMoreModels(project)
  return (name) => failed.has(foldCase(name)) || (isHidden && !compiled.has(foldCase(name)))
}

/**
 * A wrong checkout or an empty volume looks like a project without models, or one that has never run: `models-missing`,
 * `warehouse-missing`, to be thrown; null: nothing is published over something.
 */
export async function refusalToEmpty({
  project,
  store,
  allowEmpty = false,
}: PlanRequest): Promise<EnvironmentError | null> {
  const published = allowEmpty ? null : await store.snapshots.current()
  if (published === null || published.relations.length === 0) return null
  const { id, relations } = published
  const all = [...project.models.values()]
  const isServed = all.some(({ expose }) => expose !== null)
  const isKept = keptRelations(project)
  if (!isServed && !relations.some(({ model }) => isKept(model))) {
    const isBlank = all.length === 0
    const [mistake] = project.failed.size === 0 ? [] : project.errors
    const [missing, next] =
      mistake === undefined
        ? [
            isBlank ? 'no models' : 'no model with @expose',
            'is this the right directory, with its models/?',
          ]
        : ['no model with @expose that compiles', `repair ${lineOf(mistake)};`]
    return new EnvironmentError(
      'models-missing',
      `the project has ${missing}, and snapshot ${id} serves ${count(relations.length, 'set')}`,
      { hint: `${next} --allow-empty publishes nothing` },
    )
  }
  const rows = relations.reduce((sum, relation) => sum + relation.rows, 0)
  // The kind of a model whose file has mistakes may not be known.
  const cannotBeMadeAgain = [...knownModels(project).values()].some(
    ({ kind }) => kind === null || kinds[kind].keepsRows,
  )
  if (rows === 0 || !cannotBeMadeAgain || (await store.warehouse.exists())) return null
  return new EnvironmentError(
    'warehouse-missing',
    `the warehouse ${store.warehouse.name} is gone, and snapshot ${id} serves ${count(rows, 'row')} of it`,
    {
      hint: 'restore it from a backup; --allow-empty starts without the events that were flushed, and without history',
    },
  )
}

/** Throws UsageError, with all of them. */
export async function refuseToEndHistories(context: RunContext): Promise<void> {
  const { connection, project, selected } = context
  const ended: string[] = []
  let first: Model | null = null
  for (const name of selected) {
    const model = project.models.get(name)!
    if (!hasHistory(context, model)) continue
    const rows = await countRows(connection, sql.relation(name))
    if (rows === 0) continue
    first ??= model
    ended.push(`${name} (${count(rows, 'row')}, ${model.kind})`)
  }
  if (first === null) return
  throw new UsageError(`--full-refresh would end the history of ${ended.join(', ')}`, {
    hint: `name the models that you mean: ${fullRefreshOf(first.name)}; or add --drop-history`,
  })
}

function hasHistory(context: RunContext, model: Model): boolean {
  const before = recordOf(context, model)
  if (before === null || before.kind === 'events' || model.kind === 'events') return false
  return kinds[before.kind].keepsRows && relationType(context.catalog, model.name) === 'table'
}
