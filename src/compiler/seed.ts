// Seeds: data files of the project that are models without a query.

import { join } from 'node:path'
import { type Diagnostic, diagnostic } from '../core/diagnostics.ts'
import type { SeedModel } from '../core/model.ts'
import { sameName } from '../core/names.ts'
import type { SeedFile } from '../core/project.ts'
import { columnType, isTypeText } from '../core/relation.ts'
import { type Sql, sql } from '../core/sql.ts'
import { didYouMean } from '../core/suggest.ts'
import type { Connection } from '../duckdb/database.ts'
import { DatabaseError } from '../duckdb/errors.ts'
import { problemOf } from './places.ts'

const readers: Readonly<Record<SeedModel['format'], Sql>> = {
  csv: sql`read_csv`,
  json: sql`read_json`,
  parquet: sql`read_parquet`,
}

/** The reader of the engine for a file, by the end of its name. */
export function readerOf(file: string): Sql {
  const [, extension = ''] = /\.(\w+?)(?:\.(?:gz|zst))?$/.exec(file.toLowerCase()) ?? []
  if (extension === 'parquet') return readers.parquet
  return ['json', 'jsonl', 'ndjson'].includes(extension) ? readers.json : readers.csv
}

/** The readers take patterns; in this one a name with a star or a bracket means itself. */
export const verbatim = (path: string): string => path.replaceAll(/[*?[]/g, '[$&]')

/**
 * The rows of a seed's file. `dir` is the project directory. A CSV is read with the types, so that a text such as 007
 * keeps its zeros; the other formats have types of their own, which are cast.
 */
export function seedQuery(
  { format, source, types }: Pick<SeedModel, 'format' | 'source' | 'types'>,
  dir: string,
): Sql {
  const path = sql.value(verbatim(join(dir, source.path)))
  if (types.length === 0) return sql`SELECT * FROM ${readers[format]}(${path})`
  if (format === 'csv') {
    const entries = types.map(({ column, type }) => sql`${sql.value(column)}: ${sql.value(type)}`)
    return sql`SELECT * FROM ${readers.csv}(${path}, types = {${sql.join(entries)}})`
  }
  const casts = types.map(({ column, type }) => {
    const name = sql.ident(column)
    return sql`CAST(${name} AS ${sql.type(columnType(type))}) AS ${name}`
  })
  return sql`SELECT * REPLACE (${sql.join(casts)}) FROM ${readers[format]}(${path})`
}

/** Types of a seed that cannot be used, with their places; the file itself must be readable. */
export async function wrongSeedTypes(
  connection: Connection,
  { types, format, path }: SeedFile,
  dir: string,
): Promise<readonly Diagnostic[]> {
  const untyped = seedQuery({ format, source: { path, text: '' }, types: [] }, dir)
  const names = (await connection.columnsOf(untyped)).map(({ name }) => name)
  const found: Diagnostic[] = []
  for (const { column, type, source, nameSpan, typeSpan } of types) {
    if (!names.some((name) => sameName(name, column))) {
      const hint = didYouMean(column, names) ?? `the columns are ${names.slice(0, 10).join(', ')}`
      const place = { source, span: nameSpan }
      found.push(diagnostic('unknown-seed-column', { column }, place, { hint }))
    }
    const problem = await problemOfType(connection, type)
    if (problem !== null)
      found.push(diagnostic('invalid-column-type', { type, problem }, { source, span: typeSpan }))
  }
  return found
}

async function problemOfType(connection: Connection, text: string): Promise<string | null> {
  if (!isTypeText(text)) return 'it has characters that no type has'
  try {
    await connection.columnsOf(sql`SELECT CAST(NULL AS ${sql.type(columnType(text))})`)
    return null
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error
    return problemOf(error.details)
  }
}
