// The query of the rows of a source's file.

import { statSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'
import { delimiterOf } from '../../core/csv-settings.ts'
import { type ExternalTable, type FileFormat, fileFormats, isRemote } from '../../core/sources.ts'
import type { Column } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { textOf } from '../../duckdb/values.ts'
import { csvOptions } from '../csv/options.ts'
import { jsonOptions } from '../json/marked-array.ts'
import { separatorOf } from '../csv/separator-line.ts'
import { verbatim } from '../seed.ts'

/** A table that is a file, with the values of the environment. */
export interface FileTable extends ExternalTable {
  readonly file: string
  readonly location: string
  readonly format: FileFormat
}

/** A table in a workbook, or in those of a pattern. */
export type SheetTable = Pick<FileTable, 'file' | 'location' | 'format' | 'sheet' | 'range'>

/** A CSV table with what is known of it. */
export interface CheckedFile {
  readonly connection: Connection
  /** Of the project. */
  readonly dir: string
  readonly table: FileTable
  /** As DuckDB finds them. */
  readonly columns: readonly Column[]
  /** Of its files; none of remote ones. */
  readonly paths: readonly string[]
  /** The rows with each value as it is written. */
  readonly texts: Sql
}

export const isFileTable = (table: ExternalTable): table is FileTable =>
  table.file !== null && table.location !== null && table.format !== null

const readers = {
  csv: sql`read_csv`,
  json: sql`read_json`,
  parquet: sql`read_parquet`,
  excel: sql`read_xlsx`,
  iceberg: sql`iceberg_scan`,
  delta: sql`delta_scan`,
} as const satisfies Record<FileFormat, Sql>

/** Each value as it is written. */
export const ALL_TEXTS = { isRaw: true }

interface Reading {
  readonly isRaw?: boolean
  /** Columns whose values are texts, though DuckDB would find another type. */
  readonly asText?: readonly string[] | undefined
  /** No sign at the start of a line makes it a comment, though DuckDB would find one. */
  readonly hasNoComments?: boolean
  /** A column more, with the path of the file of a row. */
  readonly fileColumn?: string
}

export function rowsOfFile(dir: string, table: FileTable, reading: Reading = {}): Sql {
  const { format, location, parquet } = table
  if (format === 'excel') return rowsOfSheet(dir, table, reading)
  const options = [
    ...(format === 'csv'
      ? [
          declaredCsv(table, resolve(dir, location)),
          typesOf(table, reading),
          commentOf(reading),
          fileColumnOf(reading),
        ]
      : []),
    ...(parquet?.unionByName === true ? [sql`, union_by_name = true`] : []),
    ...(format === 'json' ? [jsonOptionsOf(dir, table)] : []),
  ]
  return sql`${readers[format]}(${sql.value(pathOf(dir, table))}${sql.join(options, sql.empty)})`
}

/** Of one workbook. A blank row is not the end. */
export function rowsOfSheet(
  dir: string,
  table: SheetTable,
  { isRaw = false }: Pick<Reading, 'isRaw'> = {},
): Sql {
  const { sheet, range } = table
  const options = [
    sql`, stop_at_empty = false`,
    ...(isRaw ? [sql`, all_varchar = true`] : []),
    ...(sheet === null ? [] : [sql`, sheet = ${sql.value(sheet)}`]),
    ...(range === null ? [] : [sql`, range = ${sql.value(range)}`]),
  ]
  return sql`${readers.excel}(${sql.value(pathOf(dir, table))}${sql.join(options, sql.empty)})`
}

/** As `rowsOfFile` reads them; a pattern has none. */
export const jsonOptionsOf = (dir: string, { location }: Pick<FileTable, 'location'>): Sql =>
  isRemote(location) ? sql.empty : jsonOptions(resolve(dir, location))

/** What DuckDB finds of a file's layout, as `rowsOfFile` reads it. */
export function dialectOfFile(path: string, table: FileTable): Sql {
  const { unionByName: _, ...csv } = table.csv ?? {}
  return sql`sniff_csv(${sql.value(verbatim(path))}${declaredCsv({ ...table, csv }, path)})`
}

/** `path`: of the file, or a pattern. */
function declaredCsv({ location, csv }: Pick<FileTable, 'location' | 'csv'>, path: string): Sql {
  const ending = delimiterOf(location)
  const line = isRemote(location) ? null : separatorOf(path)
  const delimiter = line ?? ending
  const options = csvOptions({ ...(delimiter !== undefined && { delimiter }), ...csv })
  return line === null ? options : sql`${options}, skip = 1`
}

const commentOf = ({ hasNoComments }: Reading): Sql =>
  hasNoComments === true ? sql`, comment = ''` : sql.empty

const fileColumnOf = ({ fileColumn }: Reading): Sql =>
  fileColumn === undefined ? sql.empty : sql`, filename = ${sql.value(fileColumn)}`

function typesOf(
  { columns: declared = new Map() }: FileTable,
  { isRaw, asText = [] }: Reading,
): Sql {
  if (isRaw === true) return sql`, all_varchar = true`
  const types = [...declared, ...asText.map((name) => [name, 'VARCHAR'] as const)]
  if (types.length === 0) return sql.empty
  const entries = types.map(([name, type]) => sql`${sql.value(name)}: ${sql.value(type)}`)
  return sql`, types = {${sql.join(entries)}}`
}

/** The name of an existing file means that file; else the path is a pattern, but the project's own directory is not. */
export function pathOf(
  dir: string,
  { location, format }: Pick<FileTable, 'location' | 'format'>,
): string {
  if (isRemote(location)) return location
  const path = resolve(dir, location)
  if (fileFormats[format].isDirectory) return path
  if (isFile(path)) return verbatim(path)
  return isAbsolute(location) ? path : join(verbatim(dir), location)
}

/** Of what cannot be looked at, such as a link to itself, the engine says what is wrong. */
export function isFile(path: string): boolean {
  try {
    return statSync(path).isFile()
  } catch {
    return false
  }
}

export const isPacked = (path: string): boolean => /\.(?:gz|zst)$/i.test(path)

/** The files of a pattern, in the order in which DuckDB reads them. */
export async function pathsOf(
  connection: Connection,
  dir: string,
  table: Pick<FileTable, 'location' | 'format'>,
): Promise<readonly string[]> {
  const pattern = pathOf(dir, table)
  const found = await connection.rows(sql`SELECT file FROM glob(${sql.value(pattern)})`)
  return found.map((row) => textOf(row['file']))
}
