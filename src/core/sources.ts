// Tables that no run builds: those of another database, and files. `sources` of eider.yml declares them.
//
// A kind of source has three parts. What is true of it everywhere is here, how its keys of eider.yml are read in
// project/sources/kinds.ts, and how an engine reads it in compiler/sources/kinds.ts.

import type { CsvSettings } from './csv-settings.ts'
import type { ServerAddress } from './server-url.ts'
import type { DeclaredCheck, FilePlace } from './source-text.ts'
import type { Diagnostic } from './diagnostics.ts'
import type { HiddenValue } from './hidden.ts'
import type { Column } from './relation.ts'
import type { Span } from './source-text.ts'

/** Tables that models read as `<name>.<table>`. */
export interface ExternalSource extends FilePlace {
  readonly name: string
  /**
   * What is written: a file relative to the project directory, or the URL of a server without its password. null where
   * each table is a file.
   */
  readonly database: string | null
  /** The same with the values of the environment; null while one is not set. */
  readonly location: string | null
  readonly kind: SourceKind
  /** null where the source is not on a server, or while a variable of its URL is not set. */
  readonly server: SourceServer | null
  /** Schema of that database. */
  readonly schema: string
  /** By which remote files are read. */
  readonly secret: FileSecret | null
  /** Whether the environment names a proxy, by which the engine then reads. */
  readonly isProxied: boolean
  readonly tables: readonly ExternalTable[]
  /** Why it cannot be read: a variable that is not set, or that holds what it must not. */
  readonly mistakes: readonly Diagnostic[]
  /** What no message may repeat. */
  readonly hidden: readonly HiddenValue[]
}

/** What has the tables: a database in a file, a server, or a file for each of them. */
export type SourceKind = 'files' | 'duckdb' | 'sqlite' | 'postgres' | 'mysql'

interface SourceTraits {
  /** What an engine needs to read it, in addition to what the formats of its files need. */
  readonly extensions: readonly string[]
  /** Functions of these extensions with which a model would reach a database that no source names. */
  readonly functions: readonly string[]
}

/** The extensions for other databases are alike. */
const scanner = (system: string): SourceTraits => ({
  extensions: [`${system}_scanner`],
  functions: ['attach', 'execute', 'query', 'scan', 'scan_pushdown'].map(
    (what) => `${system}_${what}`,
  ),
})

export const sourceKinds: Readonly<Record<SourceKind, SourceTraits>> = {
  files: { extensions: [], functions: [] },
  duckdb: { extensions: [], functions: [] },
  sqlite: scanner('sqlite'),
  postgres: scanner('postgres'),
  mysql: scanner('mysql'),
}

export type FileFormat = 'csv' | 'json' | 'parquet' | 'excel' | 'iceberg' | 'delta'

interface FormatTraits {
  readonly extensions: readonly string[]
  /** A table is a directory, of which its log says what belongs to it. */
  readonly isDirectory: boolean
}

export const fileFormats: Readonly<Record<FileFormat, FormatTraits>> = {
  csv: { extensions: [], isDirectory: false },
  json: { extensions: [], isDirectory: false },
  parquet: { extensions: [], isDirectory: false },
  excel: { extensions: ['excel'], isDirectory: false },
  iceberg: { extensions: ['avro', 'iceberg'], isDirectory: true },
  delta: { extensions: ['delta'], isDirectory: true },
}

export interface SourceServer extends ServerAddress {
  /** For people: `db.example:5432`, or `the server of ${CRM_URL}`. */
  readonly shown: string
  /** What to do about a password that is refused. */
  readonly passwordHint: string
  /** It ends when the server says nothing for so long. */
  readonly timeout: Age
}

/** An entry of `secrets`, with the values of the environment. */
export type FileSecret = StoreSecret | WebSecret

/** Without keys: nobody's, for what everybody may read. */
export interface StoreSecret extends StoreAccess {
  readonly name: string
  readonly type: 's3'
}

/** How an S3-compatible store is asked. */
export interface StoreAccess {
  readonly keyId: string | null
  readonly secret: string | null
  readonly token: string | null
  readonly region: string
  /** `host:port`; null: AWS. */
  readonly endpoint: string | null
  readonly usesTls: boolean
  readonly urlStyle: 'vhost' | 'path'
}

interface WebSecret {
  readonly name: string
  readonly type: 'http'
  /** The value of the header Authorization. */
  readonly authorization: string
}

/** What an engine needs to read the tables of a source. */
export function extensionsOfSource({
  kind,
  tables,
}: Pick<ExternalSource, 'kind' | 'tables'>): readonly string[] {
  const needed = tables.flatMap(({ format, location, file }) => [
    ...(isRemote(location ?? file ?? '') ? ['httpfs'] : []),
    ...(format === null ? [] : fileFormats[format].extensions),
  ])
  return [...new Set([...sourceKinds[kind].extensions, ...needed])]
}

export const isRemote = (path: string): boolean => path.includes('://')

export interface ExternalTable {
  readonly name: string
  /** A file, a pattern or the directory of a table, as written; null in a database. */
  readonly file: string | null
  /** The same with the values of the environment; null in a database, or while a variable is not set. */
  readonly location: string | null
  /** null in a database. */
  readonly format: FileFormat | null
  /** Sheet and cells of an Excel file. */
  readonly sheet: string | null
  readonly range: string | null
  /** Types by column: of a server, of numbers that no DECIMAL holds by itself (`DECIMAL(15, 2)` or `DOUBLE`); of a CSV, of any. */
  readonly columns?: ReadonlyMap<string, string>
  readonly csv?: CsvSettings
  /** `unionByName`: files of a pattern may have other columns and types, and a column that one lacks is NULL there. */
  readonly parquet?: { readonly unionByName?: boolean | undefined }
  /** The column of a table in a database of which each change of a row gives the row another value. */
  readonly changedBy: string | null
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
  /** What is written, such as `1 day`. */
  readonly text: string
  readonly ms: number
}

/** One table of a source, as compiled. It is saved and described, so nothing of the environment is in it. */
export interface CompiledExternal extends Pick<
  ExternalTable,
  'changedBy' | 'loadedAt' | 'warnAfter' | 'errorAfter' | 'span'
> {
  /** `source.table` */
  readonly name: string
  /** The file, or the database that has the table, as written. */
  readonly path: string
  /** Equal as long as the table is as it was; null: nothing tells cheaply. Left out where the path is that of a local file. */
  readonly stamp?: string | null
  readonly columns: readonly Column[]
  /** Columns of a CSV file that are read as text, though DuckDB finds another type for them. */
  readonly asText?: readonly string[]
}

/** By which models say that they read it: its own name where it has a version of its own, else what has it. */
export const versionedName = ({
  name,
  path,
  changedBy,
}: Pick<CompiledExternal, 'name' | 'path' | 'changedBy'>): string =>
  changedBy === null ? path : name
