// Plans, with a diff or without, made as the command makes them.

import type { Model } from '../../src/core/model.ts'
import type { Connection } from '../../src/duckdb/database.ts'
import type { RunSelection } from '../../src/pipeline/choose.ts'
import type { PlannedStep } from '../../src/core/report/planned-changes.ts'
import { planRun, type RunPlan } from '../../src/pipeline/plan/show-changes.ts'
import { openStore } from '../../src/store/open.ts'
import type { TestProject } from './pipeline-project.ts'
import { projectOf } from './handmade-models.ts'

export interface PlanGiven {
  readonly allowEmpty?: boolean
  readonly fullRefresh?: boolean
  readonly range?: { readonly start: string; readonly end: string }
  readonly selection?: RunSelection
  /** true when not given. */
  readonly diff?: boolean
}

/** `look` sees the rows that the dry run has made. */
export async function diffOf<T>(
  { paths }: TestProject,
  models: readonly Model[],
  { diff = true, ...given }: PlanGiven = {},
  look: (connection: Connection) => Promise<T>,
): Promise<RunPlan & { readonly seen: T }> {
  const store = openStore(paths)
  await using warehouse = await store.warehouse.openToRead({ memoryLimit: null, threads: 1 })
  await using connection = await warehouse.connect()
  const plan = await planRun({
    connection,
    paths,
    store,
    project: projectOf(...models),
    ...given,
    withNewEvents: new Set(),
    waitingSegments: () => Promise.resolve([]),
    diff,
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
