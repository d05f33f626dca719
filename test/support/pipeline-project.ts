// A project directory whose models are made by hand (handmade-models.ts), runs in it, and a look into the warehouse.

import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compile } from '../../src/compiler/compile.ts'
import { loadProject } from '../../src/project/load.ts'
import type { Model } from '../../src/core/model.ts'
import type { ModelResult, RunEvent, RunSummary } from '../../src/core/report/progress.ts'
import type { ProjectPaths } from '../../src/core/project.ts'
import { Resources } from '../../src/core/resources.ts'
import { MANIFEST_FILE, parseManifest, type Snapshot } from '../../src/core/snapshot.ts'
import { type Sql, sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import type { Row } from '../../src/duckdb/values.ts'
import { runPipeline } from '../../src/pipeline/run.ts'
import type { RunRequest } from '../../src/pipeline/run-request.ts'
import { openStore } from '../../src/store/open.ts'
import { connectToLake, newLake } from './lake/project-lake.ts'
import { projectOf } from './handmade-models.ts'
import { pathsOf, runDefaults } from './run-defaults.ts'

export { pathsOf, runDefaults }

export interface TestProject extends AsyncDisposable {
  readonly dir: string
  readonly paths: ProjectPaths
  path(...parts: readonly string[]): string
  write(path: string, text: string): Promise<void>
  run(models: readonly Model[], options?: Partial<RunRequest>): Promise<RunSummary>
  /** Like `run`, and throws unless every model is built or unchanged. */
  ok(models: readonly Model[], options?: Partial<RunRequest>): Promise<RunSummary>
  rows(query: Sql): Promise<readonly Row[]>
  /** What somebody else does to its tables. */
  alter(statement: Sql): Promise<void>
  /** What is remembered of each relation that was built: `model`, `built_at`, `removed`. */
  readonly records: Sql
  /** The manifest of the state that services show. */
  published(): Promise<Snapshot>
}

/** Its tables are in a lake: such tests run on both kinds of target (test/on-lakes.ts). */
export const isOnLake = process.env['EIDER_TEST_TARGET'] === 'lake'

/** Of a lake where tests are told to run on one. */
export async function openProject(): Promise<TestProject> {
  const resources = new Resources()
  const dir = await mkdtemp(join(tmpdir(), 'eider-pipeline-'))
  resources.defer(() => rm(dir, { recursive: true, force: true }))
  const paths = { ...pathsOf(dir), ...(isOnLake && { lake: (await newLake()).lake }) }
  const space: TestProject = {
    dir,
    paths,
    path: (...parts) => join(dir, ...parts),
    async write(path, text) {
      await mkdir(join(dir, path, '..'), { recursive: true })
      await writeFile(join(dir, path), text)
    },
    run: (models, options = {}) =>
      runPipeline({ ...runDefaults(paths), project: projectOf(...models), ...options }),
    async ok(models, options) {
      const summary = await space.run(models, options)
      if (!summary.ok) throw new Error(JSON.stringify(summary.models, null, 2))
      return summary
    },
    rows: (query) => rowsOf(paths, query),
    async alter(statement) {
      if (paths.lake !== undefined) {
        await using connection = await connectToLake(paths.lake)
        await connection.run(statement)
        return
      }
      await using database = await Database.open({ path: paths.database, threads: 1 })
      await using connection = await database.connect()
      await connection.run(statement)
    },
    records: isOnLake ? recordsOfLake : recordsOfFile,
    async published() {
      await pullPublished(paths)
      return parseManifest(await readFile(join(paths.snapshots, MANIFEST_FILE), 'utf8'))
    },
    [Symbol.asyncDispose]: () => resources[Symbol.asyncDispose](),
  }
  return space
}

async function rowsOf(paths: ProjectPaths, query: Sql): Promise<readonly Row[]> {
  if (paths.lake !== undefined) {
    await using connection = await connectToLake(paths.lake)
    return await connection.rows(query)
  }
  const { warehouse } = openStore(paths)
  await using database = await warehouse.openToRead({ memoryLimit: null, threads: 1 })
  await using connection = await database.connect()
  return await connection.rows(query)
}

/** What a run on a lake has published is then where services look for it. */
export async function pullPublished(paths: ProjectPaths): Promise<void> {
  const { openPuller } = openStore(paths)
  if (openPuller === null) return
  await using puller = await openPuller()
  const { signal } = new AbortController()
  await puller.pull({ retention: keepsOne, takeUpMs: 0, signal })
}

const recordsOfFile = sql`(SELECT model, built_at, removed_at IS NOT NULL AS removed FROM _eider.models)`
/** Of each relation, however it is spelled, the newest counts; marks of runs and the macros have rows too. */
const recordsOfLake = sql`(
  SELECT model, built_at, removed FROM _eider.builds WHERE model NOT IN ('', 'macros')
  QUALIFY row_number() OVER (PARTITION BY lower(model) ORDER BY seq DESC) = 1 AND kind <> '')`

const keepsOne = { snapshots: 1, ms: 0 }

/** A run of the project, read and compiled from its files, as the command makes it; throws unless all is well. */
export async function runProject(paths: ProjectPaths): Promise<void> {
  const { dir } = paths
  const { files } = await loadProject(dir, { env: {}, flags: {} })
  const project = await compile(files, { dir })
  const { ok, models } = await runPipeline({ ...runDefaults(paths), project })
  if (!ok) throw new Error(JSON.stringify(models, null, 2))
}

/** `status` of each model by name. */
export const statuses = (summary: RunSummary): Readonly<Record<string, string>> =>
  Object.fromEntries(summary.models.map(({ model, status }) => [model, status]))

export function resultOf(summary: RunSummary, name: string): ModelResult {
  const result = summary.models.find(({ model }) => model === name)
  if (result === undefined) throw new Error(`no result of ${name}`)
  return result
}

export function recordProgress(): {
  readonly seen: RunEvent[]
  readonly progress: (e: RunEvent) => void
} {
  const seen: RunEvent[] = []
  return { seen, progress: (event) => seen.push(event) }
}
