// One test of a model: what it reads is given, what lies between is built in memory as a run builds it, and the rows are
// compared with those that are expected. Nothing of the project's own target is read or written.

import { join } from 'node:path'
import type { CompiledProject, EventsModel, Model } from '../../core/model.ts'
import { foldCase, type ModelName } from '../../core/names.ts'
import type { ProjectPaths } from '../../core/project.ts'
import { Resources } from '../../core/resources.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { type Connection, Database } from '../../duckdb/database.ts'
import { openStore } from '../../store/open.ts'
import type { Store } from '../../store/store.ts'
import { buildAll, replaceMacros } from '../build/build-all.ts'
import { ModelFailure } from '../failure.ts'
import { planSteps } from '../plan/steps.ts'
import { readContext } from '../read-context.ts'
import type { RunContext } from '../run-context.ts'
import type { RowDifference } from '../../core/report/row-difference.ts'
import { temporaryDirectory } from '../../files/temporary-directory.ts'
import { RunResults } from '../results.ts'
import {
  csvText,
  type Compared,
  compareWithExpected,
  expectedColumns,
  OtherOrder,
  textRows,
} from './expected.ts'
import {
  createInput,
  fillInputs,
  type Filling,
  type GivenFile,
  recordGiven,
  type Inputs,
  inputsOf,
  comparedModel,
  type TestedModel,
  testedModel,
} from './inputs.ts'
import {
  type EventsDoor,
  placeOfRefusal,
  postEvents,
  refusalColumns,
  refusalRows,
  type RefusedEvent,
} from './post-events.ts'

interface TestCase {
  readonly model: string
  /** When the first run takes place; each further one is a day later. */
  readonly now: Date
  readonly tolerance: number
  readonly runs: readonly CaseRun[]
}

interface CaseRun {
  readonly given: readonly GivenFile[]
  /** Paths relative to the project directory. */
  readonly expect: string | null
  readonly expectPath: string
  /** Events that the daemon refuses; null: none may be. */
  readonly refused: string | null
  readonly refusedPath: string
}

export interface TestOutcome {
  /** Why it failed, but for rows; null: they alone decide. */
  readonly problem: string | null
  /** The difference of the first run whose rows differ. */
  readonly difference: RowDifference | null
}

