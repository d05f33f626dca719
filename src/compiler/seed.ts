// Seeds: data files of the project that are models without a query.

import { join } from 'node:path'
import { type Diagnostic, diagnostic } from '../core/diagnostics.ts'
import type { CsvSettings } from '../core/csv-settings.ts'
import type { SeedFormat, SeedModel } from '../core/model.ts'
import { limits } from '../core/limits.ts'
import { sameName } from '../core/names.ts'
import type { SeedFile } from '../core/project.ts'
import { type Column, columnType, isTypeText } from '../core/relation.ts'
import { type Sql, sql } from '../core/sql.ts'
import { didYouMean } from '../core/suggest.ts'
import type { Connection } from '../duckdb/database.ts'
import { ifRefused, refusalOf } from '../duckdb/errors.ts'
import { missingType, TYPE_HINT } from './hints/binding.ts'
import { problemOf, type Explanation } from './hints/engine-words.ts'
import { wholeFile } from '../core/source-text.ts'
import { misplacedThousands, short, thousandsHint } from './csv/misread-numbers.ts'
import { ambiguousDate, csvOptions, explainAmbiguous, wayOfCommas } from './csv/options.ts'
import { numberOf } from '../duckdb/values.ts'

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
  if (types.length === 0) return sql`SELECT * FROM ${readers[format]}(${path})`
  const casts = types.map(({ column, type }) => {
    const name = sql.ident(column)
    return sql`CAST(${name} AS ${sql.type(columnType(type))}) AS ${name}`
  })
  return sql`SELECT * REPLACE (${sql.join(casts)}) FROM ${readers[format]}(${path})`
}

