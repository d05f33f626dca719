// Files of a Parquet pattern that are not like the first one: DuckDB takes the columns of the first file that it finds with
// their types, leaves out what others have besides, and rounds their values, without a word.

import { relative } from 'node:path'
import { sameName } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import { isRemote } from '../../core/sources.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { ifRefused } from '../../duckdb/errors.ts'
import { textOf } from '../../duckdb/values.ts'
import { CHECKED_ROWS } from '../csv/guessed-types.ts'
import { short } from '../csv/misread-numbers.ts'
import type { Explanation } from '../hints/engine-words.ts'
import { verbatim } from '../seed.ts'
import { otherColumns, parquetProblem, SourceProblem } from './problems.ts'
import { type FileTable, isFile, pathsOf } from './rows-of-file.ts'

/** What each compile looks at, in 5 to 46 ms of a busy machine; a run looks at all before it reads them, at 1,500 in 0.9 s. */
const CHECKED_FILES = 100

interface Bounds {
  readonly files: number
  readonly rows: number
}

/** Of the files of this machine. */
export async function checkParquet(
  connection: Connection,
  dir: string,
  table: FileTable,
): Promise<void> {
  if (isRemote(table.location)) return
  const bounds = { files: CHECKED_FILES, rows: CHECKED_ROWS }
  // What else is wrong with a file itself, the models say that read it.
  const wrong = await ifRefused(otherFile(connection, dir, table, bounds), ({ details }) =>
    parquetProblem(details, dir),
  )
  if (wrong !== null) throw new SourceProblem(wrong)
}

/** Reads the footers of all files, and of those with other types the columns that have them. */
export const lateParquet = (
  connection: Connection,
  dir: string,
  table: FileTable,
): Promise<Explanation | null> => otherFile(connection, dir, table, null)

async function otherFile(
  connection: Connection,
  dir: string,
  table: FileTable,
  bounds: Bounds | null,
): Promise<Explanation | null> {
  if (table.parquet?.unionByName === true) return null
  const paths = await pathsOf(connection, dir, table)
  const [first] = paths
  if (first === undefined || paths.length === 1) return null
  const [, ...others] = await alike(connection, paths.slice(0, bounds?.files))
  if (others.length === 0) return null
  const columns = await columnsOf(connection, first)
  const shown = (path: string) => (isRemote(path) ? path : relative(dir, path))
  for (const files of others) {
    const own = await columnsOf(connection, files[0]!)
    const added = own.find(({ name }) => !has(columns, name))?.name
    const missing = columns.find(({ name }) => !has(own, name))?.name
    if (added !== undefined || missing !== undefined)
      return otherColumns(shown(first), shown(files[0]!), { added, missing }, 'parquet')
    for (const { name, type } of columns) {
      const given = own.find((one) => sameName(one.name, name))!
      if (given.type === type) continue
      const found = await changedValue(connection, files, given, type, bounds)
      if (found === null) continue
      const { file, value, as } = found
      const becomes = as === null ? `does not fit ${type}` : `would be ${short(as)}`
      return {
        problem: `${shown(file)}: the column "${given.name}" has ${short(value)} (${given.type}), which ${becomes}: it is ${type} in ${shown(first)}`,
        hint: 'give the column the same type in all files, or write "parquet: {union_by_name: true}": it then has a type for the values of all',
      }
    }
  }
  return null
}

const has = (columns: readonly Column[], name: string) =>
  columns.some((column) => sameName(column.name, name))

/** The files in groups of equal columns and types, those that are like the first one first. */
async function alike(
  connection: Connection,
  paths: readonly string[],
): Promise<readonly (readonly string[])[]> {
  const rows = await connection.rows(sql`
    SELECT file_name, md5(string_agg(concat_ws(' ', name, type, num_children, duckdb_type, logical_type), ';' ORDER BY column_id)) AS shape
    FROM parquet_schema([${sql.values(paths.map(verbatim))}]) WHERE column_id > 0
    GROUP BY file_name`)
  const shapeOf = new Map(rows.map((row) => [textOf(row['file_name']), textOf(row['shape'])]))
  const groups = new Map<string | undefined, string[]>()
  for (const path of paths) {
    const shape = shapeOf.get(path)
    const group = groups.get(shape)
    if (group === undefined) groups.set(shape, [path])
    else group.push(path)
  }
  return [...groups.values()]
}

/** Without those of its path. */
const rowsOf = (paths: readonly string[]): Sql =>
  sql`read_parquet([${sql.values(paths.map(verbatim))}], hive_partitioning = false)`

const columnsOf = (connection: Connection, path: string): Promise<readonly Column[]> =>
  connection.columnsOf(sql`SELECT * FROM ${rowsOf([path])}`)

/** A value of `column`, and what DuckDB makes of it where the column has another `type`: null where it fails. */
async function changedValue(
  connection: Connection,
  files: readonly string[],
  column: Column,
  type: Column['type'],
  bounds: Bounds | null,
): Promise<{ readonly file: string; readonly value: string; readonly as: string | null } | null> {
  const value = sql.ident(column.name)
  const cast = sql`TRY_CAST(${value} AS ${sql.type(type)})`
  const some = bounds === null ? sql.empty : sql`LIMIT ${sql.value(bounds.rows)}`
  const row = await connection.row(sql`
    SELECT filename AS file, CAST(${value} AS VARCHAR) AS value, CAST(${cast} AS VARCHAR) AS as_type
    FROM (SELECT ${value}, filename FROM ${rowsOf(files)} ${some})
    WHERE TRY_CAST(${cast} AS ${sql.type(column.type)}) IS DISTINCT FROM ${value} LIMIT 1`)
  if (row === null) return null
  const file = textOf(row['file'])
  return {
    file: isFile(file) || isRemote(file) ? file : files[0]!,
    value: textOf(row['value']),
    as: row['as_type'] === null ? null : textOf(row['as_type']),
  }
}
