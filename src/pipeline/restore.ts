// `eider restore`: the table of a model gets the rows of an earlier published state, and is published with them. What follows
// the table reads what differs once more; the table itself has read nothing since, as far as the next run is concerned, so
// that it goes on from these rows. Their rules come back with them.

import { count } from '../core/counts.ts'
import { EnvironmentError, UsageError } from '../core/failures.ts'
import { hashOf } from '../core/hash.ts'
import { kinds } from '../core/kinds.ts'
import type { Logger } from '../core/logger.ts'
import type { ColumnRename, CompiledProject, Model } from '../core/model.ts'
import { type ModelName, sameName } from '../core/names.ts'
import type { ProjectPaths } from '../core/project.ts'
import type { Column } from '../core/relation.ts'
import type { PublishedRelation } from '../core/snapshot.ts'
import { type Sql, sql } from '../core/sql.ts'
import { withoutSystems } from '../core/type-syntax.ts'
import { describe } from '../duckdb/catalog.ts'
import type { Connection } from '../duckdb/database.ts'
import type { TouchedColumn } from '../store/changes.ts'
import type { KeptState } from '../store/past-states.ts'
import type { Published, Retention } from '../store/snapshots.ts'
import type { Known, ModelRecord, NewRecord } from '../store/state.ts'
import type { Store } from '../store/store.ts'
import { isLosslessWidening } from './build/materialize/widening.ts'
import { countRows, relationType } from './build/materialize/relation.ts'
import { pendingRenames, renamedTable, withRenames } from './build/materialize/renames.ts'
import { checkKey } from './build/materialize/stage.ts'
import { checksOfTables, judgeRows } from './build/run-checks.ts'
import { followedColumns } from './changes/notes.ts'
import { rangesIn } from './changes/ranges.ts'
import { refuseUnfinished } from './erase/record.ts'
import { ModelFailure } from './failure.ts'
import { formerNames } from './former-names.ts'
import { ruleAt } from './history.ts'
import { RESTORED } from './plan/decide.ts'
import { recordWork, workOn } from './record-work.ts'
import {
  nameAt,
  recordedNames,
  type RecordedName,
  recordedRenamings,
} from './rename/recorded-names.ts'
import type { Clients } from './guard-clients.ts'
import { publishNow } from './republish.ts'
import { RunResults } from './results.ts'

interface RestoreRequest {
  readonly opened: Store & { readonly connection: Connection }
  readonly paths: ProjectPaths
  readonly project: CompiledProject
  readonly model: Model
  readonly state: KeptState
  readonly stateText: string
  /** Changes nothing. */
  readonly dryRun: boolean
  readonly retention: Retention
  readonly logger: Logger
  readonly clients: Clients
  /** For crash tests: called in the transaction, and after it. */
  readonly onStep?: (step: 'written' | 'committed') => void
}

interface Restored {
  readonly model: ModelName
  /** Rows that come back, and rows that go. */
  readonly rowsIn: number
  readonly rowsOut: number
  readonly rowsAfter: number
  /** null: nothing was changed. */
  readonly published: Published | null
}

/**
 * Under the lock of a run. Throws UsageError for a table that no state can give back, EnvironmentError `state-not-kept`,
 * `state-damaged`, `erase-unfinished`, and `not-published` once the rows are back.
 */
