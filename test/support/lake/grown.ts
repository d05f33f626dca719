// The steps of a lake that has grown, and what each asks of PostgreSQL.

import { rm } from 'node:fs/promises'
import { performance } from 'node:perf_hooks'
import * as assert from 'uvu/assert'
import { parseModelName, type ModelName } from '../../../src/core/names.ts'
import type { ProjectPaths } from '../../../src/core/project.ts'
import { runPipeline } from '../../../src/pipeline/run.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { projectOf, query } from '../handmade-models.ts'
import { runDefaults } from '../pipeline-project.ts'
import type { TestLake } from './with-lake.ts'

const SIGNAL = new AbortController().signal

export interface Cost {
  readonly messages: number
  readonly bytes: number
  readonly ms: number
}

export async function costOf(lake: TestLake, step: () => Promise<unknown>): Promise<Cost> {
  lake.catalog.forget()
  const startedMs = performance.now()
  await step()
  const ms = performance.now() - startedMs
  return { messages: lake.catalog.queries.length, bytes: lake.catalog.answeredBytes, ms }
}

/** `t0` has another row for each `version`. */
const project = (tables: number, version: number) =>
  projectOf(
    ...Array.from({ length: tables }, (_, i) =>
      query(`b.t${i}`, `SELECT 1 AS id, ${i === 0 ? version : 0} AS n, 'a' AS a, 'b' AS b`, {
        expose: ['id'],
      }),
    ),
  )

export async function run(paths: ProjectPaths, tables: number, version: number): Promise<void> {
  const { ok, models } = await runPipeline({
    ...runDefaults(paths),
    project: project(tables, version),
    retention: { snapshots: 3, ms: 0 },
  })
  assert.ok(ok, JSON.stringify(models.find(({ status }) => status === 'failed')))
}

async function pull(paths: ProjectPaths): Promise<void> {
  await using puller = await openStore(paths).openPuller!()
  await puller.pull({ retention: { snapshots: 1, ms: 0 }, takeUpMs: 0, signal: SIGNAL })
}

export const maintain = (paths: ProjectPaths) =>
  openStore(paths).upkeep!.maintain({ dryRun: false, migrate: false, waitMs: 0, signal: SIGNAL })

/** As `eider ls` and `eider plan` read it. */
async function read(paths: ProjectPaths): Promise<void> {
  const { warehouse, state } = openStore(paths)
  await using database = await warehouse.openToRead({ memoryLimit: null })
  await using connection = await database.connect()
  await state.read(connection, [parseModelName('b.t0') as ModelName])
}

/** Each step of a lake with so many tables and versions. The run that does nothing comes last, after the upkeep. */
export async function stepsOf(
  paths: ProjectPaths,
  lake: TestLake,
  tables: number,
  version: number,
): Promise<Record<string, Cost>> {
  await rm(paths.snapshots, { recursive: true, force: true })
  return {
    read: await costOf(lake, () => read(paths)),
    'run of one change': await costOf(lake, () => run(paths, tables, version)),
    'run with nothing to do': await costOf(lake, () => run(paths, tables, version)),
    'first pull': await costOf(lake, () => pull(paths)),
    'pull of no change': await costOf(lake, () => pull(paths)),
  }
}
