// One test of a model: what it reads is given, what lies between is built in memory as a run builds it, and the rows are
// compared with those that are expected. Nothing of the project's own target is read or written.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lineOf } from '../../core/diagnostics.ts'
import type { CompiledProject, Model } from '../../core/model.ts'
import { foldCase, type ModelName } from '../../core/names.ts'
import type { ProjectPaths } from '../../core/project.ts'
import { isReceivedAt } from '../../core/relation.ts'
import { Resources } from '../../core/resources.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { didYouMean } from '../../core/suggest.ts'
import { type Connection, Database } from '../../duckdb/database.ts'
import { fileStore } from '../../store/files/file-store.ts'
import type { Store } from '../../store/store.ts'
import { buildAll } from '../build/build-all.ts'
import { replaceMacros } from '../build/macros.ts'
import { relationOf } from '../build/materialize/relation.ts'
import { ModelFailure } from '../failure.ts'
import { planSteps } from '../plan/steps.ts'
import { readContext } from '../read-context.ts'
import { RunResults } from '../results.ts'
import { compareWithExpected, type RowDifference } from './expected.ts'
import { inFile, readRows, type RowsFile } from './fixtures.ts'
import { type Inputs, inputsOf, type TestInput } from './inputs.ts'

export interface TestCase {
  readonly model: string
  /** When the first run takes place; each further one is a day later. */
  readonly now: Date
  readonly runs: readonly CaseRun[]
}

export interface CaseRun {
  readonly given: readonly (RowsFile & { readonly relation: string })[]
  /** Paths relative to the project directory. */
  readonly expect: string | null
  readonly expectPath: string
}

export interface TestOutcome {
  /** Why it failed, but for rows; null: they alone decide. */
  readonly problem: string | null
  /** Of the first run whose rows differ. */
  readonly difference: RowDifference | null
}

export interface TestOptions {
  readonly project: CompiledProject
  readonly paths: ProjectPaths
  readonly memoryLimit: string | null
  readonly test: TestCase
  /** Writes what came out where it differs, and where nothing was expected yet; the test then succeeds. */
  readonly accept:
    ((path: string, columns: readonly string[], rows: readonly object[]) => Promise<void>) | null
}

const DAY_MS = 86_400_000

export async function runTest(options: TestOptions): Promise<TestOutcome> {
  try {
    return await inMemory(options)
  } catch (error) {
    if (error instanceof ModelFailure) return { problem: error.message, difference: null }
    throw error
  }
}

async function inMemory({
  project,
  paths,
  memoryLimit,
  test,
  accept,
}: TestOptions): Promise<TestOutcome> {
  const model = modelOf(project, test.model)
  const inputs = inputsOf(
    project,
    model,
    test.runs.flatMap(({ given }) => given),
  )
  await using resources = new Resources()
  const state = await mkdtemp(join(tmpdir(), 'eider-test-'))
  resources.defer(() => rm(state, { recursive: true, force: true }))
  const database = resources.use(
    await Database.open({
      path: ':memory:',
      searchDir: paths.dir,
      memoryLimit,
      tempDir: join(state, 'engine'),
    }),
  )
  await using connection = await database.connect()
  const store = fileStore({ ...paths, state, snapshots: join(state, 'snapshots') })
  const { macros } = await store.state.begin(connection, [])
  await replaceMacros(store.state, connection, macros, project.macros)
  for (const input of inputs.tables) await createTable(connection, input)
  for (const [i, run] of test.runs.entries()) {
    const now = new Date(test.now.getTime() + i * DAY_MS)
    await stopClock(connection, now)
    await fill({ connection, store, dir: paths.dir, inputs, number: i }, run)
    const problem = await build({ connection, store, paths, project, inputs, model, now })
    if (problem !== null) return { problem, difference: null }
    if (accept !== null) await acceptRows(connection, paths.dir, model, run, accept)
    else if (run.expect !== null) {
      const difference = await compareWithExpected(connection, paths.dir, model, run.expect)
      if (difference !== null) return { problem: null, difference }
    }
  }
  const isEmpty = accept === null && test.runs.every(({ expect }) => expect === null)
  return { problem: isEmpty ? NOTHING_EXPECTED : null, difference: null }
}

const NOTHING_EXPECTED = 'there is no expect.csv; "eider test --accept" writes what comes out'

function modelOf({ models, failed }: CompiledProject, name: string): Model {
  const isMeant = (known: ModelName) => foldCase(known) === foldCase(name)
  for (const model of models.values()) {
    if (!isMeant(model.name)) continue
    if (model.kind !== 'events' && model.kind !== 'seed') return model
    const why = model.kind === 'events' ? 'takes rows from events' : 'is a file'
    throw new ModelFailure(
      `${model.name} ${why}, so there is nothing to test; give its rows in a test of a model that reads it`,
      'placed',
    )
  }
  for (const broken of failed.values()) {
    if (!isMeant(broken.name)) continue
    const [mistake] = broken.mistakes
    throw new ModelFailure(
      mistake === undefined ? `${broken.failedBy} does not compile` : lineOf(mistake),
      'placed',
    )
  }
  const hint = didYouMean(name, models.keys())
  throw new ModelFailure(`no model "${name}"${hint === undefined ? '' : `; ${hint}`}`, 'placed')
}

async function createTable(connection: Connection, { name, columns }: TestInput): Promise<void> {
  const [schema = '', table = ''] = name.split('.')
  const list = columns.map((column) => sql`${sql.ident(column.name)} ${sql.type(column.type)}`)
  await connection.run(sql`CREATE SCHEMA IF NOT EXISTS ${sql.ident(schema)};
    CREATE TABLE ${sql.ident(schema, table)} (${sql.join(list)})`)
}

