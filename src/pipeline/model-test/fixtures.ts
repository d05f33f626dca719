// Rows that a test of a model gives or expects, as tables with the columns of the compiled project.

import { join } from 'node:path'
import { readFile } from 'node:fs/promises'
import { explainFault } from '../../compiler/csv/explain-fault.ts'
import { scanCsv } from '../../compiler/csv/scan.ts'
import { parseQuery } from '../../compiler/sql/query-text.ts'
import { seedQuery } from '../../compiler/seed.ts'
import { DiagnosticsError, lineOf } from '../../core/diagnostics.ts'
import { foldCase } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { didYouMean } from '../../core/suggest.ts'
import type { Connection } from '../../duckdb/database.ts'
import { DatabaseError } from '../../duckdb/errors.ts'
import { ModelFailure, problemIn } from '../failure.ts'

/** A file of rows, relative to the project directory. */
export interface RowsFile {
  readonly path: string
  readonly format: 'csv' | 'ndjson' | 'sql'
}

export interface Target {
  /** What the rows are of, for messages. */
  readonly relation: string
  readonly columns: readonly Column[]
}

/** The rows of the file with the types of the columns that it has. Throws ModelFailure with the place in the file. */
export async function readRows(
  connection: Connection,
  dir: string,
  file: RowsFile,
  target: Target,
): Promise<{ readonly rows: Sql; readonly columns: readonly Column[] }> {
  const { names, rowsOf } = await openFile(connection, dir, file)
  const known = new Map(target.columns.map((column) => [foldCase(column.name), column]))
  const columns = names.map((name) => {
    const column = known.get(foldCase(name))
    if (column !== undefined) return column
    const all = target.columns.map((one) => one.name)
    const hint = didYouMean(name, all) ?? `the columns are ${all.slice(0, 10).join(', ')}`
    throw new ModelFailure(
      `${file.path}:1: ${target.relation} has no column "${name}"; ${hint}`,
      'placed',
    )
  })
  const casts = columns.map(({ name, type }, i) => {
    const value = sql.ident(names[i]!)
    return sql`CAST(${value} AS ${sql.type(type)}) AS ${sql.ident(name)}`
  })
  const rows =
    columns.length === 0
      ? sql`SELECT 1 WHERE false`
      : sql`SELECT ${sql.join(casts)} FROM (${rowsOf(columns)}) AS _eider_rows`
  return { rows, columns }
}

interface OpenedFile {
  readonly names: readonly string[]
  readonly rowsOf: (columns: readonly Column[]) => Sql
}

async function openFile(connection: Connection, dir: string, file: RowsFile): Promise<OpenedFile> {
  const { path, format } = file
  if (format === 'csv') return openCsv(dir, path)
  const query =
    format === 'sql'
      ? await readQuery(connection, dir, path)
      : sql`SELECT * FROM read_json(${sql.value(join(dir, path))}, format = 'newline_delimited', sample_size = -1)`
  return inFile(path, async () => {
    const found = await connection.columnsOf(query)
    return { names: found.map(({ name }) => name), rowsOf: () => query }
  })
}

/** Texts become values with the types of the columns as they are read, so that a mistake has its line. */
async function openCsv(dir: string, path: string): Promise<OpenedFile> {
  const { shape, fault } = await scanCsv(join(dir, path), ',')
  if (fault !== null || shape === null) {
    const mistake = fault === null ? null : await explainFault(fault, shape, dir, path)
    throw new ModelFailure(mistake === null ? `${path}: no header` : lineOf(mistake), 'placed')
  }
  const { columns: names, delimiter } = shape
  const source = { path, text: '' }
  return {
    names,
    rowsOf(columns) {
      const types = names.map((column, i) => ({ column, type: scalarOr(columns[i]!.type) }))
      return seedQuery({ format: 'csv', source, types, delimiter }, dir)
    },
  }
}

/** The reader of CSV makes no structured values; the cast after it does. */
const scalarOr = (type: string) => (/^(?:STRUCT|MAP|UNION)\b|\]$/i.test(type) ? 'VARCHAR' : type)

async function readQuery(connection: Connection, dir: string, path: string): Promise<Sql> {
  try {
    return sql.body(await parseQuery(connection, await readFile(join(dir, path), 'utf8')))
  } catch (error) {
    if (!(error instanceof DiagnosticsError))
      throw new ModelFailure(`${path}: ${(error as Error).message}`, 'placed')
    const [first] = error.diagnostics
    throw new ModelFailure(`${path}: ${first?.message ?? error.message}`, 'placed')
  }
}

/** What DuckDB says of a file, with its name. */
export async function inFile<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error
    const problem = problemIn(error)
    const line = /^line (\d+): (.*)$/s.exec(problem)
    throw new ModelFailure(
      line === null ? `${path}: ${problem}` : `${path}:${line[1]}: ${line[2]}`,
      'placed',
    )
  }
}
