// Seeds: data files of the project that are models without a query.

import { join } from 'node:path'
import { type Diagnostic, diagnostic } from '../core/diagnostics.ts'
import type { CsvSettings } from '../core/csv-settings.ts'
import type { SeedFormat, SeedModel } from '../core/model.ts'
import { sameName } from '../core/names.ts'
import type { SeedFile } from '../core/project.ts'
import { type Column, columnType, isTypeText } from '../core/relation.ts'
import { type Sql, sql } from '../core/sql.ts'
import { didYouMean } from '../core/suggest.ts'
import type { Connection } from '../duckdb/database.ts'
import { ifRefused, refusalOf } from '../duckdb/errors.ts'
import { missingType, TYPE_HINT } from './hints/binding.ts'
import { problemOf, type Explanation } from './hints/engine-words.ts'
import { columnsAsText } from './csv/lone-words.ts'
import { csvOptions } from './csv/options.ts'
import { jsonOptions } from './json/marked-array.ts'

const readers: Readonly<Record<SeedFormat, Sql>> = {
  csv: sql`read_csv`,
  json: sql`read_json`,
  parquet: sql`read_parquet`,
}

/** The readers take patterns; in this one a name with a star or a bracket means itself. */
export const verbatim = (path: string): string => path.replaceAll(/[*?[]/g, '[$&]')

export type SeedRows = Pick<SeedModel, 'format' | 'source' | 'types' | 'delimiter' | 'csv'>

/**
 * The rows of a seed's file. `dir` is the project directory. A CSV is read with the types, so that a text such as 007
 * keeps its zeros; the other formats have their own types, which are cast.
 */
export function seedQuery({ format, source, types, delimiter, csv }: SeedRows, dir: string): Sql {
  const path = sql.value(verbatim(join(dir, source.path)))
  if (format === 'csv') return csvQuery(path, delimiter ?? ',', types, csv)
  const options = format === 'json' ? jsonOptions(join(dir, source.path)) : sql.empty
  const rows = sql`${readers[format]}(${path}${options})`
  if (types.length === 0) return sql`SELECT * FROM ${rows}`
  const casts = types.map(({ column, type }) => {
    const name = sql.ident(column)
    return sql`CAST(${name} AS ${sql.type(columnType(type))}) AS ${name}`
  })
  return sql`SELECT * REPLACE (${sql.join(casts)}) FROM ${rows}`
}

/** The rows of a JSON file with these columns, of these types. */
export function jsonRows({ source }: SeedRows, dir: string, types: Sql): Sql {
  const path = join(dir, source.path)
  return sql`SELECT * FROM read_json(${sql.value(verbatim(path))}${jsonOptions(path)}, columns = ${types})`
}

/** The rows of a CSV with each value as it is written. */
export function seedTexts({ source, delimiter, csv = {} }: SeedRows, dir: string): Sql {
  const path = sql.value(verbatim(join(dir, source.path)))
  return readCsv(path, delimiter ?? ',', sql`${csvOptions(csv)}, all_varchar = true`)
}

/** Columns of a CSV that are read as text, though DuckDB finds another type for them. */
export async function seedColumnsAsText(
  connection: Connection,
  shape: SeedRows,
  dir: string,
): Promise<readonly string[]> {
  if (shape.format !== 'csv') return []
  const columns = await connection.columnsOf(seedQuery(shape, dir))
  const guessed = columns.filter(({ name }) => !isDeclared(shape, name))
  return columnsAsText(connection, seedTexts(shape, dir), guessed)
}

/** The rows of a CSV whose columns have types, in which "" is an empty text and nothing at all is NULL. */
export function typedRows({ source, delimiter, types }: SeedRows, dir: string): Sql {
  const path = sql.value(verbatim(join(dir, source.path)))
  const declared = sql`, allow_quoted_nulls = false${typesOf(types)}`
  return readCsv(path, delimiter ?? ',', declared)
}

/** Nothing but the types is left for DuckDB to find: what it finds of a file's shape may leave out its header and rows. */
function csvQuery(
  path: Sql,
  delimiter: string,
  types: SeedRows['types'],
  settings: CsvSettings = {},
): Sql {
  return readCsv(path, delimiter, sql`${csvOptions(settings)}${typesOf(types)}`)
}

function typesOf(types: SeedRows['types']): Sql {
  const entries = types.map(({ column, type }) => sql`${sql.value(column)}: ${sql.value(type)}`)
  return entries.length === 0 ? sql.empty : sql`, types = {${sql.join(entries)}}`
}

function readCsv(path: Sql, delimiter: string, types: Sql): Sql {
  return sql`SELECT * FROM read_csv(${path}, delim = ${sql.value(delimiter)}, quote = '"', escape = '"', comment = '',
    header = true, skip = 0, null_padding = false, strict_mode = true, ignore_errors = false${types})`
}

/** Types of a seed that cannot be used, with their places; the file itself must be readable. */
export async function wrongSeedTypes(
  connection: Connection,
  { types }: SeedFile,
  rows: SeedRows,
  dir: string,
): Promise<readonly Diagnostic[]> {
  const untyped = seedQuery({ ...rows, types: [] }, dir)
  const names = (await connection.columnsOf(untyped)).map(({ name }) => name)
  const found: Diagnostic[] = []
  for (const { column, type, source, nameSpan, typeSpan } of types) {
    if (!names.some((name) => sameName(name, column))) {
      const hint = didYouMean(column, names) ?? `the columns are ${names.slice(0, 10).join(', ')}`
      const place = { source, span: nameSpan }
      found.push(diagnostic('unknown-seed-column', { column }, place, hint))
    }
    const wrong = await problemOfType(connection, type)
    if (wrong === null) continue
    const { problem, hint = TYPE_HINT } = wrong
    const place = { source, span: typeSpan }
    found.push(diagnostic('invalid-column-type', { type, problem }, place, hint))
  }
  return found
}

/** A CSV without rows gives VARCHAR to all columns that have no declared type, which tells nothing of later rows. */
export async function untypedColumns(
  connection: Connection,
  { types, format, path }: SeedFile,
  columns: readonly Column[],
  shape: SeedRows,
  dir: string,
): Promise<readonly Diagnostic[]> {
  if (format !== 'csv') return []
  const untyped = columns.filter(({ name }) => !types.some(({ column }) => sameName(column, name)))
  if (untyped.length === 0 || untyped.some(({ type }) => type !== 'VARCHAR')) return []
  const rows = seedQuery({ ...shape, types: [] }, dir)
  if (!(await isEmpty(connection, rows))) return []
  const place = { source: { path, text: '' }, span: { start: 0, end: 0 } }
  const names = untyped.map(({ name }) => `"${name}"`).join(', ')
  const hint = `declare them under "columns" in ${types[0]?.source.path ?? ymlOf(path)}`
  return [diagnostic('untyped-empty-seed', { columns: names }, place, hint)]
}

/** False for rows that cannot be read, which the run tells with their place. */
const isEmpty = async (connection: Connection, rows: Sql): Promise<boolean> =>
  (await ifRefused(connection.row(sql`FROM (${rows}) LIMIT 1`), () => 'unknown')) === null

export const ymlOf = (path: string) => path.replace(/\.\w+$/, '.yml')

/** Why a text is no type of a column; an empty problem where the hint alone tells. */
export async function problemOfType(
  connection: Connection,
  text: string,
): Promise<Explanation | null> {
  if (!isTypeText(text)) return { problem: 'it contains characters that no type name has' }
  const type = sql.type(columnType(text))
  const error = await refusalOf(connection.columnsOf(sql`SELECT CAST(NULL AS ${type})`))
  if (error === null) return null
  const missing = missingType(error.details)
  if (missing === null) return { problem: problemOf(error.details) }
  return missing.problem === `no type "${text}"` ? { ...missing, problem: '' } : missing
}

export const isDeclared = ({ types }: SeedRows, name: string) =>
  types.some(({ column }) => sameName(column, name))