export interface TestOptions {
  readonly project: CompiledProject
  readonly paths: ProjectPaths
  readonly memoryLimit: string | null
  readonly test: TestCase
  /** `stateDir`: a directory of the test. */
  readonly openDoor: (stateDir: string) => EventsDoor
  /** Writes what came out where it differs, and where nothing was expected yet; the test then succeeds. */
  readonly accept: ((path: string, text: string) => Promise<void>) | null
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

interface Testing extends Omit<TestOptions, 'openDoor'> {
  readonly connection: Connection
  readonly store: Store
  readonly inputs: Inputs
  readonly model: TestedModel
  readonly door: EventsDoor
}

async function inMemory({ openDoor, ...options }: TestOptions): Promise<TestOutcome> {
  const { project, paths, memoryLimit, test } = options
  const model = testedModel(project, test.model)
  const inputs = inputsOf(
    project,
    model,
    test.runs.flatMap(({ given }) => given),
  )
  await using resources = new Resources()
  const state = await temporaryDirectory(resources, 'eider-test-')
  const database = resources.use(
    await Database.open({
      path: ':memory:',
      searchDir: paths.dir,
      memoryLimit,
      tempDir: join(state, 'engine'),
    }),
  )
  await using connection = await database.connect()
  const snapshots = join(state, 'snapshots')
  const store = openStore({ ...paths, lake: undefined, state, snapshots })
  const { macros } = await store.state.begin(connection, [])
  await replaceMacros(store.state, connection, macros, project.macros)
  for (const input of inputs.tables) await createInput(connection, input)
  const testing = { ...options, connection, store, inputs, model, door: openDoor(state) }
  for (const [number, run] of test.runs.entries()) {
    const outcome = await runOnce(testing, run, number)
    if (outcome !== null) return outcome
  }
  const isEmpty =
    options.accept === null &&
    test.runs.every(({ expect, refused }) => expect === null && refused === null)
  return { problem: isEmpty ? NOTHING_EXPECTED : null, difference: null }
}

const NOTHING_EXPECTED = 'there is no expect.csv; "eider test --accept" writes the actual rows'

/** null where it is as expected. */
async function runOnce(
  testing: Testing,
  run: CaseRun,
  number: number,
): Promise<TestOutcome | null> {
  const { connection, store, paths, inputs, model, test, accept } = testing
  const now = new Date(test.now.getTime() + number * DAY_MS)
  await stopClock(connection, now)
  const filling = { connection, store, dir: paths.dir, inputs, number }
  const posted = postedFiles(testing, run)
  await fillInputs(filling, run.given, new Set(posted.flatMap(({ file }) => file ?? [])))
  const refused: RefusedEvent[] = []
  for (const { file, events } of posted) {
    const found = await postFile(testing, filling, { file, events, now })
    const [first] = found
    if (first !== undefined && file !== null && run.refused === null && accept === null)
      return { problem: placeOfRefusal(first, file), difference: null }
    refused.push(...found)
  }
  const problem = await build(testing, now)
  if (problem !== null) return { problem, difference: null }
  const compared = comparedModel(model, test.tolerance)
  const expected = { expect: run.expect, expectPath: run.expectPath }
  const difference = await compareOrAccept(testing, compared, expected, true)
  if (difference !== null) return { problem: null, difference }
  const ofRefused = {
    relation: 'expect.rejected.csv',
    columns: refusalColumns,
    rows: refusalRows(refused),
    key: ['events', 'line'],
    isOrdered: false,
    tolerance: 0,
  }
  const expectedRefused = { expect: run.refused, expectPath: run.refusedPath }
  const other = await compareOrAccept(testing, ofRefused, expectedRefused, refused.length > 0)
  return other === null ? null : { problem: null, difference: other }
}

/** The time of a test, as the engine tells it: macros hide the functions of DuckDB of the same names. */
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

interface PostedFile {
  /** null: none are posted to the model that is tested, whose table is made all the same. */
  readonly file: GivenFile | null
  readonly events: EventsModel
}

async function postFile(
  testing: Testing,
  filling: Filling,
  { file, events, now }: PostedFile & { readonly now: Date },
): Promise<readonly RefusedEvent[]> {
  const { connection, inputs, model, paths, door } = testing
  const input = inputs.tables.find(({ name }) => name === events.name)
  if (input !== undefined) {
    await connection.run(sql`DELETE FROM ${sql.relation(input.name)}`)
    await recordGiven(filling, input)
  }
  const context = await contextOf(testing, [events.name], now)
  const isTarget = events.name === model.name
  const posting = { door, dir: paths.dir, model: events, file, isTarget }
  const refused = await postEvents(context, posting)
  if (input !== undefined) await recordGiven(filling, input)
  return refused
}

/** Files whose lines are events that are posted; other forms are rows of the table. */
function postedFiles({ inputs, model }: Testing, { given }: CaseRun): readonly PostedFile[] {
  const posted: PostedFile[] = []
  const models = [...inputs.tables.flatMap((input) => input.model ?? []), model]
  for (const file of given) {
    const events = models.find(({ name }) => foldCase(name) === foldCase(file.relation))
    if (events?.kind !== 'events') continue
    if (file.format === 'ndjson') posted.push({ file, events })
    else if (events.name === model.name)
      throw new ModelFailure(
        `${file.path}: the events of ${model.name} are given as they are posted, one JSON object per line, in given/${model.name}.ndjson`,
        'placed',
      )
  }
  if (model.kind === 'events' && posted.length === 0) posted.push({ file: null, events: model })
  return posted
}

interface Expected {
  readonly expect: string | null
  readonly expectPath: string
}

/** `isWritten`: --accept writes the file also where there is none yet. */
async function compareOrAccept(
  { connection, paths, accept }: Testing,
  compared: Compared,
  { expect, expectPath }: Expected,
  isWritten: boolean,
): Promise<RowDifference | null> {
  const { dir } = paths
  if (accept === null)
    return expect === null ? null : await compareWithExpected(connection, dir, compared, expect)
  if (expect === null && !isWritten) return null
  const isOther = expect === null || (await differs())
  if (!isOther) return null
  const columns =
    expect === null ? compared.columns : await expectedColumns(connection, dir, compared, expect)
  const names = columns.map(({ name }) => name)
  const order = compared.isOrdered ? sql.empty : sql` ORDER BY ALL`
  const rows = sql`(SELECT ${sql.idents(names)} FROM ${compared.rows}${order})`
  await accept(expectPath, csvText(names, await textRows(connection, names, rows)))
  return null

  async function differs(): Promise<boolean> {
    try {
      return (await compareWithExpected(connection, dir, compared, expect!)) !== null
    } catch (error) {
      if (error instanceof OtherOrder) return true
      throw error
    }
  }
}

/** Why the model was not built; null: it was, or nothing has changed. */
async function build(testing: Testing, now: Date): Promise<string | null> {
  const { connection, inputs, model } = testing
  const names = inputs.built.map(({ name }) => name)
  const results = new RunResults(now, () => {})
  const context = await contextOf(testing, names, now, results.runId)
  results.selected = context.selected
  const { positions } = context.state
  const none = { waiting: new Set<ModelName>(), failed: new Map(), range: null, by: null }
  const steps = await planSteps(context, { positions, ...none })
  await buildAll(context, results, steps, { connections: [connection], failFast: false, positions })
  const failure = results.summarize().models.find(({ status }) => status === 'failed')
  if (failure === undefined) return null
  return failure.model === model.name
    ? failure.because
    : `${failure.model} failed: ${failure.because}`
}

async function contextOf(
  testing: Testing,
  include: readonly ModelName[],
  startedAt: Date,
  runId = 'test',
): Promise<RunContext> {
  const { connection, store, paths } = testing
  const project = projectOf(testing)
  const { catalog, state } = await store.state.begin(connection, project.models.keys())
  const { signal } = new AbortController()
  const selection = { include, exclude: [], retry: false }
  const found = { connection, catalog, state, runId, startedAt, signal }
  return await readContext({ paths, store, project, selection }, found)
}

/** Checks are about the rows that a project really has, of which a test gives a few. */
function projectOf({ project, inputs }: Testing): CompiledProject {
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
