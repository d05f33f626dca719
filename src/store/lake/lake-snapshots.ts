// Published states in a lake. A run says which state of each exposed table is published; services get the rows from
// `eider pull`, which copies them into files.

import { mkdir } from 'node:fs/promises'
import { EnvironmentError } from '../../core/failures.ts'
import { LAKE_DATABASE, STORED_SCHEMA } from '../../core/lake.ts'
import { limits } from '../../core/limits.ts'
import { foldCase, type ModelName, splitModelName } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import { asStored, storedType } from '../../core/stored-types.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { isConflict } from '../../duckdb/errors.ts'
import { numberOf, textOf } from '../../duckdb/values.ts'
import { fileOf } from '../files/published-file.ts'
import { readCatalog, retainedOf, writeCatalog } from '../files/snapshot-directory.ts'
import type {
  ChooseRelations,
  Content,
  NewRows,
  Published,
  PublishOptions,
  SnapshotStore,
} from '../snapshot-store.ts'
import { UnstorableError } from '../table-storage.ts'
import type { LakeSession } from './lake-session.ts'
import type { LakeState } from './lake-state.ts'
import {
  evaluatedTable,
  identityOf,
  type LakeRelation,
  type LakeSnapshot,
  type NewestState,
  printState,
  readNewest,
  readStates,
} from './published-states.ts'

export function lakeSnapshots(session: LakeSession, state: LakeState): SnapshotStore {
  // What a run has read when it began holds when it publishes, unless another has published: insert() looks once more.
  const last: LastRead = { newest: null }
  return {
    current: async () => {
      last.newest = { state: await session.newest() }
      return last.newest.state?.snapshot ?? null
    },
    publish: (options, choose) => publish(state, options, choose, last),
    // Of what runs on this machine have published; a service elsewhere tells what the manifest says.
    catalog: (id) => readCatalog(session.paths.snapshots, id),
    async writeCatalog(id, text) {
      await mkdir(session.paths.snapshots, { recursive: true })
      await writeCatalog(session.paths.snapshots, id, text)
    },
    // To read what other runs were is a tenth of all that such a run asks of PostgreSQL.
    catalogsIdleRuns: false,
    fork: () =>
      Promise.reject(
        new EnvironmentError(
          'lake-not-yet',
          'a copy of what is published does not work on a lake yet',
          {
            hint: 'use a target whose database is a file',
          },
        ),
      ),
  }
}

interface LastRead {
  /** null: nothing was read. */
  newest: { readonly state: NewestState | null } | null
}

/** What others publish meanwhile is read again; nobody's relations are lost. */
async function publish(
  state: LakeState,
  options: PublishOptions,
  choose: ChooseRelations,
  last: LastRead,
): Promise<Published> {
  const { connection, runId, now } = options
  for (let tries = 1; ; tries++) {
    const newest =
      last.newest === null
        ? await connection.transact(() => readNewest(connection))
        : last.newest.state
    last.newest = null
    const current = newest?.snapshot ?? null
    const chosen = (await choose({
      current,
      find: (content) => Promise.resolve(found(content, current)),
      write: (content, rows) => write(connection, content, rows),
    })) as readonly LakeRelation[]
    const id = identityOf(chosen)
    if (current?.id === id) return { snapshot: current, changed: false, before: current }
    try {
      const snapshot = { id, publishedAt: now, runId, relations: chosen }
      if (await insert(state, options, newest?.seq ?? 0, snapshot))
        return { snapshot, changed: true, before: current }
    } catch (error) {
      if (!isConflict(error) || tries >= limits.lakeTries) throw error
    }
  }
}

/** With the state of the lake that it has: all services make one file of a name, and must find the same rows for it. */
function found(content: Content, current: LakeSnapshot | null): LakeRelation | null {
  const file = fileOf(content)
  return current?.relations.find((relation) => relation.file === file) ?? null
}

/** false: another run has published after `before`. */
function insert(
  state: LakeState,
  { connection, runId, now, retention }: PublishOptions,
  before: number,
  { id, relations }: Pick<LakeSnapshot, 'id' | 'relations'>,
): Promise<boolean> {
  return state.change(connection, async () => {
    const states = await readStates(connection)
    if ((states[0]?.seq ?? 0) !== before) return false
    const text = printState({ id, publishedAt: now, runId, relations })
    const seq = before + 1
    await connection.run(sql`
      INSERT INTO _eider.published
      VALUES (${sql.value(seq)}, ${sql.value(id)}, ${sql.value(now.toISOString())}, ${sql.value(runId)}, ${sql.value(text)})`)
    const all = [{ seq, publishedAt: now }, ...states]
    const kept = new Set(retainedOf(all, { now, retention }))
    const gone = all.filter((one) => !kept.has(one)).map((one) => sql.value(one.seq))
    if (gone.length > 0)
      await connection.run(sql`DELETE FROM _eider.published WHERE seq IN (${sql.join(gone)})`)
    // Two publications conflict here, and one that was taken over with whoever has done so.
    await connection.run(sql`UPDATE _eider.head SET seq = ${sql.value(seq)}`)
    await state.markPublished(connection)
    return true
  })
}

async function write(
  connection: Connection,
  content: Content,
  { relation, columns, key, description }: NewRows,
): Promise<LakeRelation> {
  const { model } = content
  const evaluated = await isView(connection, model)
  if (evaluated) await evaluate(connection, model, relation, columns)
  // Events may come in at any time, so the rows are counted in the state that is published.
  const row = await connection.transact(() =>
    connection.row(sql`
      SELECT (SELECT id FROM ${sql.ident(LAKE_DATABASE)}.current_snapshot())::VARCHAR AS at,
        (SELECT count(*) FROM ${evaluated ? sql.ident(STORED_SCHEMA, evaluatedTable(model)) : relation}) AS rows`),
  )
  const rows = numberOf(row?.['rows'])
  const at = textOf(row?.['at'])
  return { model, file: fileOf(content), bytes: 0, rows, key, description, columns, at, evaluated }
}

/** Whether it is computed; the view of a table that is stored under other types only casts. */
async function isView(connection: Connection, model: ModelName): Promise<boolean> {
  const { schema, table } = splitModelName(model)
  const row = await connection.row(sql`
    SELECT 1 FROM duckdb_views()
    WHERE database_name = current_database() AND lower(schema_name) = lower(${sql.value(schema)})
      AND lower(view_name) = lower(${sql.value(table)})
      AND NOT EXISTS (FROM duckdb_columns() WHERE database_name = current_database()
        AND schema_name = ${sql.value(STORED_SCHEMA)} AND table_name = ${sql.value(foldCase(model))})`)
  return row !== null
}

/** Once for all services, which would not agree on what is now. */
async function evaluate(
  connection: Connection,
  model: ModelName,
  relation: Sql,
  columns: readonly Column[],
): Promise<void> {
  const casts = columns.map(({ name, type }) => {
    const stored = storedType(type)
    if (stored === null)
      throw new UnstorableError(`a lake cannot store column "${name}", which is ${type}`, name)
    const column = sql.ident(name)
    return stored === type ? column : sql`${asStored(column, type, name)} AS ${column}`
  })
  await connection.transact(async () => {
    await connection.run(sql`CREATE SCHEMA IF NOT EXISTS ${sql.ident(STORED_SCHEMA)}`)
    await connection.run(sql`
      CREATE OR REPLACE TABLE ${sql.ident(STORED_SCHEMA, evaluatedTable(model))} AS
      SELECT ${sql.join(casts)} FROM ${relation}`)
  })
}
