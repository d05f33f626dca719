// A database file has all types of the engine: what is read of a relation is what is written.

import { type Sql, sql } from '../../core/sql.ts'
import { plainTable, type StoredColumnChange, type TableStorage } from '../table-storage.ts'

/** Rows that are not committed yet are numbered from here on. As a parameter it would be a HUGEINT, by which nothing is skipped. */
const ADDED = sql`rowid >= 36028797018960000`

export const fileTables: TableStorage = {
  refuse: () => {},
  create: (connection, _, { statement }) => connection.createTable(statement),
  async createEmpty(connection, name, columns) {
    const relation = sql.relation(name)
    await connection.run(sql`CREATE OR REPLACE TABLE ${relation} (${sql.definitions(columns)})`)
  },
  written: (_, name) => Promise.resolve(plainTable(sql.relation(name), ADDED)),
  async change(connection, name, changes) {
    for (const change of changes) await connection.run(alteration(sql.relation(name), change))
  },
  async renameColumn(connection, name, { from, to }) {
    await connection.run(
      sql`ALTER TABLE ${sql.relation(name)} RENAME COLUMN ${sql.ident(from)} TO ${sql.ident(to)}`,
    )
  },
  async drop(connection, name, type) {
    const relation = sql.relation(name)
    await connection.run(
      type === 'table' ? sql`DROP TABLE ${relation}` : sql`DROP VIEW ${relation}`,
    )
  },
  keeps: () => null,
}

export const alteration = (relation: Sql, { name, type, isNew }: StoredColumnChange): Sql =>
  isNew
    ? sql`ALTER TABLE ${relation} ADD COLUMN ${sql.ident(name)} ${sql.type(type)}`
    : sql`ALTER TABLE ${relation} ALTER COLUMN ${sql.ident(name)} TYPE ${sql.type(type)}`
