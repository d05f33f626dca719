// What an engine does with the sources of a kind.

import type { Explanation } from '../hints/engine-words.ts'
import type { Diagnostic } from '../../core/diagnostics.ts'
import type { FilePlace } from '../../core/source-text.ts'
import type { ExternalSource, ExternalTable } from '../../core/sources.ts'
import type { Column } from '../../core/relation.ts'
import type { Sql } from '../../core/sql.ts'
import type { Connection, Database } from '../../duckdb/database.ts'

/** A diagnostic without its place, which is that of the table in eider.yml. */
export type SourceWarning = (at: FilePlace) => Diagnostic

/** Of columns of a server that may hold what the engine reads as 0, such as NaN; in the words of the server. */
export interface ZeroedNumbers {
  /** One row for each column that can be read, with the members of ZeroedColumn. */
  readonly columns: (schema: string, table: string) => Sql
  readonly isZeroed: (column: ZeroedColumn) => Sql
  /** Rows that lie on that page of their relation, or behind it. */
  readonly fromPage: (page: number) => Sql
  readonly beforePage: (page: number) => Sql
}

export interface ZeroedColumn {
  readonly name: string
  readonly isList: boolean
  readonly hasPrecision: boolean
  /** As it is written there. */
  readonly schema: string
  readonly relation: string
  /** As the server last counted them; 0: the relation cannot be read page by page. */
  readonly pages: number
}

export interface SourceAccess {
  /** How the server is asked for numbers that the engine would read as 0, and by which function; absent: there are none. */
  readonly zeroed?: ZeroedNumbers & { readonly query: Sql }
  /** The files of this machine that the source itself is, without those of its tables; null: it is on the network. */
  readonly filesOf: (source: ExternalSource, dir: string) => readonly string[] | null
  /** What an error of a model means which reads this source, and no other one of the kind; null: nothing special. */
  readonly explainRead?: (message: string, source: ExternalSource) => Explanation | null
  /**
   * What it means that the engine no longer finds a table of this source that was there; null: nothing more is known.
   * Throws DatabaseError.
   */
  readonly explainMissing?: (
    connection: Connection,
    source: ExternalSource,
    table: string,
    message: string,
  ) => Promise<Explanation | null>
  /** `dir`: that of the project. What it opens is closed with the database. */
  readonly open: (database: Database, dir: string, source: ExternalSource) => Promise<OpenSource>
}

/** All that can be asked of an engine for one source. Its methods throw SourceProblem, DatabaseError or ExtensionError. */
export interface OpenSource {
  /** For all connections of the engine; before anything else. */
  readonly attach: (connection: Connection) => Promise<void>
  /** Equal as long as the table is as it was; null: nothing tells cheaply; undefined: it is hashed as a file of the project. */
  readonly stamp: (
    connection: Connection,
    table: ExternalTable,
  ) => Promise<string | null | undefined>
  /** The query of the view that models read. */
  readonly select: (
    connection: Connection,
    table: ExternalTable,
    asText: readonly string[],
  ) => Promise<Sql>
  /** Columns to be read as text, though the engine finds another type for them; `columns`: as it finds them. */
  readonly asText?: (
    connection: Connection,
    table: ExternalTable,
    columns: readonly Column[],
  ) => Promise<readonly string[]>
  /** Refuses columns that the engine has read wrongly. Returns what somebody may not have meant. */
  readonly check?: (
    connection: Connection,
    table: ExternalTable,
    columns: readonly Column[],
  ) => Promise<readonly SourceWarning[]>
  /** What an error of the engine means for this source; null: nothing special. */
  readonly explain: (message: string) => Explanation | null
  /** The same for an error of the query of a table, by what its files have. */
  readonly explainTable?: (
    connection: Connection,
    table: ExternalTable,
    message: string,
  ) => Promise<Explanation | null>
  /** The same for an error of a model, which names no source, where something tells that it is of this one. */
  readonly explainModel?: (message: string) => Explanation | null
}

/** What is attached for a source, in addition to the catalog that has its views. */
export const attachedName = ({ name }: Pick<ExternalSource, 'name'>) => `_eider_source_${name}`
