// Sources that are files: how each is read, by which secret, and what tells cheaply that it has changed.

import { statSync } from 'node:fs'
import { isAbsolute, join, relative, resolve } from 'node:path'
import { count } from '../../core/counts.ts'
import { diagnostic } from '../../core/diagnostics.ts'
import { limits } from '../../core/limits.ts'
import { sameName } from '../../core/names.ts'
import { delimiterOf } from '../../core/csv-settings.ts'
import type { Column } from '../../core/relation.ts'
import {
  type ExternalSource,
  type ExternalTable,
  type FileFormat,
  fileFormats,
  type FileSecret,
  isRemote,
  type StoreSecret,
} from '../../core/sources.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { ifRefused } from '../../duckdb/errors.ts'
import { textOf } from '../../duckdb/values.ts'
import { CHECKED_ROWS, unheldValues } from '../csv/guessed-types.ts'
import { BLANK_HINT, blankEnd } from '../csv/line-ends.ts'
import { type MisreadNumber, misplacedThousands, thousandsHint } from '../csv/misread-numbers.ts'
import { numbersWithCommas } from '../csv/numbers-with-commas.ts'
import { ambiguousDate, csvOptions, explainAmbiguous } from '../csv/options.ts'
import { headerOfFile } from '../csv/scan.ts'
import { verbatim } from '../seed.ts'
import { probeFile } from './probe.ts'
import {
  emptyFile,
  otherColumns,
  refuseOtherEncoding,
  refusePipe,
  SourceProblem,
} from './problems.ts'
import type { SourceAccess, SourceWarning } from './source-access.ts'

