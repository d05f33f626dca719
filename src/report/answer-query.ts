// The rows of a query: from the warehouse, and while another process holds that from the published snapshot.

import { parseQuery } from '../compiler/sql/query-text.ts'
import { lostNumber } from '../compiler/sources/lost-numbers.ts'
import { engineDiagnostic } from '../compiler/hints/engine-diagnostic.ts'
import { DiagnosticsError } from '../core/diagnostics.ts'
import { EnvironmentError } from '../core/failures.ts'
import { limits } from '../core/limits.ts'
import { spelledAs, splitModelName } from '../core/names.ts'
import type { Column } from '../core/relation.ts'
import type { ExternalSource } from '../core/sources.ts'
import { Resources } from '../core/resources.ts'
import { rowsInAnyOrder, type Snapshot } from '../core/snapshot.ts'
import { type ModelBody, type Sql, sql } from '../core/sql.ts'
import { catalogKey, describe, readEngineCatalog } from '../duckdb/catalog.ts'
import { type Connection, Database } from '../duckdb/database.ts'
import { DatabaseError, isDamage, isFatal, isInterrupt, ownError } from '../duckdb/errors.ts'
import { temporaryDirectory } from '../files/temporary-directory.ts'
import { isDiskFull } from '../files/system-errors.ts'
import { interruptOnAbort } from '../pipeline/interrupt.ts'
import { openWarehouseToRead, withSources } from '../pipeline/open-warehouse.ts'
import { toEnvironmentError } from '../pipeline/failure.ts'
import type { Project } from '../project/project.ts'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/store.ts'
import { isHeld, runAtWork } from '../wiring/reading.ts'
import { withTableHint } from './table-hints.ts'

export interface AskedQuery {
  readonly text: string
  /** null: all rows. */
  readonly limit: number | null
}

/** What becomes of the rows, while they can be read. It is called again where the query had to give way. */
export type TakeRows<T> = (
  connection: Connection,
  rows: Sql,
  columns: readonly Column[],
) => Promise<T>

/** Says on stderr when the answer is that of the snapshot. Throws as parseQuery() and the warehouse do. */
export async function answerQuery<T>(
  project: Project,
  query: AskedQuery,
  take: TakeRows<T>,
): Promise<T> {
  const store = openStore(project.paths)
  try {
    return await fromWarehouse(project, store, query, take)
  } catch (error) {
    if (!isHeld(error) && !(error instanceof GaveWay)) throw error
    const snapshot = await store.snapshots.current()
    if (snapshot === null) throw error
    const why = isHeld(error) ? 'the warehouse is in use' : 'a run was waiting for this query'
    const when = snapshot.publishedAt.toISOString()
    process.stderr.write(
      `${why}; reading snapshot ${snapshot.id}, published ${when}, which holds exposed models only\n`,
    )
    return await fromSnapshot(project, store, snapshot, query, take)
  }
}

/** A query was ended for a run, which would fail if it waited much longer. */
class GaveWay extends EnvironmentError {
  constructor() {
    super('query-gave-way', 'the query was stopped because a run was waiting for the warehouse', {
      hint: 'try again when the run has ended',
    })
  }
}

async function fromWarehouse<T>(
  { paths, settings, files }: Project,
  store: Store,
  query: AskedQuery,
  take: TakeRows<T>,
): Promise<T> {
  const { sources = [], extensions } = files
  const engine = { memoryLimit: settings.memory_limit, extensions }
  const place = { dir: paths.dir, sources }
  await using warehouse = await openWarehouseToRead(store.warehouse, engine, place)
  await using connection = await warehouse.connect()
  using way = giveWayToRuns(store)
  using _interrupts = interruptOnAbort([connection], way.signal)
  try {
    return await answer(connection, query, take, sources)
  } catch (error) {
    if (isInterrupt(error) && way.signal.aborted) throw new GaveWay()
    if (!(error instanceof DiagnosticsError)) throw error
    if (!(await store.warehouse.exists())) throw withHint(error, NEVER_RUN)
    throw await withHints(connection, files.models, query.text, error)
  }
}

/** Where readers keep runs from opening the warehouse. */
function giveWayToRuns(store: Store): Disposable & { readonly signal: AbortSignal } {
  const abort = new AbortController()
  if (!store.warehouse.readersHoldRuns) return { signal: abort.signal, [Symbol.dispose]: () => {} }
  let waitingSince: number | null = null
  const timer = setInterval(() => {
    void runAtWork(store).then((run) => {
      if (run === null) waitingSince = null
      else waitingSince ??= performance.now()
      if (waitingSince !== null && performance.now() - waitingSince >= limits.queryHoldsRunMs)
        abort.abort()
    })
  }, limits.lookForRunMs)
  return { signal: abort.signal, [Symbol.dispose]: () => clearInterval(timer) }
}

