// What the catalog says of runs: those it knew already, and those that the warehouse has recorded since.

import type {
  Catalog,
  CatalogBuild,
  CatalogFailure,
  CatalogLastRun,
  CatalogRun,
  CatalogState,
  RejectedEvents,
} from '../../core/catalog.ts'
import { limits } from '../../core/limits.ts'
import { sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { numberOf, textOf } from '../../duckdb/values.ts'
import type { ModelResult } from '../../core/report/progress.ts'
import type { describeResults } from '../artifacts.ts'
import type { Renamed } from '../record-work.ts'

/** The part of a catalog that each run changes. */
export type PastRuns = Pick<Catalog, 'runs' | 'last_run' | 'rejected' | 'states'>

/** The models that are spoken of, by name, with what each reads. */
export type SpokenOf = ReadonlyMap<
  string,
  { readonly dependsOn: readonly string[]; readonly fresh?: { readonly seconds: number } }
>

/** In the form of docs/schemas/run_results.json. */
export type Results = ReturnType<typeof describeResults>

export const NO_RUNS: PastRuns = { runs: [], last_run: null, rejected: [], states: {} }

/**
 * `before` is what the last catalog said; null makes all of it from what is recorded. Nothing is said of models that are
 * not among `models`.
 */
export async function readPastRuns(
  connection: Connection,
  before: PastRuns | null,
  models: SpokenOf,
): Promise<PastRuns> {
  const known = before ?? NO_RUNS
  const results = await resultsSince(connection, known.runs[0])
  // What was said before an erasure may show what was erased. The warehouse has it without.
  if (before !== null && results.some(isErasure)) return readPastRuns(connection, null, models)
  const isSameEvents = before !== null && results.every(({ flushed }) => flushed.length === 0)
  const runs = withRuns(known, results, models)
  return isSameEvents ? runs : { ...runs, rejected: await rejectedEvents(connection) }
}

/** `results`: of later runs, oldest first. Nothing is said of models that are not among `models`. */
export function withRuns(known: PastRuns, results: readonly Results[], models: SpokenOf): PastRuns {
  const states = new Map(Object.entries(known.states))
  for (const run of results) for (const result of run.models) addState(states, run, result, models)
  const [newest] = results.slice(-1)
  return {
    runs: [...results.map(numbersOf).toReversed(), ...known.runs].slice(0, limits.catalogRuns),
    last_run: newest === undefined ? known.last_run : lastRunOf(newest),
    rejected: known.rejected,
    states: Object.fromEntries([...states].filter(([name]) => models.has(name))),
  }
}

const isErasure = (run: Results) => 'command' in run && run.command === 'erase'

const isRenamed = (result: ModelResult): result is Renamed => 'renamed_from' in result

/** Oldest first. */
async function resultsSince(
  connection: Connection,
  last: CatalogRun | undefined,
): Promise<readonly Results[]> {
  const since =
    last === undefined
      ? sql`true`
      : sql`started_at >= ${sql.value(last.started_at)}::TIMESTAMPTZ AND run_id <> ${sql.value(last.run_id)}`
  const rows = await connection.rows(sql`
    SELECT summary::VARCHAR AS summary FROM _eider.runs WHERE ${since}
    ORDER BY started_at DESC, finished_at DESC LIMIT ${sql.value(limits.catalogRuns)}`)
  return rows.map(({ summary }) => JSON.parse(textOf(summary)) as Results).toReversed()
}

function addState(
  states: Map<string, CatalogState>,
  run: Results,
  result: Results['models'][number],
  models: SpokenOf,
): void {
  if (isRenamed(result)) {
    const state = states.get(result.renamed_from)
    if (state !== undefined) states.set(result.model, state)
    return
  }
  const { run_id: runId, started_at: at } = run
  const { model, status, because, ms, rows, warnings = [] } = result
  const freshAt = freshAfter(states, run, result, models)
  const within = models.get(model)?.fresh?.seconds
  const before = states.get(model)
  const isBuilt = status === 'built'
  // Whatever is not built has the rows of its last build, with what its checks found in them.
  const shown = isBuilt ? warnings : (before?.warnings ?? [])
  const build: CatalogBuild = { at, rows: rows ?? null, ms }
  const builds = [...(isBuilt ? [build] : []), ...(before?.builds ?? [])]
  states.set(model, {
    run_id: runId,
    at,
    status,
    because,
    ms,
    warnings: shown,
    warned: shown.length,
    builds: builds.slice(0, limits.catalogBuilds),
    ...(freshAt === undefined ? {} : { fresh_at: freshAt }),
    ...(within === undefined ? {} : { fresh_within: within }),
  })
}

/**
 * What came before a run began is in its events tables when it ends, and in all that it builds after them. A model has no
 * more than the least of what it reads, which the run may have left out or failed to build.
 */
function freshAfter(
  states: ReadonlyMap<string, CatalogState>,
  run: Results,
  { model, status, because }: Results['models'][number],
  models: SpokenOf,
): string | undefined {
  const before = states.get(model)?.fresh_at
  const isWhole = status === 'unchanged' || (status === 'built' && because !== 'backfill')
  // Other commands are kept among the runs, and take no events.
  if (!isWhole || 'command' in run) return before
  let least = run.started_at
  for (const input of models.get(model)?.dependsOn ?? []) {
    const of = states.get(input)?.fresh_at
    if (of === undefined) return before
    if (of < least) least = of
  }
  return before !== undefined && before > least ? before : least
}

function numbersOf({ run_id, started_at, ms, ok, models, flushed }: Results): CatalogRun {
  const count = (status: string) => models.filter((model) => model.status === status).length
  const failures = failuresIn(models)
  const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0)
  return {
    run_id,
    started_at,
    ms,
    ok,
    built: count('built'),
    unchanged: count('unchanged'),
    failed: count('failed'),
    skipped: count('skipped'),
    warned: sum(models.map(({ warnings = [] }) => warnings.length)),
    events: sum(flushed.map(({ events }) => events)),
    rejected: sum(flushed.map(({ rejected }) => rejected)),
    ...(failures.length === 0 ? {} : { failures }),
  }
}

/** The first of them, and the beginning of each reason. */
function failuresIn(models: Results['models']): readonly CatalogFailure[] {
  return models
    .filter(({ status }) => status === 'failed')
    .slice(0, limits.catalogFailures)
    .map(({ model, because }) => ({ model, because: startOf(because) }))
}

const startOf = (text: string) =>
  text.length <= limits.catalogReasonCharacters
    ? text
    : `${text.slice(0, limits.catalogReasonCharacters)}…`

const lastRunOf = ({ run_id, flushed, models }: Results): CatalogLastRun => ({
  run_id,
  flushed,
  models,
})

/** Events with the same mistake in different values are one. */
async function rejectedEvents(connection: Connection): Promise<readonly RejectedEvents[]> {
  const rows = await connection.rows(sql`
    SELECT "target", arg_min(reason, rejected_at) AS reason, count(*) AS events,
      epoch_ms(max(rejected_at)) AS last_ms
    FROM _eider.rejected_events
    GROUP BY "target", regexp_replace(reason, 'cannot read .*? as ', '', 'g')
    ORDER BY events DESC, "target", reason LIMIT ${sql.value(limits.catalogReasons)}`)
  return rows.map(({ target, reason, events, last_ms }) => ({
    model: textOf(target),
    reason: textOf(reason),
    events: numberOf(events),
    last_at: new Date(numberOf(last_ms)).toISOString(),
  }))
}
