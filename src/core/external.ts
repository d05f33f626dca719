// Tables that no run builds: those of another database, and files. `sources` of eider.yml declares them.

import type { DeclaredCheck } from './declared-check.ts'
import type { Column } from './relation.ts'
import type { SourceFile, Span } from './source.ts'

/** Tables that models read as `<name>.<table>`. */
export interface ExternalSource {
  readonly name: string
  /** A file relative to the project directory, or the URL of a server without its password; null where each table is a file. */
  readonly database: string | null
  /** What has that database. */
  readonly system: SourceSystem
  /** Of a server. */
  readonly server: SourceServer | null
  /** Schema of that database. */
  readonly schema: string
  readonly tables: readonly ExternalTable[]
  readonly source: SourceFile
  readonly span: Span
}

export type SourceSystem = 'duckdb' | 'sqlite' | 'postgres' | 'mysql'

export interface SourceServer {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly database: string
  readonly password: string | null
}

/** What an engine needs to read it; null: nothing. */
export const extensionOf = (system: SourceSystem): string | null =>
  system === 'duckdb' ? null : `${system}_scanner`

/** Whether nothing tells cheaply that its rows have changed. */
export const isRemote = (path: string): boolean => path.includes('://')

export interface ExternalTable {
  readonly name: string
  /** A file or a pattern, relative to the project directory; null in a database. */
  readonly file: string | null
  /** The column whose greatest value says when rows came last. */
  readonly loadedAt: string | null
  /** Age of that value at which those that read the table are warned, or fail. */
  readonly warnAfter: Age | null
  readonly errorAfter: Age | null
  /** Looked at when a model that reads it is built; none when absent. */
  readonly checks?: readonly DeclaredCheck[]
  readonly span: Span
}

export interface Age {
  /** As written, such as `1 day`. */
  readonly text: string
  readonly ms: number
}

/** One table of a source, as compiled. */
export interface CompiledExternal extends Omit<ExternalTable, 'name' | 'file' | 'checks'> {
  /** `source.table` */
  readonly name: string
  /** The file, or the database that has the table, as written. */
  readonly path: string
  readonly columns: readonly Column[]
}