/** A table that is a file, with the values of the environment. */
interface FileTable extends ExternalTable {
  readonly file: string
  readonly location: string
  readonly format: FileFormat
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

export const files: SourceAccess = {
  filesOf: () => [],
  open: async (_database, dir, source) => ({
    attach: async () => {},
    stamp: (connection, table) => prepareFile(connection, dir, source, fileTable(table)),
    select: async (_connection, table) => sql`SELECT * FROM ${rowsOfFile(dir, fileTable(table))}`,
    check: async (connection, table, columns) => {
      const file = fileTable(table)
      if (file.format !== 'csv') return []
      await refuseUnreadable(connection, dir, file)
      if (file.csv?.delimiter === undefined && file.csv?.header === undefined)
        await refuseLostHeader(dir, file, columns)
      await refuseOtherColumns(connection, dir, file, columns)
      const texts = sql`SELECT * FROM ${rowsOfFile(dir, file, ALL_TEXTS)}`
      await refuseAmbiguousDates(connection, file, columns, texts)
      await refuseMisread(connection, dir, file, columns, texts)
      return warningsOf(connection, dir, file, columns, texts)
    },
    explain: () => null,
  }),
}

function fileTable(table: ExternalTable): FileTable {
  if (!isFileTable(table)) throw new Error(`${table.name} has no file`)
  return table
}

/** undefined for what is hashed as any file of the project is. */
async function prepareFile(
  connection: Connection,
  dir: string,
  source: ExternalSource,
  table: FileTable,
): Promise<string | null | undefined> {
  if (!isRemote(table.location)) refusePipe(resolve(dir, table.location), table.file)
  await createSecret(connection, source, table)
  const { isDirectory } = fileFormats[table.format]
  if (/^https?:/.test(table.location)) {
    const stamp = await probeFile(table, source)
    return isDirectory ? null : stamp
  }
  const isHashed = !isRemote(table.location) && !isDirectory
  return isHashed ? undefined : stampOf(connection, dir, table)
}

const ALL_TEXTS = sql`, all_varchar = true`

/** `types`: instead of those of its columns. */
function rowsOfFile(dir: string, table: FileTable, types?: Sql): Sql {
  const { location, format, sheet, range, columns = new Map<string, string>() } = table
  const delimiter = delimiterOf(location)
  const csv = { ...(delimiter !== undefined && { delimiter }), ...table.csv }
  const declared = [...columns].map(([name, type]) => sql`${sql.value(name)}: ${sql.value(type)}`)
  const declaredTypes = declared.length === 0 ? sql.empty : sql`, types = {${sql.join(declared)}}`
  const options = [
    ...(format === 'csv' ? [csvOptions(csv), types ?? declaredTypes] : []),
    ...(sheet === null ? [] : [sql`, sheet = ${sql.value(sheet)}`]),
    ...(range === null ? [] : [sql`, range = ${sql.value(range)}`]),
  ]
  return sql`${readers[format]}(${sql.value(pathOf(dir, table))}${sql.join(options, sql.empty)})`
}

/** The name of an existing file means that file; else the path is a pattern, but the project's own directory is not. */
function pathOf(dir: string, { location, format }: FileTable): string {
  if (isRemote(location)) return location
  const path = resolve(dir, location)
  if (format === 'excel' || fileFormats[format].isDirectory) return path
  if (isFile(path)) return verbatim(path)
  return isAbsolute(location) ? path : join(verbatim(dir), location)
}

/** Of what cannot be looked at, such as a link to itself, the engine says what is wrong. */
function isFile(path: string): boolean {
  try {
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/** Up to where a path means itself: the directory above a pattern, with its slash. */
function fixedPart(path: string): string {
  const at = path.search(/[*?[]/)
  return at < 0 ? path : path.slice(0, path.lastIndexOf('/', at) + 1)
}

/** What the engine may reach of it: one file, or what is below a directory. */
export function fileReach(
  dir: string,
  { location, format }: FileTable,
): { readonly path: string } | { readonly directory: string } {
  const path = isRemote(location) ? location : resolve(dir, location)
  if (fileFormats[format].isDirectory) {
    const directory = path.replace(/\/metadata\/[^/]*\.json$/, '').replace(/\/*$/, '/')
    return { directory }
  }
  if (/^https?:/.test(location)) return { path }
  const fixed = fixedPart(path)
  return fixed === path ? { path } : { directory: fixed }
}

/**
 * One secret for each remote file, that counts for this file alone: no other path of a query is read with its key. One
 * without a key keeps those away that the environment or the user's own DuckDB has.
 */
async function createSecret(
  connection: Connection,
  source: ExternalSource,
  table: FileTable,
): Promise<void> {
  if (!isRemote(table.location)) return
  const isStore = table.location.startsWith('s3://')
  const { secret } = source
  if (secret !== null && (secret.type === 's3') !== isStore) return
  if (!isStore && secret === null) return
  const reach = fileReach('/', table)
  const scope = 'path' in reach ? reach.path.replace(/[?#].*$/s, '') : reach.directory
  const name = sql.ident(`_eider_source_${source.name}.${table.name}`)
  const parts = [sql`SCOPE ${sql.value(scope)}`, ...partsOf(secret)]
  await connection.run(sql`CREATE OR REPLACE SECRET ${name} (${sql.join(parts)})`)
}

const PUBLIC: Omit<StoreSecret, 'name'> = {
  type: 's3',
  keyId: null,
  secret: null,
  token: null,
  region: 'us-east-1',
  endpoint: null,
  usesTls: true,
  urlStyle: 'vhost',
}

function partsOf(secret: FileSecret | null): readonly Sql[] {
  if (secret?.type === 'http') {
    const headers = sql`MAP {'Authorization': ${sql.value(secret.authorization)}}`
    return [sql`TYPE http`, sql`EXTRA_HTTP_HEADERS ${headers}`]
  }
  const { keyId, secret: key, token, region, endpoint, usesTls, urlStyle } = secret ?? PUBLIC
  return [
    sql`TYPE s3`,
    sql`KEY_ID ${sql.value(keyId ?? '')}`,
    sql`SECRET ${sql.value(key ?? '')}`,
    sql`SESSION_TOKEN ${sql.value(token ?? '')}`,
    sql`REGION ${sql.value(region)}`,
    sql`ENDPOINT ${sql.value(endpoint ?? 's3.amazonaws.com')}`,
    sql`URL_STYLE ${sql.value(urlStyle)}`,
    sql`USE_SSL ${sql.value(usesTls)}`,
  ]
}

/** A store tells times in seconds: what was written just now may be written again in the same one. */
const SETTLED_MS = 2_000

/**
 * Equal as long as names, sizes and times of the files are; of a table in files, those of its log. null where the store
 * does not tell.
 */
async function stampOf(
  connection: Connection,
  dir: string,
  table: FileTable,
): Promise<string | null> {
  const files = sql.values(stampedPaths(dir, table))
  const line = sql`concat_ws(' ', filename, size, epoch_us(last_modified))`
  const query = sql`
    SELECT md5(string_agg(${line}, ';' ORDER BY filename)) AS stamp,
      count(*) = count(last_modified) AS tells, epoch_ms(max(last_modified))::DOUBLE AS last
    FROM read_blob([${files}])`
  const row = await ifRefused(connection.row(query), () => null)
  if (row?.['tells'] !== true || row['stamp'] === null) return null
  const isSettled = Date.now() - Number(row['last']) > SETTLED_MS
  return isSettled || !isRemote(table.location) ? textOf(row['stamp']) : null
}

function stampedPaths(dir: string, table: FileTable): readonly string[] {
  const path = pathOf(dir, table)
  if (table.format === 'delta') return [`${path}/_delta_log/*.json`]
  if (table.format === 'iceberg' && !path.endsWith('.json')) return [`${path}/metadata/*`]
  return [path]
}

/**
 * DuckDB finds out by itself how a CSV file is laid out. Where rows have more fields than the header it takes the
 * header for a row, or all of a line for one column, and says nothing.
 */
async function refuseLostHeader(
  dir: string,
  { location: file }: FileTable,
  columns: readonly Column[],
): Promise<void> {
  if (isRemote(file)) return
  const path = resolve(dir, file)
  const found = statSync(path, { throwIfNoEntry: false })
  if (!/\.(?:csv|tsv)$/i.test(file) || found?.isFile() !== true) return
  const header = await headerOfFile(path)
  const names = columns.map(({ name }) => name)
  const isOne = names.length === 1 && names[0]!.includes(header.delimiter)
  const isLost = names.every((name, i) => name === `column${i}`) && header.columns.length > 1
  if (header.columns.length === names.length || header.columns[0]!.startsWith('#')) return
  if (!isOne && !isLost) return
  throw new SourceProblem({
    problem: `its header has ${header.columns.length} columns (${header.columns.slice(0, 10).join(', ')}), and its rows do not, so DuckDB reads ${names.slice(0, 10).join(', ')}`,
    hint: `give each row as many fields as the header has, and put a value that contains "${header.delimiter}" in quotes`,
  })
}

/** Where DuckDB makes up columns of a file, or of all, from one of them that is empty or encoded in another way. */
async function refuseUnreadable(
  connection: Connection,
  dir: string,
  table: FileTable,
): Promise<void> {
  const { location, csv } = table
  if (isRemote(location) || !/\.(?:csv|tsv|txt)$/i.test(location)) return
  for (const path of await filesOfPattern(connection, pathOf(dir, table))) {
    const file = relative(dir, path)
    if (statSync(path).size === 0) {
      if (csv?.header !== false) throw new SourceProblem(emptyFile(file))
    } else if (csv?.encoding === 'utf-16') refuseOtherEncoding(path, file)
  }
}

async function refuseMisread(
  connection: Connection,
  dir: string,
  table: FileTable,
  columns: readonly Column[],
  texts: Sql,
): Promise<void> {
  const refuse = async (number: MisreadNumber, hint: string) => {
    const file = await fileWith(connection, dir, table, number)
    throw new SourceProblem({ problem: `${file}: ${number.problem}`, hint })
  }
  const number = await misplacedThousands(connection, texts, columns, table.csv)
  if (number !== null) await refuse(number, thousandsHint(table.csv))
  const rows = isRemote(table.location) ? limits.csvSampledRows : CHECKED_ROWS
  const some = sql`SELECT * FROM (${texts}) LIMIT ${sql.value(rows)}`
  const guessed = undeclared(table, columns)
  const [cut] = await unheldValues(connection, some, guessed, table.csv)
  if (cut !== undefined)
    await refuse(cut, `declare its type under columns of the table: ${cut.column}: ${cut.type}`)
}

const undeclared = ({ columns: declared }: FileTable, columns: readonly Column[]) =>
  columns.filter(({ name }) => ![...(declared?.keys() ?? [])].some((one) => sameName(one, name)))

async function warningsOf(
  connection: Connection,
  dir: string,
  table: FileTable,
  columns: readonly Column[],
  texts: Sql,
): Promise<readonly SourceWarning[]> {
  const guessed = undeclared(table, columns)
  const commas = await numbersWithCommas(connection, texts, guessed, table.csv)
  const found = commas.map(({ column, example, way }): SourceWarning => {
    return (at) =>
      diagnostic('decimal-comma', { column, example }, at, `write at the table: csv: ${way}`)
  })
  const { location } = table
  if (columns.length !== 1 || isRemote(location) || !/\.(?:csv|tsv|txt)$/i.test(location))
    return found
  for (const path of await filesOfPattern(connection, pathOf(dir, table))) {
    const lines = await blankEnd(path)
    if (lines === 0) continue
    const said = `${relative(dir, path)}: ${count(lines, 'blank line')}`
    found.push((at) => diagnostic('blank-rows', { lines: said }, at, BLANK_HINT))
  }
  return found
}

/** The file of a pattern that has the value; a column of the same name hides that of the engine. */
async function fileWith(
  connection: Connection,
  dir: string,
  table: FileTable,
  { column, value }: MisreadNumber,
): Promise<string> {
  if (isRemote(table.location)) return table.file
  const row = await connection.row(sql`
    SELECT filename FROM ${rowsOfFile(dir, table, ALL_TEXTS)}
    WHERE trim(${sql.ident(column)}) = ${sql.value(value)} LIMIT 1`)
  const path = textOf(row?.['filename'] ?? '')
  return isFile(path) ? relative(dir, path) : table.file
}

/** A date that is read as another one when a later row arrives is refused until it is said which one it is. */
async function refuseAmbiguousDates(
  connection: Connection,
  { csv }: FileTable,
  columns: readonly Column[],
  texts: Sql,
): Promise<void> {
  if (csv?.dateFormat !== undefined || csv?.timestampFormat !== undefined) return
  const found = await ambiguousDate(connection, texts, columns)
  if (found !== null) throw new SourceProblem(explainAmbiguous(found))
}

/**
 * DuckDB takes the columns of the first file that a pattern finds, and leaves out what other files have besides, without a
 * word. Of a column that one lacks it speaks itself, and names no file of the project.
 */
async function refuseOtherColumns(
  connection: Connection,
  dir: string,
  table: FileTable,
  columns: readonly Column[],
): Promise<void> {
  const { location, csv } = table
  if (isRemote(location) || csv?.unionByName === true || !/\.(?:csv|tsv)$/i.test(location)) return
  const [first, ...others] = await filesOfPattern(connection, pathOf(dir, table))
  if (first === undefined || others.length === 0) return
  const namesOf = async (path: string) => (await headerOfFile(path)).columns
  const names = await namesOf(first)
  // Where DuckDB has found its names elsewhere, the first line is no header.
  if (!columns.every(({ name }, i) => name === names[i])) return
  for (const file of others) {
    const own = await namesOf(file)
    const added = own.find((name) => !names.includes(name))
    const missing = names.find((name) => !own.includes(name))
    if (added === undefined && missing === undefined) continue
    throw new SourceProblem(
      otherColumns(relative(dir, first), relative(dir, file), { added, missing }),
    )
  }
}

/** In the order in which DuckDB reads them. */
async function filesOfPattern(connection: Connection, pattern: string): Promise<readonly string[]> {
  const found = await connection.rows(sql`SELECT file FROM glob(${sql.value(pattern)})`)
  return found.map((row) => textOf(row['file']))
}