export async function restoreTable(request: RestoreRequest): Promise<Restored> {
  const { opened, project, model, dryRun } = request
  const { connection, state } = opened
  await refuseUnfinished(request.paths)
  const known = await state.begin(connection, project.models.keys())
  const record = requireTable(known, model)
  const had = recordedNames(await recordedRenamings(connection, await state.allRuns()), model.name)
  const relation = await relationOf(request, had)
  const table = sql.relation(model.name)
  const now = await describe(connection, sql`FROM ${table}`)
  const renames = renamesSince(model, relation.columns, now)
  const then = withRenames(relation.columns, renames)
  refuseOtherColumns(model, now, then)
  await readRows(request, relation, renames)
  await requireKeys(connection, model)
  const names = sql.join(then.map(({ name }) => sql.ident(name)))
  const gone = sql`(SELECT ${names} FROM ${table} EXCEPT ALL SELECT ${names} FROM ${ROWS})`
  const come = sql`(SELECT ${names} FROM ${ROWS} EXCEPT ALL SELECT ${names} FROM ${table})`
  const rowsIn = await countRows(connection, come)
  const rowsOut = await countRows(connection, gone)
  const counts = { model: model.name, rowsIn, rowsOut, rowsAfter: relation.rows }
  if (dryRun || rowsIn + rowsOut === 0) return { ...counts, published: null }
  const { runId, startedAt } = new RunResults(new Date(), () => {})
  const version = hashOf(16, [record.version, runId])
  const rules = await rulesOf(request, record, had)
  const changes = followedColumns({ store: opened }, model).length > 0
  if (changes) await state.makeChanges(connection)
  const checks = await checksOfTables(connection, model)
  await state.change(connection, async () => {
    const touched = await touchedBy(request, sql`(FROM ${gone} UNION ALL FROM ${come})`)
    const target = await opened.tables.written(connection, model.name)
    await connection.run(sql`DELETE FROM ${target.table}`)
    const rows = await target.rows(sql`SELECT ${names} FROM ${ROWS}`)
    await connection.run(sql`INSERT INTO ${target.table} BY NAME ${rows}`)
    const warnings = await requireChecks(connection, { ...model, checks })
    for (const one of rules) await state.recordModels(connection, runId, [{ ...one, version }])
    await state.changes.record(
      connection,
      model.name,
      { before: record.version, after: version },
      touched,
    )
    await state.changes.forget(connection, model.name)
    await state.changes.forgotten.endRemade(connection, model.name)
    const because = `restored to the state of ${request.state.publishedAt.toISOString()}`
    const { definition } = rules[0]!.model
    const done = {
      way: 'restore',
      because,
      rows_in: rowsIn,
      rows_changed: 0,
      rows_out: rowsOut,
      warnings,
    } as const
    const models = [await workOn(connection, model.name, { definition }, done)]
    await recordWork(connection, { command: 'restore', runId, startedAt, models })
    request.onStep?.('written')
  })
  await connection.run(sql`DROP TABLE ${ROWS}`)
  request.onStep?.('committed')
  const versions = new Map([[model.name, version]])
  return { ...counts, published: await publishNow({ ...request, versions, runId, now: startedAt }) }
}

const ROWS = sql`temp.main._eider_restored`

/** What the next run makes of the rows, in one line. */
export const NEXT_RUN: Readonly<Record<Model['kind'], string>> = {
  table:
    'the next run builds it again from its SELECT, which undoes this: change the model or what it reads first',
  seed: 'the next run reads its file again, which undoes this: put the file back first',
  append:
    'the next run continues from its newest row, and adds again what has come since, where the source still has it',
  merge: 'the next run merges what its SELECT gives now: rows with these keys are replaced again',
  period: 'the next run builds the newest periods again, and those that were built since',
  scd2: 'versions that have begun or ended since are forgotten: the next run ends and begins them at the time when it starts',
  view: '',
  events: '',
}

/** Throws UsageError for what is no table that a run has built, and for one whose rows exist nowhere else. */
function requireTable({ state, catalog }: Known, model: Model): ModelRecord {
  const { name, kind } = model
  if (kinds[kind].relation === 'view')
    throw new UsageError(`${name} is a view, which has no rows`, {
      hint: 'restore the tables that it reads; eider query --at shows what it gave',
    })
  if (kind === 'events')
    throw new UsageError(
      `${name} holds events: those that came since exist nowhere else, and would be lost`,
      { hint: 'eider query --at shows what was there' },
    )
  const record = state.models.get(name)
  if (record === undefined || record.removed || relationType(catalog, name) !== 'table')
    throw new UsageError(`${name} is not in the warehouse yet`, {
      hint: `build it first: eider run ${name}`,
    })
  if (record.kind === kind) return record
  throw new UsageError(`${name} was built as kind ${record.kind}, and is of kind ${kind} now`, {
    hint: `run it first: eider run ${name}`,
  })
}

