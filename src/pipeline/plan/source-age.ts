// How old the rows of sources are, by the greatest value of their `loaded_at`: those that read a table that is too old
// get a warning, or fail and keep their last good version.

import { problemOfMissing } from '../../compiler/sources/missing-tables.ts'
import { count } from '../../core/counts.ts'
import { lineOf } from '../../core/diagnostics.ts'
import type { Age, CompiledExternal } from '../../core/sources.ts'
import type { CompiledProject, Model } from '../../core/model.ts'
import type { ModelName } from '../../core/names.ts'
import { sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { DatabaseError, isInterrupt } from '../../duckdb/errors.ts'
import { numberOf } from '../../duckdb/values.ts'
import { problemOfRows } from '../failure.ts'

const MAX_DATE_MS = 8.64e15

export interface SourceAge {
  readonly source: string
  readonly state: 'fresh' | 'warn' | 'error'
  /** In one line, for people. */
  readonly text: string
}

type KnownSources = Pick<NonNullable<CompiledProject['external']>, 'sources' | 'problems'>

export const NO_SOURCES: KnownSources = { sources: [], problems: new Map() }

/** By name, of the sources that say when they were loaded, and of those that cannot be read. */
export async function readSourceAges(
  connection: Connection,
  tables: readonly CompiledExternal[],
  { sources, problems }: KnownSources,
  now: Date,
): Promise<ReadonlyMap<string, SourceAge>> {
  const found = new Map<string, SourceAge>()
  for (const table of tables) {
    const mistake = problems.get(table.name)
    const age =
      mistake === undefined
        ? await unlessUnreadable({ connection, sources }, table, () =>
            readAge(connection, table, now),
          )
        : ({ source: table.name, state: 'error', text: lineOf(mistake) } as const)
    if (age !== null) found.set(table.name, age)
  }
  return found
}

interface Asked {
  readonly connection: Connection
  readonly sources: KnownSources['sources']
}

/** What cannot be read to its end is an error of those that read it, not of the run. */
async function unlessUnreadable(
  { connection, sources }: Asked,
  { name }: CompiledExternal,
  read: () => Promise<SourceAge | null>,
): Promise<SourceAge | null> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof DatabaseError) || isInterrupt(error)) throw error
    const missing = await problemOfMissing(connection, sources, new Set([name]), error.message)
    const text = missing ?? `the source ${name} cannot be read: ${problemOfRows(error)}`
    return { source: name, state: 'error', text }
  }
}

/** null where it says no time. */
async function readAge(
  connection: Connection,
  table: CompiledExternal,
  now: Date,
): Promise<SourceAge | null> {
  const rows = sql.relation(table.name)
  if (table.loadedAt === null) {
    await connection.row(sql`SELECT 1 FROM ${rows} LIMIT 0`) // it may have gone since the compile
    return null
  }
  // Infinity marks rows without an end, and says nothing of the last load.
  const time = sql`${sql.ident(table.loadedAt)}::TIMESTAMPTZ`
  const row = await connection.row(sql`
    SELECT epoch_ms(max(${time}) FILTER (isfinite(${time})))::DOUBLE AS ms,
      count(*) AS n, count(${time}) AS times FROM ${rows}`)
  const ms = row?.['ms'] ?? null
  // DuckDB's latest times are after the last one of a Date.
  const loadedMs = ms === null ? null : Math.min(numberOf(ms), MAX_DATE_MS)
  return judge(
    table,
    { loadedMs, rows: numberOf(row?.['n']), times: numberOf(row?.['times']) },
    now,
  )
}

export const sourcesRead = (
  models: CompiledProject['models'],
  selected: Iterable<ModelName>,
): ReadonlySet<string> =>
  new Set(Array.from(selected, (name) => models.get(name)?.sources ?? []).flat())

/** A line for each source that the model reads and that is too old: a warning or an error. */
export function staleInputs(
  { sources }: Pick<Model, 'sources'>,
  ages: ReadonlyMap<string, SourceAge>,
  state: 'warn' | 'error',
): readonly string[] {
  return sources.flatMap((name) => {
    const found = ages.get(name)
    return found?.state === state ? [found.text] : []
  })
}

/** Times without a zone may be those of any. */
const AHEAD_MS = 86_400_000

const timeOf = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z')

interface Loaded {
  readonly loadedMs: number | null
  readonly rows: number
  /** Rows with a time, be it infinity. */
  readonly times: number
}

function neverLoaded({ loadedAt }: CompiledExternal, { rows, times }: Loaded): string {
  if (rows === 0) return 'has no rows'
  const where = rows === 1 ? 'its one row' : `all ${count(rows, 'row')}`
  return `does not say when it was loaded: "${loadedAt}" is ${times === 0 ? 'NULL' : 'NULL or infinity'} in ${where}`
}

function judge(table: CompiledExternal, loaded: Loaded, now: Date): SourceAge {
  const { name, warnAfter, errorAfter } = table
  const { loadedMs } = loaded
  const isOver = (age: Age | null) =>
    age !== null && (loadedMs === null || now.getTime() - loadedMs > age.ms)
  const isAhead = loadedMs !== null && loadedMs - now.getTime() > AHEAD_MS
  if (isAhead && (warnAfter ?? errorAfter) !== null) {
    const text = `the source ${name} was last loaded at ${timeOf(loadedMs)}, which is in the future, so nobody knows how old it is`
    return { source: name, state: 'warn', text }
  }
  const state = isOver(errorAfter) ? 'error' : isOver(warnAfter) ? 'warn' : 'fresh'
  const last =
    loadedMs === null ? neverLoaded(table, loaded) : `was last loaded at ${timeOf(loadedMs)}`
  const limit =
    state === 'fresh'
      ? ''
      : state === 'error'
        ? `, error_after ${errorAfter?.text}`
        : `, warn_after ${warnAfter?.text}`
  return { source: name, state, text: `the source ${name} ${last}${limit}` }
}
