// Tables that no run builds: those of another database, and files. `sources` of eider.yml declares them.

import type { DeclaredCheck } from './declared-check.ts'
import type { Diagnostic } from './diagnostics.ts'
import type { HiddenValue } from './hidden.ts'
import type { Column } from './relation.ts'
import type { SourceFile, Span } from './source.ts'

/** Tables that models read as `<name>.<table>`. */
export interface ExternalSource {
  readonly name: string
  /** As written: a file relative to the project directory, or the URL of a server without its password; null where each table is a file. */
  readonly database: string | null
  /** The same with the values of the environment; null while one is not set. */
  readonly location: string | null
  /** What has that database. */
  readonly system: SourceSystem
  /** Of a server. */
  readonly server: SourceServer | null
  /** Schema of that database. */
  readonly schema: string
  /** By which remote files are read. */
  readonly secret: FileSecret | null
  /** Whether the environment names a proxy, by which the engine then reads. */
  readonly isProxied: boolean
  readonly tables: readonly ExternalTable[]
  /** Why it cannot be read whatever it says: a variable that is not set, or that holds what it must not. */
  readonly mistakes: readonly Diagnostic[]
  /** What no message may repeat. */
  readonly hidden: readonly HiddenValue[]
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
  /** Such as sslmode; none of them is a secret. */
  readonly parameters: readonly (readonly [name: string, value: string])[]
  /** For people: `db.example:5432`, or `the server of ${CRM_URL}`. */
  readonly shown: string
  /** What to do about a password that is refused. */
  readonly passwordHint: string
  /** It ends when the server says nothing for so long. */
  readonly timeout: Age
}

/** An entry of `secrets`, with the values of the environment. */
export type FileSecret = StoreSecret | WebSecret

export interface StoreSecret {
  readonly name: string
  readonly type: 's3'
  /** null: nobody's, for what everybody may read. */
  readonly keyId: string | null
  readonly secret: string | null
  readonly token: string | null
  readonly region: string
  /** `host:port`; null: AWS. */
  readonly endpoint: string | null
  readonly usesTls: boolean
  readonly urlStyle: 'vhost' | 'path'
}

export interface WebSecret {
  readonly name: string
  readonly type: 'http'
  /** Of the header Authorization. */
  readonly authorization: string
}

/** What an engine needs to read a database of the system; null: nothing. */
export const extensionOf = (system: SourceSystem): string | null =>
  system === 'duckdb' ? null : `${system}_scanner`

/** What an engine needs to read the tables of a source. */
export function extensionsOfSource({
  system,
  tables,
}: Pick<ExternalSource, 'system' | 'tables'>): readonly string[] {
  const ofDatabase = extensionOf(system)
  const needed = tables.flatMap(({ format, location, file }) => [
    ...(isRemote(location ?? file ?? '') ? ['httpfs'] : []),
    ...(format === null ? [] : (extensionsOfFormat[format] ?? [])),
  ])
  return [...new Set([...(ofDatabase === null ? [] : [ofDatabase]), ...needed])]
}

export const isRemote = (path: string): boolean => path.includes('://')

export type FileFormat = 'csv' | 'json' | 'parquet' | 'excel' | 'iceberg' | 'delta'

const extensionsOfFormat: Partial<Record<FileFormat, readonly string[]>> = {
  excel: ['excel'],
  iceberg: ['avro', 'iceberg'],
  delta: ['delta'],
}

export interface ExternalTable {
  readonly name: string
  /** A file, a pattern or the directory of a table, as written; null in a database. */
  readonly file: string | null
  /** The same with the values of the environment; null in a database, or while a variable is not set. */
  readonly location: string | null
  /** null in a database. */
  readonly format: FileFormat | null
  /** Of an Excel file. */
  readonly sheet: string | null
  readonly range: string | null
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

/** One table of a source, as compiled. It is saved and described, so nothing of the environment is in it. */
export interface CompiledExternal extends Pick<
  ExternalTable,
  'loadedAt' | 'warnAfter' | 'errorAfter' | 'span'
> {
  /** `source.table` */
  readonly name: string
  /** The file, or the database that has the table, as written. */
  readonly path: string
  /** Equal as long as the table is as it was; null: nothing tells cheaply. Left out where the path is that of a local file. */
  readonly stamp?: string | null
  readonly columns: readonly Column[]
}