/** The rows of a CSV with each value as it is written. */
function seedTexts({ source, delimiter, csv = {} }: SeedRows, dir: string): Sql {
  const path = sql.value(verbatim(join(dir, source.path)))
  return readCsv(path, delimiter ?? ',', sql`${csvOptions(csv)}, all_varchar = true`)
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

const ymlOf = (path: string) => path.replace(/\.\w+$/, '.yml')

async function problemOfType(connection: Connection, text: string): Promise<Explanation | null> {
  if (!isTypeText(text)) return { problem: 'it contains characters that no type name has' }
  const type = sql.type(columnType(text))
  const error = await refusalOf(connection.columnsOf(sql`SELECT CAST(NULL AS ${type})`))
  if (error === null) return null
  const missing = missingType(error.details)
  if (missing === null) return { problem: problemOf(error.details) }
  return missing.problem === `no type "${text}"` ? { ...missing, problem: '' } : missing
}

/**
 * Numbers of a CSV that the type which DuckDB finds for their column cannot hold: a long whole number and a fraction make
 * the column DOUBLE, which has 15 digits, and 1e400 is infinite there. Neither is reported. For the columns whose types are
 * not declared.
 */
export async function lostDigits(
  connection: Connection,
  { path, types }: SeedFile,
  columns: readonly Column[],
  shape: SeedRows,
  dir: string,
): Promise<readonly Diagnostic[]> {
  const guessed = columns.filter(
    ({ name, type }) => type === 'DOUBLE' && !types.some(({ column }) => sameName(column, name)),
  )
  if (guessed.length === 0) return []
  const rows = seedTexts(shape, dir)
  const found: Diagnostic[] = []
  for (const { name } of guessed) {
    const text = sql`trim(${sql.ident(name)})`
    const exact = sql`TRY_CAST(${text} AS HUGEINT)`
    const isInfinite = sql`isinf(TRY_CAST(${text} AS DOUBLE)) AND regexp_full_match(${text}, '[-+.0-9eE]+')`
    // A double is exact up to 2^53; one step beyond that is not what was written.
    const isCut = sql`regexp_full_match(${text}, '[-+]?[0-9]+(\\.[0-9]*)?') AND abs(trunc(TRY_CAST(${text} AS DOUBLE))) >= 9007199254740992
      AND (${exact} IS NULL OR TRY_CAST(TRY_CAST(${text} AS DOUBLE) AS HUGEINT) IS DISTINCT FROM ${exact}
        OR contains(${text}, '.'))`
    const row = await connection.row(sql`
      SELECT min(${text}) FILTER (WHERE ${isInfinite}) AS infinite, min(${text}) FILTER (WHERE ${isCut}) AS cut,
        max(length(regexp_extract(${text}, '\\.([0-9]*)', 1))) AS decimals FROM (${rows})`)
    const infinite = row?.['infinite'] as string | null
    const cut = row?.['cut'] as string | null
    if (infinite === null && cut === null) continue
    const decimals = Math.min(numberOf(row?.['decimals'] ?? 0), 18)
    const type = infinite === null ? `DECIMAL(38,${decimals})` : 'VARCHAR'
    const problem =
      infinite === null
        ? `the column "${name}" has ${short(cut!)} as well as fractions, so it would be DOUBLE and lose digits`
        : `the column "${name}" has ${short(infinite)}, which is beyond DOUBLE and would be infinite`
    const hint = `declare its type in ${path.replace(/\.\w+$/, '.yml')}, under columns: ${name}: ${type}`
    found.push(diagnostic('seed-row', { problem }, wholeFile(path), hint))
  }
  return found
}

/** Dates of a CSV that are read as others when a later row arrives. */
export async function ambiguousDates(
  connection: Connection,
  { path, csv }: SeedFile,
  columns: readonly Column[],
  shape: SeedRows,
  dir: string,
): Promise<readonly Diagnostic[]> {
  if (csv?.dateFormat !== undefined || csv?.timestampFormat !== undefined) return []
  const found = await ambiguousDate(connection, seedTexts(shape, dir), columns)
  if (found === null) return []
  const { problem, hint } = explainAmbiguous(found)
  return [diagnostic('seed-row', { problem }, wholeFile(path), `${ymlOf(path)}: ${hint}`)]
}

/** Numbers of a CSV whose sign of thousands stands elsewhere. */
export async function wrongThousands(
  connection: Connection,
  { path, csv }: SeedFile,
  columns: readonly Column[],
  shape: SeedRows,
  dir: string,
): Promise<readonly Diagnostic[]> {
  const found = await misplacedThousands(connection, seedTexts(shape, dir), columns, csv)
  if (found === null) return []
  const { problem } = found
  return [diagnostic('seed-row', { problem }, wholeFile(path), thousandsHint(csv))]
}

/** Numbers as most of Europe writes them, which are text until somebody says so. */
export async function decimalCommas(
  connection: Connection,
  { path, csv }: SeedFile,
  columns: readonly Column[],
  shape: SeedRows,
  dir: string,
): Promise<readonly Diagnostic[]> {
  if (csv?.decimal !== undefined || csv?.thousands !== undefined) return []
  const isDeclared = (name: string) => shape.types.some(({ column }) => sameName(column, name))
  // What is no name has a mistake of its own.
  const isNamed = (name: string) => name !== '' && !name.includes('\0')
  const found = columns.filter(
    ({ name, type }) => type === 'VARCHAR' && isNamed(name) && !isDeclared(name),
  )
  if (found.length === 0) return []
  const texts = sql`(SELECT * FROM (${seedTexts(shape, dir)}) LIMIT ${sql.value(limits.csvSampledRows)})`
  const examples = found.map(({ name }, i) => {
    const text = sql.ident(name)
    const areAll = (pattern: string) =>
      sql`bool_and(regexp_full_match(${text}, ${sql.value(pattern)}))`
    return sql`min(${text}) AS ${sql.ident(`e${i}`)},
      ${areAll(IN_THOUSANDS)} AS ${sql.ident(`t${i}`)}, ${areAll(WITH_COMMA)} AS ${sql.ident(`d${i}`)},
      bool_or(contains(${text}, '.')) AS ${sql.ident(`p${i}`)}`
  })
  const row = await connection.row(sql`SELECT ${sql.join(examples)} FROM ${texts}`)
  return found.flatMap(({ name }, i) => {
    const example = row?.[`e${i}`]
    const [areThousands, areDecimals] = [row?.[`t${i}`] === true, row?.[`d${i}`] === true]
    if (typeof example !== 'string' || !(areThousands || areDecimals)) return []
    const way = wayOfCommas({ areThousands, areDecimals, haveDots: row?.[`p${i}`] === true })
    const hint = `${ymlOf(path)}: write csv: ${way}`
    return [diagnostic('decimal-comma', { column: name, example }, wholeFile(path), hint)]
  })
}

const WITH_COMMA = String.raw`\s*-?(?:\d+|\d{1,3}(?:\.\d{3})+),\d+\s*`
/** As English writes 1,234. With one comma, nothing tells it from decimals of which there are three. */
const IN_THOUSANDS = String.raw`\s*-?\d{1,3}(?:,\d{3})+\s*`