async function relationOf(
  request: RestoreRequest,
  had: readonly RecordedName[],
): Promise<PublishedRelation> {
  const { opened, model, state, stateText } = request
  const { past } = opened
  const { name } = model
  const snapshot = await past.find(state)
  if (snapshot === null)
    throw new EnvironmentError('state-not-kept', `the state of ${stateText} is no longer kept`, {
      hint: `eider history ${name} shows which are`,
    })
  const then = nameAt(had, state.publishedAt)
  if (then === null)
    throw new UsageError(`what the state of ${stateText} has as ${name} is another table now`, {
      hint: `it was renamed since, and ${name} was made after that: eider history ${name}`,
    })
  const relation = snapshot.relations.find((one) => sameName(one.model, then))
  if (relation === undefined) throw notInState(request, snapshot.relations)
  const problem = await past.problemOf(relation)
  if (problem !== null) throw damaged(stateText, `${name}: ${problem}`)
  return relation
}

/** A state has models under the names that they had then. */
function notInState(
  { project, model: { name, columns, expose }, state, stateText }: RestoreRequest,
  relations: readonly PublishedRelation[],
): UsageError {
  if (expose === null)
    return new UsageError(`${name} is not exposed, so no published state has its rows`, {
      hint: 'a state holds models with @expose only',
    })
  const names = formerNames(columns, relations, project.models.keys())
  const [first] = names
  if (first === undefined)
    return new UsageError(`the state of ${stateText} does not have ${name}`, {
      hint: 'a state holds models that were exposed then',
    })
  return new UsageError(
    `the state of ${stateText} does not have ${name}, but ${names.join(', ')}, which no file makes any more`,
    {
      hint: `if it was renamed since, give it the name of then: eider mv ${name} ${first}, eider restore ${first} --at ${state.runId} --yes, eider mv ${first} ${name}`,
    },
  )
}

const damaged = (state: string, problem: string, cause?: unknown) =>
  new EnvironmentError('state-damaged', `the state of ${state}: ${problem}`, {
    hint: 'nothing was changed; restore another state, or the file from a backup',
    cause,
  })

/** What the model says of columns that the state has under the name of then. */
function renamesSince(
  model: Model,
  then: readonly Column[],
  now: readonly Column[],
): readonly ColumnRename[] {
  const hasNow = (name: string) => now.some((column) => sameName(column.name, name))
  const made = pendingRenames(model, then).filter(({ from, to }) => hasNow(to) && !hasNow(from))
  return made.filter((one) => !made.some((other) => other !== one && sameName(other.to, one.to)))
}

/** All columns must be there, and none may lose a value: what the table has and the state has not would be lost. */
function refuseOtherColumns(
  { name }: Model,
  now: readonly Column[],
  then: readonly Column[],
): void {
  const missing = now.filter((one) => !then.some((column) => sameName(column.name, one.name)))
  const gone = then.filter((one) => !now.some((column) => sameName(column.name, one.name)))
  const problems = [
    ...missing.map((one) => `the state has no "${one.name}", whose values would be lost`),
    ...gone.map((one) => `the table has no "${one.name}" any more`),
    ...then.flatMap((column) => {
      const found = now.find((one) => sameName(one.name, column.name))
      if (found === undefined) return []
      const [was, is] = [withoutSystems(column.type), withoutSystems(found.type)]
      const fits = is === was || isLosslessWidening(was, is)
      return fits ? [] : [`"${column.name}" was ${column.type} and is ${found.type}`]
    }),
  ]
  if (problems.length === 0) return
  const renamed =
    missing.length > 0 && gone.length > 0
      ? 'where only the name differs, write -- @renamed_from new: old in the model; '
      : ''
  throw new UsageError(`${name} had other columns then: ${problems.join('; ')}`, {
    hint: `nothing was changed; ${renamed}eider query --at reads what was there`,
  })
}

