// Tables of a lake. A relation with a column that a lake cannot store as it is lies in `_eider_stored."schema.table"`
// under other types, and its name is a view that casts back. Only statements that write see the difference.

import { STORED_SCHEMA } from '../../core/lake.ts'
import type { ColumnRename } from '../../core/model.ts'
import { foldCase, type ModelName, sameName } from '../../core/names.ts'
import { type Column, type ColumnType, columnType } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { asStored, fromStored, isGivenBack, storedType } from '../../core/type-syntax.ts'
import { describe } from '../../duckdb/catalog.ts'
import type { Connection } from '../../duckdb/database.ts'
import { DatabaseError } from '../../duckdb/errors.ts'
import { alteration, fileTables } from '../files/tables.ts'
import {
  type NewTable,
  plainTable,
  type StoredColumnChange,
  type TableStorage,
  UnstorableError,
  type WrittenTable,
} from '../table-storage.ts'

export const lakeTables: TableStorage = {
  refuse: refuseUnstorable,
  create,
  async createEmpty(connection, name, columns) {
    const query = sql`SELECT ${sql.nulls(columns)} LIMIT 0`
    const statement = sql`CREATE OR REPLACE TABLE ${sql.relation(name)} AS ${query}`
    await create(connection, name, { query, statement })
  },
  written,
  change,
  renameColumn,
  async drop(connection, name, type) {
    if (!(await isStoredApart(connection, name))) return fileTables.drop(connection, name, type)
    await connection.run(sql`DROP VIEW ${sql.relation(name)}; DROP TABLE ${storedTable(name)}`)
  },
  keeps(value, type) {
    const stored = storedType(type)
    if (stored === null) return sql`false`
    return stored === type ? null : isGivenBack(value, type)
  },
}

/** Rows that are not committed yet have none. */
const ADDED = sql`snapshot_id IS NULL`

/** In lower case, since names that differ only in case are one relation. */
const storedTable = (name: ModelName): Sql => sql.ident(STORED_SCHEMA, foldCase(name))

/** Types as readers see them, where the relation is a view on a stored table; null: it is not. */
async function storedApart(
  connection: Connection,
  name: ModelName,
): Promise<readonly Column[] | null> {
  const isApart = await isStoredApart(connection, name)
  return isApart ? describe(connection, sql`FROM ${sql.relation(name)}`) : null
}

/** In the database that is used. */
export async function isStoredApart(connection: Connection, name: ModelName): Promise<boolean> {
  const row = await connection.row(sql`
    SELECT 1 FROM duckdb_columns() WHERE database_name = current_database()
    AND schema_name = ${sql.value(STORED_SCHEMA)} AND table_name = ${sql.value(foldCase(name))} LIMIT 1`)
  return row !== null
}

async function create(
  connection: Connection,
  name: ModelName,
  { query, statement }: NewTable,
): Promise<number | null> {
  const wasApart = await isStoredApart(connection, name)
  const columns = await columnsOf(connection, query)
  if (columns !== null && columns.some(isConverted))
    return createApart(connection, name, query, columns, wasApart)
  if (!wasApart) return connection.createTable(statement)
  // The query may read the relation, which has to go first.
  const kept = sql`temp.main._eider_kept`
  await connection.run(sql`CREATE OR REPLACE TEMP TABLE _eider_kept AS (${query}\n)`)
  await connection.run(sql`DROP VIEW ${sql.relation(name)}; DROP TABLE ${storedTable(name)}`)
  const rows = await connection.createTable(sql`CREATE TABLE ${sql.relation(name)} AS FROM ${kept}`)
  await connection.run(sql`DROP TABLE ${kept}`)
  return rows
}

async function createApart(
  connection: Connection,
  name: ModelName,
  query: Sql,
  columns: readonly Column[],
  wasApart: boolean,
): Promise<number | null> {
  refuseUnstorable(columns)
  const relation = sql.relation(name)
  const stored = storedTable(name)
  const rows = await withoutPosition(() =>
    connection.createTable(
      sql`CREATE OR REPLACE TABLE ${stored} AS SELECT ${sql.join(columns.map(stores))} FROM (${query}\n)`,
    ),
  )
  if (!wasApart) await connection.run(sql`DROP TABLE IF EXISTS ${relation}`)
  await connection.run(
    sql`CREATE OR REPLACE VIEW ${relation} AS SELECT ${sql.join(columns.map(shown))} FROM ${stored}`,
  )
  return rows
}

const isConverted = ({ type }: Column) => storedType(type) !== type

