// Sources that are files: how each is read, by which secret, and what tells cheaply that it has changed.

import { resolve } from 'node:path'
import { grouped } from '../../core/counts.ts'
import {
  type ExternalSource,
  type ExternalTable,
  fileFormats,
  type FileSecret,
  isRemote,
  type StoreSecret,
} from '../../core/sources.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { ifRefused } from '../../duckdb/errors.ts'
import { textOf } from '../../duckdb/values.ts'
import { columnsAsText } from '../csv/lone-words.ts'
import { checkCsv, refuseOtherBytes, undeclared } from './check-csv.ts'
import { refuseOtherFormats } from './check-format.ts'
import { checkSheets } from './check-sheet.ts'
import { refuseWrongColumns } from './declared-columns.ts'
import { refuseLostDigits } from './late-json.ts'
import { checkParquet } from './parquet-files.ts'
import { probeFile } from './probe.ts'
import { refusePipe, SourceProblem } from './problems.ts'
import {
  ALL_TEXTS,
  type FileTable,
  isFileTable,
  pathOf,
  pathsOf,
  rowsOfFile,
} from './rows-of-file.ts'
import { raggedRow } from './ragged-rows.ts'
import type { SourceAccess } from './source-access.ts'
import { explainWorkbook, rowsOfWorkbooks } from './workbooks.ts'

export const files: SourceAccess = {
  filesOf: () => [],
  open: async (_database, dir, source) => ({
    attach: async () => {},
    stamp: (connection, table) => prepareFile(connection, dir, source, fileTable(table)),
    select: async (connection, table, asText) => {
      const file = fileTable(table)
      if (asText.length === 0) await refuseWrongColumns(connection, dir, file)
      if (file.format === 'excel')
        return sql`${await rowsOfWorkbooks(connection, dir, file)} WHERE ${IS_FILLED}`
      return sql`SELECT * FROM ${rowsOfFile(dir, file, { asText })}`
    },
    asText: async (connection, table, columns) => {
      const file = fileTable(table)
      if (file.format !== 'csv') return []
      await refuseOtherBytes(connection, dir, file)
      const texts = sql`SELECT * FROM ${rowsOfFile(dir, file, ALL_TEXTS)}`
      return columnsAsText(connection, texts, undeclared(file, columns))
    },
    check: async (connection, table, columns) => {
      const file = fileTable(table)
      if (file.format === 'json') await refuseLostDigits(connection, dir, file, columns)
      if (file.format === 'parquet') await checkParquet(connection, dir, file)
      if (file.format === 'excel') return checkSheets(connection, dir, file, columns)
      return file.format === 'csv' ? checkCsv(connection, dir, file, columns) : []
    },
    explain: () => null,
    explainTable: (connection, table, message) => {
      const file = fileTable(table)
      if (file.format === 'excel') return explainWorkbook(dir, file)
      return explainLayout(connection, dir, file, message)
    },
  }),
}

/** Where DuckDB finds no layout of a CSV file, or another one than that of the first file. */
async function explainLayout(
  connection: Connection,
  dir: string,
  table: FileTable,
  message: string,
) {
  if (table.format !== 'csv' || isRemote(table.location)) return null
  const other = /^Schema mismatch between globbed files[^]*\nCurrent file: (.*)\n/.exec(
    message,
  )?.[1]
  if (other === undefined && !message.startsWith('Error when sniffing file')) return null
  const paths = other === undefined ? await pathsOf(connection, dir, table) : [resolve(dir, other)]
  return raggedRow({ connection, dir, table, paths, columns: null })
}

/** A blank row of a sheet is none. */
const IS_FILLED = sql`concat(*COLUMNS(*)) <> ''`

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
  await refuseManyFiles(connection, dir, table)
  await refuseOtherFormats(connection, dir, table)
  const { isDirectory } = fileFormats[table.format]
  if (/^https?:/.test(table.location)) {
    const stamp = await probeFile(table, source)
    return isDirectory ? null : stamp
  }
  const isHashed = !isRemote(table.location) && !isDirectory
  return isHashed ? undefined : stampOf(connection, dir, table)
}

/** Of 40,000 files of one row a check takes 36 seconds of a processor and 740 MB, and both grow with their number. */
const PATTERN_FILES = 100_000

/** Before any is opened. The names alone are listed in one call. */
async function refuseManyFiles(connection: Connection, dir: string, table: FileTable) {
  const path = pathOf(dir, table)
  if (isRemote(path) || fixedPart(path) === path) return
  const files = sql`SELECT 1 FROM glob(${sql.value(path)}) LIMIT ${sql.value(PATTERN_FILES + 1)}`
  const row = await connection.row(
    sql`SELECT count(*) > ${sql.value(PATTERN_FILES)} AS many FROM (${files})`,
  )
  if (row?.['many'] === true) throw tooManyFiles(table)
}

const tooManyFiles = ({ file }: FileTable) =>
  new SourceProblem({
    problem: `${file} matches more than ${grouped(PATTERN_FILES)} files, and at most so many are read`,
    hint: 'join files into larger ones, such as one Parquet file a day, or name fewer by the pattern',
  })

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
      count(*) > ${sql.value(PATTERN_FILES)} AS many, count(*) = count(last_modified) AS tells, epoch_ms(max(last_modified))::DOUBLE AS last
    FROM read_blob([${files}])`
  const row = await ifRefused(connection.row(query), () => null)
  if (row?.['many'] === true) throw tooManyFiles(table)
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