async function fromSnapshot<T>(
  { paths, settings, files }: Project,
  { published }: Store,
  { relations }: Snapshot,
  query: AskedQuery,
  take: TakeRows<T>,
): Promise<T> {
  await using resources = new Resources()
  const tempDir = await temporaryDirectory(resources)
  const { extensions } = files
  const memoryLimit = settings.memory_limit
  const engine = { path: ':memory:', searchDir: paths.dir, memoryLimit, extensions }
  const database = resources.use(await Database.open({ ...engine, tempDir }))
  await withSources(database, { dir: paths.dir, sources: files.sources ?? [] })
  await using connection = await database.connect()
  for (const [i, relation] of relations.entries()) {
    const { name, path } = published.open(relation, `_eider_${i}`)
    const { schema, table } = splitModelName(relation.model)
    await connection.run(sql`
      ATTACH ${sql.value(path)} AS ${sql.ident(name)} (READ_ONLY);
      CREATE SCHEMA IF NOT EXISTS ${sql.ident(schema)};
      CREATE VIEW ${sql.ident(schema, table)} AS FROM ${sql.ident(...rowsInAnyOrder(published.rows, relation, name))}`)
  }
  return await answer(connection, query, take, files.sources)
}

export async function answer<T>(
  connection: Connection,
  { text, limit }: AskedQuery,
  take: TakeRows<T>,
  sources: readonly ExternalSource[] = [],
): Promise<T> {
  const body = await parseQuery(connection, text)
  const all = sql`SELECT * FROM (${sql.body(body)}\n)`
  const query = limit === null ? all : sql`${all} LIMIT ${sql.value(limit)}`
  try {
    const columns = await describe(connection, query)
    await refuseLostNumbers(connection, sources, query)
    return await take(connection, query, columns)
  } catch (error) {
    throw queryFailure(error, body)
  }
}

async function refuseLostNumbers(
  connection: Connection,
  sources: readonly ExternalSource[],
  query: Sql,
): Promise<void> {
  const tables = sources.flatMap(({ name, tables: own }) => own.map((one) => `${name}.${one.name}`))
  const lost = await lostNumber(connection, sources, new Set(tables), async () => query)
  if (lost !== null) throw ownError('Invalid Input', `${lost.problem}; ${lost.hint}`)
}

/** A query that DuckDB could bind and not carry out is a mistake in it, as long as the engine and the disk are well. */
function queryFailure(error: unknown, body: ModelBody): unknown {
  if (!(error instanceof DatabaseError) || isInterrupt(error)) return error
  const { details } = error
  const isOurs = details.type === 'Out of Memory' || isFatal(error) || isDamage(error)
  if (isOurs || isDiskFull(error)) return toEnvironmentError(error)
  // A position counts from the start of what was put around the query.
  const placed = engineDiagnostic({ ...details, position: null }, body)
  return new DiagnosticsError([{ ...placed, code: 'query-failed' }])
}

const NEVER_RUN = 'nothing is built yet: "eider run" builds the models'

const withHint = ({ diagnostics }: DiagnosticsError, hint: string) =>
  new DiagnosticsError(
    diagnostics.map((one) => (one.code === 'sql-binding' ? { ...one, hint } : one)),
  )

/** Not as the beginning of a longer name. */
const hasName = (words: string, name: string): boolean =>
  new RegExp(String.raw`(?<!\w)${name.replace('.', String.raw`\.`)}(?!\w)`, 'i').test(words)

/** What to do about a table that is not there. */
async function withHints(
  connection: Connection,
  models: Project['files']['models'],
  text: string,
  error: DiagnosticsError,
): Promise<DiagnosticsError> {
  const { relations } = await readEngineCatalog(connection)
  const words = text.replaceAll('"', '')
  const unbuilt = models.find(({ name }) => {
    const { schema, table } = splitModelName(name)
    return hasName(words, name) && !relations.has(catalogKey(schema, table))
  })
  if (unbuilt !== undefined)
    return withHint(error, `${unbuilt.name} is not built yet: eider run +${unbuilt.name}`)
  const spelled = spelledAs(models.map(({ name }) => name))
  const tables = [...relations.keys()].filter((name) => !name.startsWith('_eider.')).map(spelled)
  return new DiagnosticsError(error.diagnostics.map((one) => withTableHint(one, tables)))
}
