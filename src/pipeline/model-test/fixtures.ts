// Rows that a test of a model gives or expects, as tables with the columns of the compiled project, and the place of a value
// that DuckDB cannot read.

import { isObject } from '../../core/object.ts'
import { join } from 'node:path'
import { readTextLater } from '../../files/read-file.ts'
import { explainFault } from '../../compiler/csv/explain-fault.ts'
import { scanCsv } from '../../compiler/csv/scan.ts'
import { parseQuery } from '../../compiler/sql/query-text.ts'
import { typedRows } from '../../compiler/seed.ts'
import { DiagnosticsError, lineOf } from '../../core/diagnostics.ts'
import { foldCase } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { didYouMean } from '../../core/suggest.ts'
import type { Connection } from '../../duckdb/database.ts'
import { ifRefused, type DatabaseError } from '../../duckdb/errors.ts'
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
  const { names, lineOfName, rowsOf } = await openFile(connection, dir, file)
  const columns = names.map((name) => {
    const column = target.columns.find((one) => foldCase(one.name) === foldCase(name))
    if (column !== undefined) return column
    throw unknownColumn(file.path, lineOfName?.(name) ?? 1, name, target)
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

export function unknownColumn(
  path: string,
  line: number,
  name: string,
  { relation, columns }: Target,
): ModelFailure {
  const all = columns.map((one) => one.name)
  const hint = didYouMean(name, all) ?? `the columns are ${all.slice(0, 10).join(', ')}`
  return new ModelFailure(`${path}:${line}: ${relation} has no column "${name}"; ${hint}`, 'placed')
}

interface OpenedFile {
  readonly names: readonly string[]
  readonly lineOfName?: (name: string) => number
  readonly rowsOf: (columns: readonly Column[]) => Sql
}

async function openFile(connection: Connection, dir: string, file: RowsFile): Promise<OpenedFile> {
  const { path, format } = file
  if (format === 'csv') return openCsv(dir, path)
  if (format === 'ndjson') return openNdjson(dir, path)
  const query = await readQuery(connection, dir, path)
  return inFile(dir, path, async () => {
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
      const types = names.map((column, i) => ({
        column,
        type: isScalar(columns[i]!) ? columns[i]!.type : 'VARCHAR',
      }))
      return typedRows({ format: 'csv', source, types, delimiter }, dir)
    },
  }
}

async function openNdjson(dir: string, path: string): Promise<OpenedFile> {
  const lines = await readLines(dir, path)
  const first = new Map<string, number>()
  for (const { line, names } of lines)
    for (const name of names) if (!first.has(name)) first.set(name, line)
  const names = [...first.keys()]
  return {
    names,
    lineOfName: (name) => first.get(name)!,
    rowsOf(columns) {
      const types = names.map((name, i) => {
        const type = isScalar(columns[i]!) ? columns[i]!.type : 'JSON'
        return sql`${sql.value(name)}: ${sql.value(type)}`
      })
      return sql`SELECT * FROM read_json(${sql.value(join(dir, path))}, format = 'newline_delimited',
        columns = {${sql.join(types)}})`
    },
  }
}

/** The readers make no structured values; the cast after them does. */
const isScalar = ({ type }: Column) => !/^(?:STRUCT|MAP|UNION)\b|\]$/i.test(type)

async function readQuery(connection: Connection, dir: string, path: string): Promise<Sql> {
  try {
    return sql.body(await parseQuery(connection, await readTextLater(join(dir, path))))
  } catch (error) {
    if (!(error instanceof DiagnosticsError))
      throw new ModelFailure(`${path}: ${(error as Error).message}`, 'placed')
    const [first] = error.diagnostics
    throw new ModelFailure(`${path}: ${first?.message ?? error.message}`, 'placed')
  }
}

/** What DuckDB says of a file, with the place in it. */
export const inFile = <T>(dir: string, path: string, work: () => Promise<T>): Promise<T> =>
  ifRefused(work(), async (error) => {
    throw new ModelFailure(await placeInFixture(error, dir, path), 'placed')
  })

/** One line with the place, as far as it is known. */
async function placeInFixture(error: DatabaseError, dir: string, path: string): Promise<string> {
  const { message } = error.details
  const [, csvLine, name] =
    /^CSV Error on Line: (\d+)\n[^]*?Error when converting column "((?:[^"]|"")*)"/.exec(message) ??
    []
  const [, problem = ''] = /^line \d+: (.*)$/s.exec(problemIn(error)) ?? []
  if (csvLine !== undefined && name !== undefined)
    return await placeInCsv(dir, path, Number(csvLine), name, problem)
  const [, jsonLine, misfit = ''] =
    /^JSON transform error in file "[^]*?", in line (\d+): ([^\n]*)/.exec(message) ?? []
  if (jsonLine !== undefined) return await placeInNdjson(dir, path, Number(jsonLine), misfit)
  const line = /^line (\d+): (.*)$/s.exec(problemIn(error))
  return line === null ? `${path}: ${problemIn(error)}` : `${path}:${line[1]}: ${line[2]}`
}

