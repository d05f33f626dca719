// What a run would do, found out without changing anything: `eider plan`.

import { plan, type Situation, type Step } from '../compiler/plan.ts'
import { databasesOf, hashFiles } from '../compiler/source-files.ts'
import type { CompiledProject, Model } from '../core/model.ts'
import { foldCase, type ModelName } from '../core/names.ts'
import type { ProjectPaths } from '../core/project.ts'
import type { Column } from '../core/relation.ts'
import { sql } from '../core/sql.ts'
import { type Catalog, describe, readCatalog } from '../duckdb/catalog.ts'
import type { Connection } from '../duckdb/database.ts'
import { existsIn, missingInputs } from './build.ts'
import { chooseModels, type RunSelection } from './choose.ts'
import { type ContractChange, contractChanges } from './contract.ts'
import { readFreshness, sourcesRead, staleInputs } from './freshness.ts'
import { relationOf, relationType } from './materialize/relation.ts'
import { readCurrentSnapshot } from './snapshots.ts'
import { readStateIfAny, type State } from './state.ts'

export interface PlanOptions {
  readonly connection: Connection
  readonly paths: ProjectPaths
  readonly project: CompiledProject
  readonly selection: RunSelection
  readonly fullRefresh: boolean
  /** Events models for which events wait. */
  readonly withNewEvents: ReadonlySet<ModelName>
}

export interface RunPlan {
  readonly steps: readonly PlannedStep[]
  readonly contract: readonly ContractChange[]
}

export interface PlannedStep extends Step {
  /** What would make the model fail before it is tried; else null. */
  readonly problem: string | null
  /** One line for each source that it reads and that is getting old. */
  readonly warnings: readonly string[]
  readonly columns: readonly ColumnChange[]
}

export interface ColumnChange {
  readonly column: string
  /** null: the column is new. */
  readonly from: string | null
  /** null: the column is gone. */
  readonly to: string | null
}

/** What is known of a project and its warehouse; nothing is changed to learn it. */
export interface Standing {
  readonly catalog: Catalog
  readonly state: State
  readonly fileHashes: ReadonlyMap<string, string>
}

export async function readStanding(
  connection: Connection,
  dir: string,
  project: CompiledProject,
): Promise<Standing> {
  const catalog = await readCatalog(connection)
  const state = await readStateIfAny(connection, catalog)
  return {
    catalog,
    state,
    fileHashes: await hashFiles(connection, dir, project.models.values(), databasesOf(project)),
  }
}

/** `fullRefresh` and `withNewEvents` as for a run that would start now. */
export function situationOf(
  { catalog, state, fileHashes }: Standing,
  given: Pick<Situation, 'fullRefresh' | 'withNewEvents'>,
): Omit<Situation, 'versions' | 'pending'> {
  const exists = (model: Model) => existsIn(catalog, model)
  return { ...given, states: state.models, fileHashes, exists }
}

/** Throws UsageError for a selector that can never match. */
export async function planRun(options: PlanOptions): Promise<RunPlan> {
  const { connection, paths, project, selection } = options
  const { models } = project
  const standing = await readStanding(connection, paths.dir, project)
  const selected = await chooseModels({ connection, ...standing }, models, selection)
  const read = sourcesRead(models, selected)
  const tables = (project.external?.tables ?? []).filter(({ name }) => read.has(name))
  const freshness = await readFreshness(connection, tables, new Date())
  const chosen = [...models.values()].filter(({ name }) => selected.has(name))
  const steps: PlannedStep[] = []
  for (const step of plan(chosen, situationOf(standing, options)).steps) {
    const builds = step.action === 'build'
    const missing = builds ? missingInputs(step.model, { ...standing, selected }) : null
    const problem = missing ?? staleInputs(step.model, freshness, 'error')[0] ?? null
    const columns = builds ? await columnChanges(connection, standing.catalog, step.model) : []
    const warnings = staleInputs(step.model, freshness, 'warn')
    steps.push({ ...step, problem, warnings, columns })
  }
  const published = await readCurrentSnapshot(paths.snapshots)
  return { steps, contract: contractChanges(published, models, selected) }
}

/** Of a table that exists; a view holds nothing that could change. */
async function columnChanges(
  connection: Connection,
  catalog: Catalog,
  model: Model,
): Promise<readonly ColumnChange[]> {
  if (relationType(catalog, model.name) !== 'table') return []
  const before = byName(await describe(connection, sql`FROM ${relationOf(model.name)}`))
  const after = byName(model.columns)
  const changed = [...after].flatMap(([name, { name: column, type: to }]) => {
    const from = before.get(name)?.type ?? null
    return from === to ? [] : [{ column, from, to }]
  })
  // An events table keeps the columns that its model no longer lists.
  const gone = model.kind === 'events' ? [] : [...before].filter(([name]) => !after.has(name))
  return [...changed, ...gone.map(([, { name, type }]) => ({ column: name, from: type, to: null }))]
}

const byName = (columns: readonly Column[]) =>
  new Map(columns.map((column) => [foldCase(column.name), column]))
