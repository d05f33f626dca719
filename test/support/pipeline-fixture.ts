// A project directory without the compiler: models made by hand, a buffer made of files, and a look into the warehouse.

import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ClaimSource } from '../../src/buffer/claim-source.ts'
import type { CompiledProject, EventsModel, Model, OnSchemaChange } from '../../src/core/model.ts'
import { type ModelName, parseModelName } from '../../src/core/names.ts'
import type { ModelResult, RunEvent } from '../../src/core/report/progress.ts'
import type { ProjectPaths } from '../../src/core/project.ts'
import { columnType } from '../../src/core/relation.ts'
import { ModelBody, type Sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import type { Row } from '../../src/duckdb/values.ts'
import type { RunSummary } from '../../src/pipeline/results.ts'
import { type RunOptions, runPipeline } from '../../src/pipeline/run.ts'
import { silentLogger } from './silent-logger.ts'

export const nameOf = (text: string): ModelName => {
  const name = parseModelName(text)
  if (name === null) throw new Error(`not a model name: ${text}`)
  return name
}

export interface QueryModelOptions {
  readonly kind?: 'view' | 'table' | 'append' | 'merge' | 'scd2'
  readonly key?: readonly [string, ...string[]]
  /** `ts` or `ts lookback 1 hour` */
  readonly incremental?: string
  /** The column of `@on_duplicate: latest`. */
  readonly latest?: string
  readonly deletes?: 'keep' | 'mirror'
  readonly onSchemaChange?: OnSchemaChange
  readonly expose?: readonly string[]
  readonly reads?: readonly string[]
  readonly files?: readonly string[]
  readonly volatile?: boolean
}

/** A model with a query; `name` is `schema.table`. */
export function query(name: string, text: string, options: QueryModelOptions = {}): Model {
  const { kind = 'table', key, expose, reads = [], files = [], volatile = false } = options
  const source = {
    path: `models/${name.replace('.', '/')}.sql`,
    text: `-- @kind: ${kind}\n${text}`,
  }
  const start = source.text.length - text.length
  const base = {
    name: nameOf(name),
    source,
    description: null,
    tags: [],
    expose: exposed(expose),
    columns: [],
    dependsOn: reads.map(nameOf),
    sources: [],
    files,
    volatile,
    owner: null,
    checks: [],
    places: {},
    definition: hash([text, options]),
    body: ModelBody.of(source, { start, end: source.text.length }),
  }
  if (kind === 'view' || kind === 'table') return { ...base, kind }
  const { latest, deletes = 'keep', onSchemaChange = 'evolve' } = options
  const [column = '', lookback = null] = options.incremental?.split(' lookback ') ?? []
  const watermark = { column, lookback }
  if (kind === 'append') return { ...base, kind, uniqueKey: key ?? [], watermark, onSchemaChange }
  if (key === undefined) throw new Error(`a model of kind ${kind} needs a key`)
  const onDuplicate =
    latest === undefined
      ? ({ take: 'none' } as const)
      : ({ take: 'latest', column: latest } as const)
  const kept = { ...base, uniqueKey: key, onDuplicate, onSchemaChange }
  if (kind === 'scd2') return { ...kept, kind }
  return { ...kept, kind, deletes, watermark: column === '' ? null : watermark }
}

/** A column list such as `{ id: 'BIGINT!', at: 'TIMESTAMP WITH TIME ZONE' }`; `!` is NOT NULL. */
export function events(
  name: string,
  columns: Readonly<Record<string, string>>,
  expose?: readonly string[],
): EventsModel {
  return {
    kind: 'events',
    onSchemaChange: 'evolve',
    name: nameOf(name),
    source: { path: `models/${name.replace('.', '/')}.sql`, text: '-- @kind: events\n' },
    description: null,
    tags: [],
    expose: exposed(expose),
    columns: Object.entries(columns).map(([column, type]) => ({
      name: column,
      type: columnType(type.replace('!', '')),
      nullable: !type.endsWith('!'),
    })),
    dependsOn: [],
    sources: [],
    files: [],
    volatile: false,
    owner: null,
    checks: [],
    places: {},
    definition: hash([columns, expose]),
  }
}

export const projectOf = (...models: readonly Model[]): CompiledProject => ({
  models: new Map(models.map((model) => [model.name, model])),
  macros: [],
  lineage: () => new Map(),
  warnings: [],
  errors: [],
  failed: new Map(),
  macrosAreWhole: true,
})

const exposed = (key: readonly string[] | undefined) =>
  key === undefined ? null : { key, span: { start: 0, end: 0 } }

const hash = (value: unknown) =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16)

export interface Fixture extends AsyncDisposable {
  readonly dir: string
  readonly paths: ProjectPaths
  path(...parts: readonly string[]): string
  write(path: string, text: string): Promise<void>
  run(models: readonly Model[], options?: Partial<RunOptions>): Promise<RunSummary>
  /** Like `run`, and throws unless every model is built or unchanged. */
  ok(models: readonly Model[], options?: Partial<RunOptions>): Promise<RunSummary>
  rows(query: Sql): Promise<readonly Row[]>
}

export async function fixture(): Promise<Fixture> {
  const dir = await mkdtemp(join(tmpdir(), 'eider-pipeline-'))
  const paths = pathsOf(dir)
  const space: Fixture = {
    dir,
    paths,
    path: (...parts) => join(dir, ...parts),
    async write(path, text) {
      await mkdir(join(dir, path, '..'), { recursive: true })
      await writeFile(join(dir, path), text)
    },
    run: (models, options = {}) =>
      runPipeline({ ...defaults(paths), project: projectOf(...models), ...options }),
    async ok(models, options) {
      const summary = await space.run(models, options)
      if (!summary.ok) throw new Error(JSON.stringify(summary.models, null, 2))
      return summary
    },
    async rows(query) {
      await using database = await Database.open({ path: paths.database, readOnly: true })
      await using connection = await database.connect()
      return await connection.rows(query)
    },
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }),
  }
  return space
}

export function pathsOf(dir: string): ProjectPaths {
  const state = join(dir, '.eider')
  return {
    dir,
    state,
    database: join(state, 'warehouse.duckdb'),
    buffer: join(state, 'buffer'),
    snapshots: join(state, 'snapshots'),
    runLock: join(state, 'run.lock'),
    collectLock: join(state, 'collect.lock'),
    target: join(dir, 'target'),
  }
}

export function defaults(paths: ProjectPaths): Omit<RunOptions, 'project'> {
  return {
    paths,
    openClaims: null as (() => Promise<ClaimSource>) | null,
    threads: null,
    memoryLimit: null,
    lockWaitMs: 0,
    signal: new AbortController().signal,
    progress: () => {},
    logger: silentLogger,
  }
}

/** `status` of each model by name. */
export const statuses = (summary: RunSummary): Readonly<Record<string, string>> =>
  Object.fromEntries(summary.models.map(({ model, status }) => [model, status]))

export function resultOf(summary: RunSummary, name: string): ModelResult {
  const result = summary.models.find(({ model }) => model === name)
  if (result === undefined) throw new Error(`no result of ${name}`)
  return result
}

export function recorder(): {
  readonly seen: RunEvent[]
  readonly progress: (e: RunEvent) => void
} {
  const seen: RunEvent[] = []
  return { seen, progress: (event) => seen.push(event) }
}