/** Before anything is changed, so that damage is met before a row goes. */
async function readRows(
  { opened: { past, connection }, stateText }: RestoreRequest,
  relation: PublishedRelation,
  renames: readonly ColumnRename[],
): Promise<void> {
  try {
    const query = (await past.attach(connection, [relation])).get(relation.model)!
    const rows = sql`FROM ${renamedTable(sql`(${query})`, renames)}`
    await connection.run(sql`CREATE OR REPLACE TEMP TABLE _eider_restored AS ${rows}`)
  } catch (error) {
    if (!past.isLost(error)) throw error
    throw damaged(stateText, `rows of ${relation.model} are damaged`, error)
  }
  const rows = await countRows(connection, ROWS)
  if (rows !== relation.rows)
    throw damaged(
      stateText,
      `${count(rows, 'row')} of ${relation.model}, and ${relation.rows} were published`,
    )
}

/** A key may have been chosen since. */
async function requireKeys(connection: Connection, model: Model): Promise<void> {
  const unique =
    model.kind === 'merge' || model.kind === 'period' || model.kind === 'append'
      ? model.uniqueKey
      : []
  try {
    await checkKey(connection, ROWS, unique, 'unique_key', '')
    await checkKey(connection, ROWS, model.expose?.key ?? [], 'expose', '')
  } catch (error) {
    if (!(error instanceof ModelFailure)) throw error
    const problem = error.message.replace(/; $/, '')
    throw new UsageError(`the rows of then do not have the key of ${model.name}: ${problem}`, {
      hint: 'nothing was changed; the model has another key than it had then',
    })
  }
}

/** In the transaction of the restore. A check may have come since. Returns a line for each `@warn` that found rows. */
async function requireChecks(connection: Connection, model: Model): Promise<readonly string[]> {
  const { problem, warnings } = await judgeRows(connection, model)
  if (problem === null) return warnings
  throw new UsageError(`the rows of then fail a check: ${problem}`, {
    hint: 'nothing was changed; to have them nevertheless, make the @check a @warn first',
  })
}

async function touchedBy(
  { opened, model }: RestoreRequest,
  differing: Sql,
): Promise<readonly TouchedColumn[]> {
  const touched: TouchedColumn[] = []
  for (const { name, type } of followedColumns({ store: opened }, model)) {
    const values = sql`SELECT ${sql.ident(name)} AS v FROM ${differing}`
    touched.push({ column: name, ranges: await rangesIn(opened.connection, values, type) })
  }
  return touched
}

/** What is to be recorded, in this order: the rules that had made the rows by then. */
async function rulesOf(
  { opened, model, state: { publishedAt } }: RestoreRequest,
  record: ModelRecord,
  had: readonly RecordedName[],
): Promise<readonly [Omit<NewRecord, 'version'>, ...Omit<NewRecord, 'version'>[]]> {
  const { connection, state } = opened
  const { name, kind } = model
  // No definition is known to have made rows of which no run has recorded one, so they count as those of another.
  const definition = (await ruleAt(opened, had, publishedAt)) ?? hashOf(32, ['restored', name])
  const rule =
    definition === record.definition
      ? record.fingerprint.split('.').filter((part) => part.startsWith('rule-'))
      : []
  const made = { model: { name, kind, definition }, fingerprint: [RESTORED, ...rule].join('.') }
  const now = await state.readSlices(connection, [name])
  const ranges = await state.readSlices(connection, [name], publishedAt)
  const left = (await state.olderRows.read(connection, [name], publishedAt)).get(name)
  const isRanged = now.length + ranges.length > 0
  if (isRanged) await state.makeSlices(connection)
  if (left === undefined) return [{ ...made, ranges, isNewTable: isRanged }]
  await state.makeOlderRows(connection)
  return [
    { ...made, ranges, isNewTable: isRanged },
    { ...made, left },
  ]
}
