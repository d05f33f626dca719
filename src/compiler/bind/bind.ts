// Typed compile: each model is bound by DuckDB against empty tables that stand for the models it reads, and becomes
// such a table itself. Nothing is read but the heads of files.

import type { Diagnostic } from '../../core/diagnostics.ts'
import { type ModelName, foldCase, splitModelName } from '../../core/names.ts'
import { type Column, columnType } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { type DatabaseError, type DatabaseErrorDetails, refusalOf } from '../../duckdb/errors.ts'
import type { GraphNode } from '../graph.ts'

export interface Bindable extends GraphNode {
  /** What stands before the author's SQL in a query with the model's columns. */
  readonly opening?: Sql
  /** The rest of that query, made when it is bound. */
  readonly rows: () => Sql
  /** False when some columns could not be understood: it is bound only to find its mistakes, and not read. */
  readonly complete: boolean
  /** What the author did wrong; `prefix` is the text of the statement before `rows`. Nothing: no column is known. */
  readonly explain: (
    details: DatabaseErrorDetails,
    prefix: string,
  ) => Promise<readonly Diagnostic[]>
}

interface Bindings {
  /** The columns of models that bind and read only such models. */
  readonly columns: ReadonlyMap<ModelName, readonly Column[]>
  readonly diagnostics: readonly Diagnostic[]
}

interface BindOptions {
  /** Models whose columns are known. Each has an empty table only where another model reads it, or `alsoRead` names it. */
  readonly kept: { readonly has: (name: ModelName) => boolean; readonly size: number }
  readonly alsoRead: readonly ModelName[]
}

/**
 * Binds models, which come in an order in which each follows what it reads. A model that reads one that is neither
 * among them nor bound is silently left out: the mistake is reported where it was made.
 */
export async function bindAll(
  connection: Connection,
  all: readonly Bindable[],
  unbound: BindOptions,
): Promise<Bindings> {
  // All of them, as the names of schemas decide what a name with a dot means.
  await createSchemas(connection, all)
  const models = readAmong(all, unbound)
  const bound = new Set<ModelName>()
  const diagnostics: Diagnostic[] = []
  const ready = ({ dependsOn }: Bindable) => dependsOn.every((name) => bound.has(name))
  const whole = await bindInOneScript(connection, models)
  for (const model of models) {
    if (whole) bound.add(model.name)
    else if (ready(model)) {
      const found = await bindOne(connection, model)
      diagnostics.push(...found)
      if (found.length === 0 && model.complete) bound.add(model.name)
    }
  }
  return { columns: await readColumns(connection, bound), diagnostics }
}

/** The models that are compiled now, and those that they read, which wait for nothing. */
function readAmong(all: readonly Bindable[], { kept, alsoRead }: BindOptions): readonly Bindable[] {
  if (kept.size === 0) return all
  const read = new Set(alsoRead)
  for (const { name, dependsOn } of all)
    if (!kept.has(name)) for (const input of dependsOn) read.add(input)
  return all.flatMap((model) => {
    if (!kept.has(model.name)) return [model]
    return read.has(model.name) ? [{ ...model, dependsOn: [] }] : []
  })
}

/** A project without mistakes takes one round trip. What goes wrong otherwise is found model by model. */
async function bindInOneScript(
  connection: Connection,
  models: readonly Bindable[],
): Promise<boolean> {
  const names = new Set(models.map(({ name }) => name))
  const isReady = ({ complete, dependsOn }: Bindable) =>
    complete && dependsOn.every((name) => names.has(name))
  if (!models.every(isReady)) return false
  if (models.length === 0) return true
  const statements = models.map((model) => sql`${prefixOf(model)}${model.rows()}${SUFFIX}`)
  const script = sql`BEGIN TRANSACTION;\n${sql.join(statements, sql`;\n`)};\nCOMMIT`
  return (await refusedOutside(connection, script)) === null
}

async function bindOne(connection: Connection, model: Bindable): Promise<readonly Diagnostic[]> {
  const prefix = prefixOf(model)
  const refusal = await refusedOutside(connection, sql`${prefix}${model.rows()}${SUFFIX}`)
  return refusal === null ? [] : model.explain(refusal.details, prefix.inline())
}

/** A PIVOT without IN runs as several statements in one transaction, which an error leaves open. */
async function refusedOutside(connection: Connection, script: Sql): Promise<DatabaseError | null> {
  const refusal = await refusalOf(connection.run(script))
  if (refusal !== null) await connection.run(sql`ROLLBACK`).catch(() => {}) // mostly there is none
  return refusal
}

const prefixOf = ({ name, opening = sql.empty }: Bindable): Sql =>
  sql`CREATE OR REPLACE TABLE ${sql.relation(name)} AS (${opening}`

// The query may end in a comment, so the bracket goes on a new line.
const SUFFIX = sql`\n) WITH NO DATA`

async function createSchemas(connection: Connection, models: readonly Bindable[]): Promise<void> {
  const schemas = new Map(
    models.map(({ name }) => splitModelName(name)).map(({ schema }) => [foldCase(schema), schema]),
  )
  if (schemas.size === 0) return
  const statements = Array.from(
    schemas.values(),
    (schema) => sql`CREATE SCHEMA IF NOT EXISTS ${sql.ident(schema)}`,
  )
  await connection.run(sql.join(statements, sql`;\n`))
}

/** Types come from the catalog: a prepared statement does not distinguish JSON from VARCHAR. */
async function readColumns(
  connection: Connection,
  bound: ReadonlySet<ModelName>,
): Promise<ReadonlyMap<ModelName, readonly Column[]>> {
  const columns = new Map<string, Column[]>()
  const rows = await connection.rows(sql`
    SELECT schema_name || '.' || table_name AS model, column_name, data_type
    FROM duckdb_columns() WHERE NOT internal AND database_name = current_database() ORDER BY model, column_index`)
  for (const { model, column_name: name, data_type: type } of rows) {
    const key = foldCase(model as string)
    const column = { name: name as string, type: columnType(type as string), nullable: true }
    const before = columns.get(key)
    if (before === undefined) columns.set(key, [column])
    else before.push(column)
  }
  return new Map(Array.from(bound, (name) => [name, columns.get(foldCase(name)) ?? []]))
}