/** A column of a stored table as readers see it. */
export const shown = ({ name, type }: Column): Sql =>
  storedType(type) === type
    ? sql.ident(name)
    : sql`${fromStored(sql.ident(name), type)} AS ${sql.ident(name)}`

export const stores = ({ name, type }: Column): Sql =>
  storedType(type) === type
    ? sql.ident(name)
    : sql`${asStored(sql.ident(name), type, name)} AS ${sql.ident(name)}`

function refuseUnstorable(columns: readonly Column[]): void {
  for (const { name, type } of columns)
    if (storedType(type) === null)
      throw new UnstorableError(
        `a lake cannot store column "${name}", which is ${type}; cast it, as to JSON: CAST("${name}" AS JSON) AS "${name}"`,
        name,
      )
}

/** null for a query that does not bind: the statement then says so, and where. */
async function columnsOf(connection: Connection, query: Sql): Promise<readonly Column[] | null> {
  try {
    return await describe(connection, sql`FROM (${query}\n)`)
  } catch (error) {
    if (error instanceof DatabaseError) return null
    throw error
  }
}

/** Errors are located in another statement, where their positions mean nothing. */
async function withoutPosition<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error
    throw new DatabaseError({ ...error.details, position: null }, error)
  }
}

async function written(connection: Connection, name: ModelName): Promise<WrittenTable> {
  const columns = await storedApart(connection, name)
  if (columns === null) return plainTable(sql.relation(name), ADDED)
  const typeOf = (column: string): ColumnType =>
    columns.find((one) => sameName(one.name, column))?.type ?? columnType('VARCHAR')
  return {
    table: storedTable(name),
    isAdded: ADDED,
    async rows(query) {
      const given = await describe(connection, query)
      const parts = given.map((column) => {
        const type = typeOf(column.name)
        const value = sql.ident(column.name)
        const cast = column.type === type ? value : sql`CAST(${value} AS ${sql.type(type)})`
        return sql`${asStored(cast, type, column.name)} AS ${value}`
      })
      return sql`SELECT ${sql.join(parts)} FROM (${query}\n)`
    },
    value: (column) => fromStored(sql.ident(column), typeOf(column)),
  }
}

/** In the catalog alone, but for the view over a stored table. */
async function renameColumn(
  connection: Connection,
  name: ModelName,
  rename: ColumnRename,
): Promise<void> {
  const columns = await storedApart(connection, name)
  if (columns === null) return fileTables.renameColumn(connection, name, rename)
  const { from, to } = rename
  await connection.run(
    sql`ALTER TABLE ${storedTable(name)} RENAME COLUMN ${sql.ident(from)} TO ${sql.ident(to)}`,
  )
  const renamed = columns.map((column) =>
    sameName(column.name, from) ? { ...column, name: to } : column,
  )
  await connection.run(
    sql`CREATE OR REPLACE VIEW ${sql.relation(name)} AS SELECT ${sql.join(renamed.map(shown))} FROM ${storedTable(name)}`,
  )
}

/**
 * A new column is added; for another type the table is made once more. An ALTER of a type that shares a transaction with
 * an INSERT loses what the lake knows of the rows before: the least and greatest value, and then `min()` and ORDER BY give
 * values that nobody has written (test/lake/altered-columns.test.ts).
 */
async function change(
  connection: Connection,
  name: ModelName,
  changes: readonly StoredColumnChange[],
): Promise<void> {
  if (changes.length === 0) return
  const relation = sql.relation(name)
  const before = await describe(connection, sql`FROM ${relation}`)
  const isPlain = !(await isStoredApart(connection, name))
  if (isPlain && changes.every(({ isNew, type }) => isNew && storedType(type) === type)) {
    for (const one of changes) await connection.run(alteration(relation, one))
    return
  }
  const changed = (column: Column) =>
    changes.find((one) => !one.isNew && sameName(one.name, column.name))
  const kept = before.map((column) => {
    const type = changed(column)?.type
    const value = sql.ident(column.name)
    return type === undefined ? value : sql`CAST(${value} AS ${sql.type(type)}) AS ${value}`
  })
  const added = changes
    .filter(({ isNew }) => isNew)
    .map((one) => sql`CAST(NULL AS ${sql.type(one.type)}) AS ${sql.ident(one.name)}`)
  const query = sql`SELECT ${sql.join([...kept, ...added])} FROM ${relation}`
  const statement = sql`CREATE OR REPLACE TABLE ${relation} AS ${query}`
  await create(connection, name, { query, statement })
}
