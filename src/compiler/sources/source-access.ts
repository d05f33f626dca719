// What an engine does with the sources of a kind.

import { type Explanation } from '../hints/engine-words.ts'
import type { Diagnostic } from '../../core/diagnostics.ts'
import type { FilePlace } from '../../core/source-text.ts'
import type { ExternalSource, ExternalTable } from '../../core/sources.ts'
import type { Column } from '../../core/relation.ts'
import type { Sql } from '../../core/sql.ts'
import type { Connection, Database } from '../../duckdb/database.ts'

/** A diagnostic without its place, which is that of the table in eider.yml. */
export type SourceWarning = (at: FilePlace) => Diagnostic

export interface SourceAccess {
  /** The files of this machine that the source itself is, without those of its tables; null: it is on the network. */
  readonly filesOf: (source: ExternalSource, dir: string) => readonly string[] | null
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
  /** The same for an error of a model, which names no source. `isOnly`: no other source of the kind is attached. */
  readonly explainModel?: (message: string, isOnly: boolean) => Explanation | null
}

/** What is attached for a source, in addition to the catalog that has its views. */
export const attachedName = ({ name }: Pick<ExternalSource, 'name'>) => `_eider_source_${name}`
