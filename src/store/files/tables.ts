// A database file has all types of the engine: what is read of a relation is what is written.

import { type ModelName, splitModelName } from '../../core/names.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { plainTable, type StoredColumnChange, type TableStorage } from '../table-storage.ts'

export const fileTables: TableStorage = {
  refuse: () => {},
  create: (connection, _, { statement }) => connection.createTable(statement),
  async createEmpty(connection, name, columns) {
    const parts = columns.map((column) => sql`${sql.ident(column.name)} ${sql.type(column.type)}`)
    await connection.run(sql`CREATE OR REPLACE TABLE ${tableIdent(name)} (${sql.join(parts)})`)
  },
  written: (_, name) => Promise.resolve(plainTable(tableIdent(name))),
  async change(connection, name, changes) {
    for (const change of changes) await connection.run(alteration(tableIdent(name), change))
  },
  async drop(connection, name, type) {
    const relation = tableIdent(name)
    await connection.run(
      type === 'table' ? sql`DROP TABLE ${relation}` : sql`DROP VIEW ${relation}`,
    )
  },
  keeps: () => null,
}

export function tableIdent(name: ModelName): Sql {
  const { schema, table } = splitModelName(name)
  return sql.ident(schema, table)
}

export const alteration = (relation: Sql, { name, type, isNew }: StoredColumnChange): Sql =>
  isNew
    ? sql`ALTER TABLE ${relation} ADD COLUMN ${sql.ident(name)} ${sql.type(type)}`
    : sql`ALTER TABLE ${relation} ALTER COLUMN ${sql.ident(name)} TYPE ${sql.type(type)}`
