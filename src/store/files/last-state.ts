// What readers need of the warehouse while a run holds it: a copy that each run makes before it changes anything, in
// `.eider/last/`, so that it is right also where the run before was killed. Its results a run adds when it ends.
//
//   state.json          an object: `format` (1), `mark`, then the rows of `_eider.models` and `_eider.flush_position` as
//                       `models` and `positions`, and `relations` with the names and types of their columns; no rows of theirs
//   runs/<run id>.json  the results of a run as in target/run_results.json, of the last limits.copiedRuns runs
//
// They may be deleted: the next run writes them again. `mark` is a hash of what the state was copied from; a run that
// finds it there, and the results of the run before, writes nothing.

import { mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { readTextLater } from '../../files/read-file.ts'
import { hashOf } from '../../core/hash.ts'
import { limits } from '../../core/limits.ts'
import { columnType } from '../../core/relation.ts'
import { Resources } from '../../core/resources.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { type EngineCatalog, catalogKey, readEngineCatalog } from '../../duckdb/catalog.ts'
import { type Connection, Database } from '../../duckdb/database.ts'
import { textOf } from '../../duckdb/values.ts'
import { replaceDurably } from '../../files/durable-files.ts'
import type { Known, State } from '../state.ts'
import type { ReadOptions } from '../warehouse.ts'
import { ensureState } from './layout.ts'
import { copiesIn, copyOf, lastStateFile, rowsOf, runCopies } from './run-results.ts'

const FORMAT = 1

const MODELS = sql`'[{"model":"VARCHAR","kind":"VARCHAR","fingerprint":"VARCHAR","version":"VARCHAR","definition":"VARCHAR","run_id":"VARCHAR","built_at":"VARCHAR","removed_at":"VARCHAR"}]'`
const POSITIONS = sql`'[{"target":"VARCHAR","opening":"UBIGINT","segment":"UBIGINT","flushed_at":"VARCHAR"}]'`

interface CopiedRelation {
  readonly schema: string
  readonly name: string
  readonly is_view: boolean
  readonly columns: readonly { readonly name: string; readonly type: string }[]
}

interface CopiedState {
  readonly format: number
  readonly mark: string
  readonly models: unknown
  readonly positions: unknown
  readonly relations: readonly CopiedRelation[]
}

export interface KnownRuns {
  readonly runs: number
  /** Its id; null: none is recorded. */
  readonly lastRun: string | null
}

/** `stateDir`: `.eider`, or that of the target. `began`: what the run has read of the state; null: nothing. */
export async function saveLastState(
  connection: Connection,
  stateDir: string,
  began: (Pick<Known, 'catalog' | 'state'> & KnownRuns) | null,
): Promise<void> {
  await saveRuns(connection, stateDir, began)
  const mark = began === null ? '' : markOf(began.state)
  const start = `{"format":${FORMAT},"mark":"${mark}",`
  const path = lastStateFile(stateDir)
  const before = await readTextLater(path).catch(() => '')
  if (mark !== '' && before.startsWith(start) && before.endsWith('}\n')) return
  const models = await listOf(
    connection,
    sql`SELECT model, kind, fingerprint, version, definition, run_id, built_at::VARCHAR AS built_at,
      removed_at::VARCHAR AS removed_at FROM _eider.models ORDER BY model`,
  )
  const positions = await listOf(
    connection,
    sql`SELECT "target", opening, segment, flushed_at::VARCHAR AS flushed_at FROM _eider.flush_position
      ORDER BY "target", opening`,
  )
  const catalog = began?.catalog ?? (await readEngineCatalog(connection))
  const relations = JSON.stringify(await readRelations(connection, catalog))
  await mkdir(dirname(path), { recursive: true })
  await replaceDurably(
    path,
    `${start}"models":${models},"positions":${positions},"relations":${relations}}\n`,
  )
}

const markOf = ({ models, positions }: State): string =>
  hashOf(32, [[...models], Array.from(positions, ([target, position]) => [target, ...position])])

/** Where files are missing all are compared, so that a copy that was deleted, or missed a run, is whole again. */
async function saveRuns(
  connection: Connection,
  stateDir: string,
  began: KnownRuns | null,
): Promise<void> {
  const dir = runCopies(stateDir)
  const names = await copiesIn(dir)
  if (began !== null && hasAll(names, began)) return
  const recorded = await idsOfCopied(connection)
  const wanted = new Set(recorded.map(copyOf))
  const there = new Set(names)
  const missing = recorded.filter((id) => !there.has(copyOf(id)))
  if (missing.length > 0) {
    await mkdir(dir, { recursive: true })
    const runs = await connection.rows(sql`
      SELECT run_id, summary::VARCHAR AS summary FROM _eider.runs WHERE run_id IN (${sql.values(missing)})`)
    for (const { run_id: id, summary } of runs)
      await replaceDurably(join(dir, copyOf(textOf(id))), textOf(summary))
  }
  for (const name of there) if (!wanted.has(name)) await rm(join(dir, name), { force: true })
}

/** Ids of the runs that have copies, newest first. */
async function idsOfCopied(connection: Connection): Promise<readonly string[]> {
  const rows = await connection.rows(sql`
    SELECT run_id FROM _eider.runs
    ORDER BY started_at DESC, finished_at DESC LIMIT ${sql.value(limits.copiedRuns)}`)
  return rows.map((row) => textOf(row['run_id']))
}

const hasAll = (names: readonly string[], { runs, lastRun }: KnownRuns): boolean =>
  lastRun !== null &&
  names.includes(copyOf(lastRun)) &&
  names.length >= Math.min(runs, limits.copiedRuns)

/** A database in memory with that state and relations without rows; null where there is none. */
export async function openLastState(
  stateDir: string,
  { memoryLimit, threads = null, tempDir = null, extensions }: ReadOptions,
  searchDir: string,
): Promise<Database | null> {
  const text = await readTextLater(lastStateFile(stateDir)).catch(() => null)
  if (text === null) return null
  const state = JSON.parse(text) as CopiedState
  if (state.format !== FORMAT) return null
  await using resources = new Resources()
  const engine = { searchDir, memoryLimit, threads, tempDir, extensions }
  const database = resources.use(await Database.open({ path: ':memory:', ...engine }))
  await using connection = await database.connect()
  await ensureState(connection, await readEngineCatalog(connection))
  const fill = (table: Sql, rows: unknown, type: Sql) => sql`
    INSERT INTO ${table} BY NAME
    SELECT unnest(from_json(${sql.value(JSON.stringify(rows))}, ${type}), recursive := true)`
  await connection.run(fill(sql`_eider.models`, state.models, MODELS))
  await connection.run(fill(sql`_eider.flush_position`, state.positions, POSITIONS))
  if (state.relations.length > 0)
    await connection.run(sql.join(state.relations.map(createEmpty), sql`;\n`))
  await fillRuns(connection, runCopies(stateDir))
  resources.move()
  return database
}

async function fillRuns(connection: Connection, dir: string): Promise<void> {
  const names = await copiesIn(dir)
  // A run that ends just now may have taken one away.
  const read = (name: string) => readTextLater(join(dir, name)).catch(() => '')
  const runs = (await Promise.all(names.map(read))).filter((text) => text.endsWith('}'))
  if (runs.length > 0) await connection.run(sql`INSERT INTO _eider.runs BY NAME ${rowsOf(runs)}`)
}

function createEmpty({ schema, name, is_view: isView, columns }: CopiedRelation): Sql {
  const parts = columns.map(
    (column) => sql`NULL::${sql.type(columnType(column.type))} AS ${sql.ident(column.name)}`,
  )
  const type = isView ? sql`VIEW` : sql`TABLE`
  return sql`CREATE SCHEMA IF NOT EXISTS ${sql.ident(schema)};
    CREATE ${type} ${sql.ident(schema, name)} AS SELECT ${sql.join(parts)} LIMIT 0`
}

/** By name. Sorted here, since that takes the engine as long as all else. */
async function readRelations(
  connection: Connection,
  { relations }: EngineCatalog,
): Promise<readonly CopiedRelation[]> {
  const rows = (await connection.texts(sql`
    SELECT schema_name AS "schema", table_name AS name,
      list({'at': column_index::VARCHAR, 'name': column_name, 'type': data_type}) AS columns
      FROM duckdb_columns()
      WHERE database_name = current_database() AND NOT internal AND schema_name <> '_eider'
      GROUP BY ALL`)) as unknown as readonly ReadRelation[]
  return rows.toSorted(byName).map(({ schema, name, columns }) => ({
    schema,
    name,
    is_view: relations.get(catalogKey(schema, name)) === 'view',
    columns: columns
      .toSorted((a, b) => Number(a.at) - Number(b.at))
      .map((column) => ({ name: column.name, type: column.type })),
  }))
}

interface ReadRelation extends Pick<CopiedRelation, 'schema' | 'name'> {
  readonly columns: readonly { readonly at: string; readonly name: string; readonly type: string }[]
}

function byName(a: ReadRelation, b: ReadRelation): number {
  if (a.schema !== b.schema) return a.schema < b.schema ? -1 : 1
  return a.name < b.name ? -1 : 1
}

async function listOf(connection: Connection, query: Sql): Promise<string> {
  const row = await connection.row(
    sql`SELECT coalesce(to_json(list(one)), '[]')::VARCHAR AS list FROM (${query}) AS one`,
  )
  return textOf(row?.['list'])
}
