// A plan with a diff, made as the command makes it.

import type { Model } from '../../src/core/model.ts'
import type { Connection } from '../../src/duckdb/database.ts'
import { planRun, type PlannedStep, type RunPlan } from '../../src/pipeline/plan/show-changes.ts'
import { openStore } from '../../src/store/open-store.ts'
import type { TestProject } from './pipeline-project.ts'
import { projectOf } from './handmade-models.ts'

export interface PlanGiven {
  readonly allowEmpty?: boolean
  readonly fullRefresh?: boolean
  readonly range?: { readonly start: string; readonly end: string }
}

/** `look` sees the rows that the dry run has made. */
export async function diffOf<T>(
  { paths }: TestProject,
  models: readonly Model[],
  { allowEmpty = false, fullRefresh = false, range }: PlanGiven = {},
  look: (connection: Connection) => Promise<T>,
): Promise<RunPlan & { readonly seen: T }> {
  const store = openStore(paths)
  await using warehouse = await store.warehouse.openToRead({ memoryLimit: null })
  await using connection = await warehouse.connect()
  const plan = await planRun({
    connection,
    paths,
    snapshots: store.snapshots,
    project: projectOf(...models),
    selection: { include: [], exclude: [], retry: false },
    fullRefresh,
    allowEmpty,
    range: range ?? null,
    withNewEvents: new Set(),
    waitingSegments: () => Promise.resolve([]),
    diff: true,
  })
  return { ...plan, seen: await look(connection) }
}

export const planned = (space: TestProject, models: readonly Model[], given: PlanGiven = {}) =>
  diffOf(space, models, given, () => Promise.resolve(null))

export function stepOf({ steps }: RunPlan, name: string): PlannedStep {
  const step = steps.find(({ model }) => model.name === name)
  if (step === undefined) throw new Error(`no step for ${name}`)
  return step
}
