// Published states in a lake. A run says which state of each exposed table is published; services get the rows from
// `eider pull`, which copies them into files.

import { mkdir } from 'node:fs/promises'
import { LAKE_DATABASE, STORED_SCHEMA } from '../../core/lake.ts'
import { limits } from '../../core/limits.ts'
import { foldCase, type ModelName, splitModelName } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import type { PublishedRelation } from '../../core/snapshot.ts'
import { storedType } from '../../core/type-syntax.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { isConflict } from '../../duckdb/errors.ts'
import { numberOf, textOf } from '../../duckdb/values.ts'
import { fileSnapshots } from '../files/snapshots.ts'
import { readCatalog, retainedOf, writeCatalog } from '../files/snapshot-directory.ts'
import {
  type ChooseRelations,
  fileOf,
  type NewRows,
  type Published,
  type PublishOptions,
  type RowsContent,
  type SnapshotStore,
} from '../snapshots.ts'
import { UnstorableError } from '../table-storage.ts'
import type { LakeSession } from './session.ts'
import type { LakeState } from './state.ts'
import { stores } from './tables.ts'
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
    // Catalogs of what runs on this machine have published; a service elsewhere shows what the manifest says.
    catalog: (id) => readCatalog(session.paths.snapshots, id),
    async writeCatalog(id, text) {
      await mkdir(session.paths.snapshots, { recursive: true })
      await writeCatalog(session.paths.snapshots, id, text)
    },
    // To read what other runs were is a tenth of all that such a run asks of PostgreSQL.
    catalogsIdleRuns: false,
    takesChanges: false,
    // A copy of what this machine has pulled.
    fork: (dir) => fileSnapshots(session.paths.snapshots).fork(dir),
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
    const written = new Map<PublishedRelation, Sql>()
    const relations = await choose({
      current,
      find: (content) => Promise.resolve(found(content, current)),
      write: (content, rows) => write(connection, content, rows, written),
    })
    const chosen = await countNow(connection, relations as readonly LakeRelation[], written)
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
function found(content: RowsContent, current: LakeSnapshot | null): LakeRelation | null {
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
    // Two publications conflict here, and so does one whose lock was lost with the run that has taken it.
    await connection.run(sql`UPDATE _eider.head SET seq = ${sql.value(seq)}`)
    await state.markPublished(connection)
    return true
  })
}

async function write(
  connection: Connection,
  content: RowsContent,
  { relation, metadata }: NewRows,
  written: Map<PublishedRelation, Sql>,
): Promise<LakeRelation> {
  const { model } = content
  const evaluated = await isView(connection, model)
  if (evaluated) await evaluate(connection, model, relation, metadata.columns)
  const file = fileOf(content)
  const made = { model, file, bytes: 0, rows: 0, ...metadata, at: '', evaluated }
  written.set(made, evaluated ? sql.ident(STORED_SCHEMA, evaluatedTable(model)) : relation)
  return made
}

/**
 * Those that were written, as they are now. Events may come in at any time, so their rows are counted in the state that is
 * published; and it is one state for all, since `eider pull` attaches each that it needs, with all tables of the lake.
 */
async function countNow(
  connection: Connection,
  relations: readonly LakeRelation[],
  written: ReadonlyMap<PublishedRelation, Sql>,
): Promise<readonly LakeRelation[]> {
  const counted = relations.filter((relation) => written.has(relation))
  if (counted.length === 0) return relations
  const rows = new Map<LakeRelation, number>()
  const at = await connection.transact(async () => {
    const state = await connection.row(
      sql`SELECT id::VARCHAR AS id FROM ${sql.ident(LAKE_DATABASE)}.current_snapshot()`,
    )
    for (let first = 0; first < counted.length; first += COUNTED_AT_ONCE) {
      const part = counted.slice(first, first + COUNTED_AT_ONCE)
      const counts = part.map(
        (one, i) => sql`(SELECT count(*) FROM ${written.get(one)!}) AS ${sql.ident(`n${i}`)}`,
      )
      const row = await connection.row(sql`SELECT ${sql.join(counts)}`)
      part.forEach((one, i) => rows.set(one, numberOf(row?.[`n${i}`])))
    }
    return textOf(state?.['id'])
  })
  return relations.map((one) => (rows.has(one) ? { ...one, at, rows: rows.get(one)! } : one))
}

/** A statement with all of a thousand tables takes longer to plan than to carry out. */
const COUNTED_AT_ONCE = 50

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
  for (const { name, type } of columns)
    if (storedType(type) === null)
      throw new UnstorableError(`a lake cannot store column "${name}", which is ${type}`, name)
  await connection.transact(async () => {
    await connection.run(sql`CREATE SCHEMA IF NOT EXISTS ${sql.ident(STORED_SCHEMA)}`)
    await connection.run(sql`
      CREATE OR REPLACE TABLE ${sql.ident(STORED_SCHEMA, evaluatedTable(model))} AS
      SELECT ${sql.join(columns.map(stores))} FROM ${relation}`)
  })
}
