// The steps of a lake that has grown, and what each asks of PostgreSQL.

import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { parseModelName, type ModelName } from '../../../src/core/names.ts'
import type { ProjectPaths } from '../../../src/core/project.ts'
import { runHistory } from '../../../src/pipeline/history.ts'
import { runPipeline } from '../../../src/pipeline/run.ts'
import { openStore } from '../../../src/store/open.ts'
import { projectOf, query } from '../handmade-models.ts'
import { runDefaults } from '../pipeline-project.ts'
import { processorMsOf } from '../processor-time.ts'
import type { TestLake } from './with-lake.ts'

const SIGNAL = new AbortController().signal

export interface Cost {
  readonly messages: number
  readonly bytes: number
  /** Of this process and of PostgreSQL. */
  readonly processorMs: number
}

export async function costOf(lake: TestLake, step: () => Promise<unknown>): Promise<Cost> {
  lake.catalog.forget()
  const startedMs = await processorMs(lake)
  await step()
  const { queries, answeredBytes: bytes } = lake.catalog
  return { messages: queries.length, bytes, processorMs: (await processorMs(lake)) - startedMs }
}

async function processorMs({ servers }: TestLake): Promise<number> {
  const { user, system } = process.cpuUsage()
  const pidFile = await readFile(join(servers.directory, 'postgres/postmaster.pid'), 'utf8')
  return (user + system) / 1000 + (await processorMsOf(Number.parseInt(pidFile)))
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

/** The step that publishes, again and again, of tables that stay as they are: each time with another description. */
export async function publishAgain(paths: ProjectPaths, count: number): Promise<number> {
  if (count < 1) return 0
  const { lease, warehouse, state, snapshots } = openStore(paths)
  const signal = SIGNAL
  await using _lease = await lease.take({ name: 'grown', waitMs: 0, signal })
  await using database = await warehouse.open({ memoryLimit: null, lockWaitMs: 0, signal })
  await using connection = await database.connect()
  await state.begin(connection, [])
  for (let i = 0; i < count; i++) {
    const options = {
      connection,
      runId: 'grown',
      now: new Date(),
      retention: { snapshots: 3, ms: 0 },
    }
    const { changed } = await snapshots.publish(options, ({ current }) =>
      Promise.resolve(
        current!.relations.map((relation) => ({
          ...relation,
          description: `${options.now.getTime()} ${i}`,
        })),
      ),
    )
    assert.ok(changed)
  }
  const finished = { runId: 'grown', startedAt: new Date(), ms: 0, ok: true }
  await state.recordRun(connection, finished, {})
  return count
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

/** As `eider history` lists the last runs. */
async function history(paths: ProjectPaths): Promise<void> {
  const store = openStore(paths)
  await using database = await store.warehouse.openToRead({ memoryLimit: null })
  await using connection = await database.connect()
  assert.ok((await runHistory({ connection, store }, 20)).length > 0)
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
    history: await costOf(lake, () => history(paths)),
    'run of one change': await costOf(lake, () => run(paths, tables, version)),
    'run with nothing to do': await costOf(lake, () => run(paths, tables, version)),
    'first pull': await costOf(lake, () => pull(paths)),
    'pull of no change': await costOf(lake, () => pull(paths)),
  }
}