/** Macros hide the functions of DuckDB of the same names. */
async function stopClock(connection: Connection, now: Date): Promise<void> {
  const time = sql`TIMESTAMPTZ ${sql.value(now.toISOString())}`
  const clocks: Readonly<Record<string, Sql>> = {
    now: time,
    get_current_timestamp: time,
    transaction_timestamp: time,
    current_localtimestamp: sql`(${time})::TIMESTAMP`,
    current_date: sql`(${time})::DATE`,
    today: sql`(${time})::DATE`,
    current_localtime: sql`(${time})::TIMESTAMP::TIME`,
    get_current_time: sql`(${time})::TIMESTAMP::TIME`,
  }
  for (const [name, value] of Object.entries(clocks))
    await connection.run(sql`CREATE OR REPLACE MACRO ${sql.ident(name)}() AS ${value}`)
}

interface Filling {
  readonly connection: Connection
  readonly store: Store
  readonly dir: string
  readonly inputs: Inputs
  readonly number: number
}

/** What a run does not give has the rows of the run before it, and none in the first. */
async function fill(
  { connection, store, dir, inputs, number }: Filling,
  { given }: CaseRun,
): Promise<void> {
  for (const input of inputs.tables) {
    const file = given.find(({ relation }) => foldCase(relation) === foldCase(input.name))
    const [schema = '', table = ''] = input.name.split('.')
    const relation = sql.ident(schema, table)
    if (file !== undefined)
      await inFile(file.path, async () => {
        const { rows } = await readRows(connection, dir, file, {
          relation: input.name,
          columns: input.columns,
        })
        await connection.run(sql`DELETE FROM ${relation}`)
        await connection.run(sql`INSERT INTO ${relation} BY NAME ${rows}`)
        if (input.model?.kind === 'events')
          await asAccepted(connection, relation, input.model, file.path)
      })
    const isKnown = number > 0 && file === undefined
    if (input.model === null || isKnown) continue
    const version = `given ${number}`
    const record = { model: input.model, fingerprint: version, version }
    await store.state.change(connection, () =>
      store.state.recordModels(connection, 'test', [record]),
    )
  }
}

/** As the daemon: the time of arrival is filled in, and what must not be null is not. */
async function asAccepted(
  connection: Connection,
  relation: Sql,
  { name: model, columns }: Model,
  path: string,
): Promise<void> {
  for (const column of columns) {
    const name = sql.ident(column.name)
    if (isReceivedAt(column))
      await connection.run(sql`UPDATE ${relation} SET ${name} = now() WHERE ${name} IS NULL`)
    else if (!column.nullable) {
      const row = await connection.row(sql`SELECT 1 FROM ${relation} WHERE ${name} IS NULL LIMIT 1`)
      if (row !== null)
        throw new ModelFailure(
          `${path}: "${column.name}" of ${model} is NOT NULL, and a row has none`,
          'placed',
        )
    }
  }
}

interface Building {
  readonly connection: Connection
  readonly store: Store
  readonly paths: ProjectPaths
  readonly project: CompiledProject
  readonly inputs: Inputs
  readonly model: Model
  readonly now: Date
}

/** Why the model was not built; null: it was, or nothing has changed. */
async function build(building: Building): Promise<string | null> {
  const { connection, store, paths, inputs, model, now } = building
  const project = projectOf(building)
  const results = new RunResults(now, () => {})
  const { catalog, state } = await store.state.begin(connection, project.models.keys())
  const { runId } = results
  const signal = new AbortController().signal
  const selection = { include: inputs.built.map(({ name }) => name), exclude: [], retry: false }
  const request = { paths, store, project, selection }
  const found = { connection, catalog, state, runId, startedAt: now, signal }
  const context = await readContext(request, found)
  results.selected = context.selected
  const { positions } = state
  const steps = await planSteps(context, { positions, waiting: new Set(), failed: new Map() })
  await buildAll(context, results, steps, { connections: [connection], failFast: false, positions })
  const models = results.summarize().models
  const failure = models.find(({ status }) => status === 'failed')
  if (failure === undefined) return null
  return failure.model === model.name
    ? failure.because
    : `${failure.model} failed: ${failure.because}`
}

/** Checks are about the rows that a project really has, of which a test gives a few. */
function projectOf({ project, inputs }: Building): CompiledProject {
  const built = inputs.built.map((one) => ({ ...one, checks: [] }))
  const given = inputs.tables.flatMap((input) => input.model ?? [])
  const wanted = new Map<ModelName, Model>([...given, ...built].map((one) => [one.name, one]))
  const ordered = [...project.models.keys()].flatMap((name) => wanted.get(name) ?? [])
  const { external: _, ...rest } = project
  return {
    ...rest,
    models: new Map(ordered.map((one) => [one.name, one])),
    failed: new Map(),
    errors: [],
  }
}

async function acceptRows(
  connection: Connection,
  dir: string,
  model: Model,
  { expect, expectPath }: CaseRun,
  accept: NonNullable<TestOptions['accept']>,
): Promise<void> {
  const difference =
    expect === null ? null : await compareWithExpected(connection, dir, model, expect)
  if (expect !== null && difference === null) return
  const columns = difference?.columns ?? model.columns.map(({ name }) => name)
  const texts = columns.map(
    (name) => sql`CAST(${sql.ident(name)} AS VARCHAR) AS ${sql.ident(name)}`,
  )
  const rows = await connection.rows(
    sql`SELECT ${sql.join(texts)} FROM (SELECT * FROM ${relationOf(model.name)} ORDER BY ALL)`,
  )
  await accept(expectPath, columns, rows)
}
