// The rows of a published relation in a state of the lake that is attached.

import { STORED_SCHEMA } from '../../core/lake.ts'
import { foldCase, splitModelName } from '../../core/names.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { evaluatedTable, type LakeRelation } from './published-states.ts'
import { isStoredApart, shown } from './tables.ts'

/** A query without an order, on a connection that uses `database`: the state in which the rows are as published. */
export async function formerRows(
  connection: Connection,
  { model, columns, evaluated }: LakeRelation,
  database: string,
): Promise<Sql> {
  if (!evaluated && !(await isStoredApart(connection, model))) {
    const { schema, table } = splitModelName(model)
    const names = sql.join(columns.map(({ name }) => sql.ident(name)))
    return sql`SELECT ${names} FROM ${sql.ident(database, schema, table)}`
  }
  const stored = evaluated ? evaluatedTable(model) : foldCase(model)
  const casts = sql.join(columns.map(shown))
  return sql`SELECT ${casts} FROM ${sql.ident(database, STORED_SCHEMA, stored)}`
}