async function placeInCsv(
  dir: string,
  path: string,
  line: number,
  name: string,
  problem: string,
): Promise<string> {
  const lines = (await readTextLater(join(dir, path))).replace(/^\ufeff/, '').split(/\r\n|\r|\n/)
  const index = fieldsOf(lines[0] ?? '').findIndex(({ value }) => value === name)
  const field = fieldsOf(lines[line - 1] ?? '')[index]
  const at = field === undefined ? '' : `:${field.start + 1}`
  const isEmptyText = field?.text === '""'
  const what = isEmptyText
    ? 'only string columns can hold an empty string; leave the field empty for NULL'
    : problem.replace(
        /^Error when converting column ".*?"\. Could not convert string "(.*)" to '(\w+)'$/s,
        "'$1' does not fit $2",
      )
  return `${path}:${line}${at}: ${what}${what.includes(name) ? '' : ` (column ${name})`}`
}

interface Field {
  readonly start: number
  readonly text: string
  readonly value: string
}

/** The fields of a row without line ends in its values. */
function fieldsOf(line: string): readonly Field[] {
  const fields: Field[] = []
  const field = /( *"(?:[^"]|"")*" *|[^,]*)(?:,|$)/y
  while (field.lastIndex <= line.length) {
    const start = field.lastIndex
    const found = field.exec(line)
    if (found === null) break
    const text = found[1]!.trim()
    const value = text.startsWith('"') ? text.slice(1, -1).replaceAll('""', '"') : text
    fields.push({ start, text, value })
    if (!found[0].endsWith(',')) break
  }
  return fields
}

/** DuckDB counts lines that are not blank, and names the value, not the field. */
async function placeInNdjson(
  dir: string,
  path: string,
  number: number,
  problem: string,
): Promise<string> {
  const found = (await textLines(dir, path))[number - 1]
  if (found === undefined) return `${path}: ${problem}`
  const [, value = ''] = /(?:: |cast )("(?:[^"\\]|\\.)*"|'[^']*')/.exec(problem) ?? []
  const bare = value.slice(1, -1)
  const at = bare === '' ? -1 : found.text.search(new RegExp(`:\\s*"?${escaped(bare)}"?\\s*[,}]`))
  const start = at === -1 ? -1 : found.text.slice(at + 1).search(/\S/) + at + 2
  return `${path}:${found.line}${start < 1 ? '' : `:${start}`}: ${problem}`
}

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)

interface NdjsonLine {
  /** From 1 on; blank lines count. */
  readonly line: number
  readonly text: string
  readonly names: readonly string[]
}

/** Those with an object. Throws ModelFailure with the line of one that is something else. */
export async function readLines(dir: string, path: string): Promise<readonly NdjsonLine[]> {
  return (await textLines(dir, path)).map(({ line, text }) => {
    const value = parsed(
      text,
      (problem) => new ModelFailure(`${path}:${line}: ${problem}`, 'placed'),
    )
    return { line, text, names: Object.keys(value) }
  })
}

/** Those that are not blank. */
export async function textLines(
  dir: string,
  path: string,
): Promise<readonly Omit<NdjsonLine, 'names'>[]> {
  const text = await readTextLater(join(dir, path))
  return text
    .split('\n')
    .map((each, i) => ({ line: i + 1, text: each.trim() }))
    .filter((each) => each.text !== '')
}

function parsed(text: string, failure: (problem: string) => Error): object {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw failure(`this is not JSON: ${(error as Error).message}`)
  }
  if (isObject(value)) return value
  throw failure('each line is a JSON object, such as {"id": 1}')
}
