// How the rows of relations are stored. What is read of a relation has its name and its types; what is written may be
// another table.

import { EnvironmentError } from '../core/failures.ts'
import type { ColumnRename } from '../core/model.ts'
import type { ModelName } from '../core/names.ts'
import type { Column, ColumnType } from '../core/relation.ts'
import { type Sql, sql } from '../core/sql.ts'
import type { RelationType } from '../duckdb/catalog.ts'
import type { Connection } from '../duckdb/database.ts'

/** All in the transaction of the caller. What it throws for a type that the store does not have is UnstorableError. */
export interface TableStorage {
  /** Throws UnstorableError where it is known before a row is read. */
  refuse(columns: readonly Column[]): void
  /**
   * Makes a table of the rows of a query, or replaces the one of that name; no view may have it. Returns its rows; null
   * where the engine does not say.
   */
  create(connection: Connection, name: ModelName, table: NewTable): Promise<number | null>
  createEmpty(connection: Connection, name: ModelName, columns: readonly Column[]): Promise<void>
  /** What statements change of a table that is there. */
  written(connection: Connection, name: ModelName): Promise<WrittenTable>
  /** Brings the columns in line. */
  change(
    connection: Connection,
    name: ModelName,
    changes: readonly StoredColumnChange[],
  ): Promise<void>
  /** The table has a column of the one name, and none of the other. */
  renameColumn(connection: Connection, name: ModelName, rename: ColumnRename): Promise<void>
  drop(connection: Connection, name: ModelName, type: RelationType): Promise<void>
  /** Whether a value comes back as it was: some do not fit the type that they are stored under. null: all of them do. */
  keeps(value: Sql, type: ColumnType): Sql | null
}

export interface NewTable {
  /** Its rows, as a statement or in parentheses. */
  readonly query: Sql
  /** CREATE OR REPLACE TABLE with that query, for a store that has all types; errors are located in it. */
  readonly statement: Sql
}

export interface WrittenTable {
  readonly table: Sql
  /** Rows of such columns as the table stores them. */
  rows(query: Sql): Promise<Sql>
  /** A column of the table as a value of the type that readers see. */
  value(column: string): Sql
  /** True of rows that this transaction has inserted; null: nothing tells. */
  readonly isAdded: Sql | null
}

/** A table that stores all columns as they are. */
export const plainTable = (table: Sql, isAdded: Sql | null): WrittenTable => ({
  table,
  isAdded,
  rows: (query) => Promise.resolve(query),
  value: (column) => sql.ident(column),
})

/** A new column, or one that gets another type, which holds every value of the one before. */
export interface StoredColumnChange extends Pick<Column, 'name' | 'type'> {
  readonly isNew: boolean
}

/** Rows that were written do not come back. A model that reads them fails, and the run goes on; all else ends with it. */
export class DamagedRowsError extends EnvironmentError {
  override name = 'DamagedRowsError'
  constructor(message: string, options: { readonly hint: string; readonly cause?: unknown }) {
    super('lake-damaged', message, options)
  }
}

/** Thrown for a column whose type the store does not have. */
export class UnstorableError extends Error {
  override name = 'UnstorableError'
  readonly column: string
  constructor(message: string, column: string) {
    super(message)
    this.column = column
  }
}
