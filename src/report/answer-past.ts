// The rows of a query on a published state that stood earlier. It holds exposed models only, and nothing else is attached:
// sources are as they are now.

import { DiagnosticsError } from '../core/diagnostics.ts'
import { EnvironmentError } from '../core/failures.ts'
import { sameName, splitModelName } from '../core/names.ts'
import { Resources } from '../core/resources.ts'
import type { PublishedRelation, Snapshot } from '../core/snapshot.ts'
import { sql } from '../core/sql.ts'
import type { Connection } from '../duckdb/database.ts'
import { temporaryDirectory } from '../files/temporary-directory.ts'
import { formerNames } from '../pipeline/former-names.ts'
import type { Project } from '../project/project.ts'
import { openStore } from '../store/open.ts'
import type { KeptState } from '../store/past-states.ts'
import type { Store } from '../store/store.ts'
import { answer, type AskedQuery, type TakeRows } from './answer-query.ts'
import { findPastState, stateText } from './past-state.ts'

/** `isQuiet`: does not say on stderr which state it is. Throws as findPastState() and answerQuery() do. */
export async function answerPast<T>(
  { paths, settings, files }: Project,
  query: AskedQuery,
  { at, isQuiet }: { readonly at: string; readonly isQuiet: boolean },
  take: TakeRows<T>,
): Promise<T> {
  await using resources = new Resources()
  const tempDir = await temporaryDirectory(resources)
  const store = openStore(paths)
  const { extensions } = files
  const engine = { memoryLimit: settings.memory_limit, tempDir, extensions }
  const database = resources.use(await store.past.openEngine(engine))
  const state = await findPastState({ paths, store, engine, at, now: new Date() })
  const snapshot = await store.past.find(state)
  if (snapshot === null) throw isGone(state)
  if (!isQuiet) process.stderr.write(`reading the state of ${stateText(state)}\n`)
  const connection = resources.use(await database.connect())
  try {
    const named = namedIn(query.text, snapshot)
    await requireWhole(store, named, state)
    await makeViews(connection, store, named)
    return await answer(connection, query, take)
  } catch (error) {
    if (error instanceof DiagnosticsError) {
      const renamed = await renamedSince(error, { store, files, state, snapshot })
      throw renamed ?? withHint(error, snapshot)
    }
    if (!store.past.isLost(causeOf(error))) throw error
    throw damaged(state, 'rows of it are damaged', error)
  }
}

/** Those whose name occurs; all where none does, as in SHOW TABLES. A lake of a thousand sets is attached once for each. */
function namedIn(text: string, { relations }: Snapshot): readonly PublishedRelation[] {
  const words = text.toLowerCase()
  const named = relations.filter(({ model }) =>
    words.includes(splitModelName(model).table.toLowerCase()),
  )
  return named.length === 0 ? relations : named
}

async function requireWhole(
  { past }: Store,
  relations: readonly PublishedRelation[],
  state: KeptState,
): Promise<void> {
  for (const relation of relations) {
    const problem = await past.problemOf(relation)
    if (problem !== null) throw damaged(state, `${relation.model}: ${problem}`)
  }
}

async function makeViews(
  connection: Connection,
  { past }: Store,
  relations: readonly PublishedRelation[],
): Promise<void> {
  const queries = await past.attach(connection, relations)
  await connection.run(sql`USE memory`)
  for (const [model, query] of queries) {
    const { schema, table } = splitModelName(model)
    await connection.run(sql`
      CREATE SCHEMA IF NOT EXISTS ${sql.ident(schema)};
      CREATE VIEW ${sql.ident(schema, table)} AS ${query}`)
  }
}

const causeOf = (error: unknown): unknown =>
  error instanceof EnvironmentError && error.cause !== undefined ? error.cause : error

const damaged = (state: KeptState, problem: string, cause?: unknown) =>
  new EnvironmentError('state-damaged', `the state of ${stateText(state)}: ${problem}`, {
    hint: 'ask for another state, or restore the file from a backup',
    cause,
  })

const isGone = (state: KeptState) =>
  new EnvironmentError('state-not-kept', `the state of ${stateText(state)} has just gone`, {
    hint: 'a run has published another one meanwhile; ask again',
  })

interface Missed {
  readonly store: Store
  readonly files: Project['files']
  readonly state: KeptState
  readonly snapshot: Snapshot
}

/** null: what is not there is no model of the project, or the state has none that may have been it. */
async function renamedSince(
  { diagnostics }: DiagnosticsError,
  { store, files, state, snapshot }: Missed,
): Promise<DiagnosticsError | null> {
  const [found] = diagnostics
  if (found === undefined || found.code !== 'sql-binding' || !/does not exist/.test(found.message))
    return null
  const { source, span } = found
  const written = source.text.slice(span.start, span.end).replaceAll('"', '')
  const known = [...files.models, ...files.seeds].map(({ name }) => name)
  const asked = known.find((name) => sameName(name, written))
  if (asked === undefined || snapshot.relations.some(({ model }) => sameName(model, asked)))
    return null
  const newest = (await store.past.list()).states.at(-1)
  const now = newest && (await store.past.find(newest))
  const columns = now?.relations.find(({ model }) => sameName(model, asked))?.columns ?? null
  const names = formerNames(columns, snapshot.relations, known)
  if (names.length === 0) return null
  const message = `the state of ${stateText(state)} does not have ${asked}, but ${names.join(', ')}, which no file makes any more`
  const hint = `if it was renamed since, ask for the name of then: FROM ${names[0]}`
  return new DiagnosticsError([{ ...found, message, hint }])
}

/** What is not there may be in the warehouse, where nobody keeps what it was. */
function withHint({ diagnostics }: DiagnosticsError, { relations }: Snapshot): DiagnosticsError {
  const names = relations.map(({ model }) => model)
  const some = names.slice(0, NAMED).join(', ') + (names.length > NAMED ? ', …' : '')
  return new DiagnosticsError(
    diagnostics.map((one) => {
      if (one.code !== 'sql-binding' || !/does not exist/.test(one.message)) return one
      const hint = `a published state holds exposed models only: ${some || 'this one has none'}`
      return one.hint?.startsWith('did you mean') ? one : { ...one, hint }
    }),
  )
}

const NAMED = 10
