// Seeds: a data file of the project, read as a table.

import { join } from 'node:path'
import { delimiterOf } from '../../core/csv-settings.ts'
import { type Diagnostic, diagnostic } from '../../core/diagnostics.ts'
import type { SeedFile } from '../../core/project.ts'
import { CONFLICT_HINT, wholeFile } from '../../core/source-text.ts'
import { isTypeText } from '../../core/relation.ts'
import { hintOfSystem, problemOfSystem } from '../../files/system-errors.ts'
import type { Sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { type DatabaseErrorDetails, ifRefused } from '../../duckdb/errors.ts'
import { conflictIn } from '../csv/conflicts.ts'
import { otherFormat } from '../csv/other-format.ts'
import { REPEATED_HINT, repeatedNames } from '../csv/repeated-names.ts'
import { separatorOf } from '../csv/separator-line.ts'
import { checkCsvSeed } from '../csv/check-seed.ts'
import { explainFault } from '../csv/explain-fault.ts'
import {
  jsonRows,
  seedColumnsAsText,
  seedQuery,
  type SeedRows,
  untypedColumns,
  wrongSeedTypes,
  ymlOf,
} from '../seed.ts'
import { lostDigits } from '../json/lost-digits.ts'
import { scanCsv, type CsvShape } from '../csv/scan.ts'
import { modelsInDeclared, resolveDeclared } from '../checks/resolve-checks.ts'
import { definitionOf } from '../definition-hash.ts'
import { type Draft, type DraftContext, unstorableColumns } from './draft.ts'
import { problemOf } from '../hints/engine-words.ts'
import { withoutDir } from '../hints/engine-diagnostic.ts'

/** What is known about a seed before DuckDB reads it. */
export interface KnownSeed {
  readonly file: SeedFile
  /** null where the file is not a CSV. */
  readonly shape: CsvShape | null
  readonly warnings: readonly Diagnostic[]
}

/** Scans a CSV; the other formats are left to DuckDB. Returns a diagnostic instead of a seed on an error. */
export async function readSeed(file: SeedFile, dir: string): Promise<KnownSeed | Diagnostic> {
  const { path, format } = file
  const none = { file, shape: null, warnings: [] }
  if (format === 'parquet') return none
  try {
    const conflict = conflictIn(join(dir, path), path)
    if (conflict !== null) return diagnostic('merge-conflict', {}, conflict, CONFLICT_HINT)
    if (format !== 'csv') return none
    const other = await notCsv(join(dir, path), path)
    if (other !== null) return other
    const { shape, fault } = await scanCsv(join(dir, path), delimiterOf(path) ?? null)
    if (fault !== null) return await explainFault(fault, shape, dir, path)
    return { file, shape, warnings: warningsOf(shape, path) }
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error
    const problem = problemOfSystem(error)
    return diagnostic('unreadable-file', { problem }, wholeFile(path), hintOfSystem(error))
  }
}

async function notCsv(path: string, shown: string): Promise<Diagnostic | null> {
  const other = await otherFormat(path, { file: 'the file', isSeed: true })
  if (other !== null)
    return diagnostic('unreadable-file', { problem: other.problem }, wholeFile(shown), other.hint)
  const separator = separatorOf(path)
  if (separator === null) return null
  const problem = `the first line is sep=${separator}, which is for Excel`
  const hint = 'remove it: the header tells which sign parts the values'
  return diagnostic('seed-row', { problem }, wholeFile(shown), hint)
}

const warningsOf = (shape: CsvShape | null, path: string): readonly Diagnostic[] =>
  repeatedNames(shape?.columns ?? []).map((repeated) =>
    diagnostic('duplicate-seed-column', { ...repeated }, wholeFile(path), REPEATED_HINT),
  )

export async function draftSeeds(
  seeds: readonly KnownSeed[],
  context: DraftContext,
): Promise<readonly Draft[]> {
  const drafts: Draft[] = []
  for (const seed of seeds) drafts.push(await draftSeed(seed, context))
  return drafts
}

async function draftSeed(seed: KnownSeed, context: DraftContext): Promise<Draft> {
  const { connection, dir } = context
  const { name, path, format, types, checks: declared = [] } = seed.file
  const referenced = modelsInDeclared(declared).flatMap(
    (model) => context.findModel(model.name) ?? [],
  )
  const dependsOn = [...new Set(referenced)].filter((model) => model !== name)
  const place = wholeFile(path)
  const { source } = place
  const declaredTypes = types.map(({ column, type }) => ({ column, type }))
  // A text that is not a type cannot be put into SQL; it is reported when the seed is finished.
  const readable = types.every(({ type }) => isTypeText(type))
  const delimiter = format === 'csv' ? (seed.shape?.delimiter ?? ',') : null
  const csv = seed.file.csv === undefined ? {} : { csv: seed.file.csv }
  const written = { source, format, delimiter, types: readable ? declaredTypes : [], ...csv }
  // Rows that cannot be read are reported when they are bound.
  const codes = await ifRefused(seedColumnsAsText(connection, written, dir), () => [])
  const asText = codes.map((column) => ({ column, type: 'VARCHAR' }))
  const wanted = [...declaredTypes, ...asText]
  const shape = { ...written, types: [...written.types, ...asText] }
  return {
    name,
    dependsOn,
    complete: true,
    rows: () => seedQuery(shape, dir),
    placeOf: () => place,
    explain: (details) => explainSeed(details, seed.file, shape, context),
    finish: async (columns) => {
      const found = await resolveDeclared(declared, name, columns, context)
      const { checks } = found
      const reads = { dependsOn, sources: [], files: [path], volatile: false, checks }
      const words = { description: null, tags: [], owner: null, places: {} }
      const base = { name, source, ...words, expose: null, columns }
      const parts: unknown[] = wanted.length === 0 ? [] : [wanted]
      if (delimiter !== null && delimiter !== ',') parts.push({ delimiter })
      if (csv.csv !== undefined) parts.push(csv)
      if (checks.length > 0)
        parts.push({ checks: checks.map(({ severity, text }) => [severity, text]) })
      const definition = definitionOf('seed', format, ...parts)
      const own = { kind: 'seed', format, types: wanted, delimiter, ...csv } as const
      const diagnostics = readable
        ? [
            ...found.diagnostics,
            ...(await untypedColumns(connection, seed.file, columns, shape, dir)),
            ...(await checkJsonSeed(connection, dir, seed.file, shape)),
            ...(await checkCsvSeed(connection, dir, { file: seed.file, rows: shape, columns })),
          ]
        : await wrongSeedTypes(connection, seed.file, shape, dir)
      const unstorable = unstorableColumns(context, columns, {
        source,
        spanOf: () => place.span,
        hintOf: ({ name: column }) =>
          `give it another type in the .yml next to the seed: ${column}: JSON`,
      })
      const all = [...diagnostics, ...unstorable]
      return { model: { ...base, ...reads, definition, ...own }, diagnostics: all }
    },
  }
}

/** Types that are declared are those of casts, before which the digits are lost. */
async function checkJsonSeed(
  connection: Connection,
  dir: string,
  { path, format }: SeedFile,
  shape: SeedRows,
): Promise<readonly Diagnostic[]> {
  if (format !== 'json') return []
  const columns = await connection.columnsOf(seedQuery({ ...shape, types: [] }, dir))
  const readAs = (types: Sql) => jsonRows(shape, dir, types)
  // The run reports rows that cannot be read.
  const found = await ifRefused(lostDigits(connection, columns, readAs), () => null)
  if (found === null) return []
  const declared = `, and declare their type in ${ymlOf(path)}, under columns: ${found.column}: HUGEINT, or VARCHAR for ids`
  const hint = `write these numbers in quotes${found.type === 'VARCHAR' ? declared : ''}`
  return [diagnostic('seed-row', { problem: found.problem }, wholeFile(path), hint)]
}

async function explainSeed(
  details: DatabaseErrorDetails,
  file: SeedFile,
  rows: SeedRows,
  { connection, dir }: DraftContext,
): Promise<readonly Diagnostic[]> {
  const unreadable = (error: DatabaseErrorDetails) => {
    const problem = `the file cannot be read: ${problemOf(withoutDir(error, dir))}`
    const hint = 'check that the file is complete and has the format of its extension'
    return diagnostic('unreadable-file', { problem }, wholeFile(file.path), hint)
  }
  const wrong = await ifRefused(wrongSeedTypes(connection, file, rows, dir), (error) => [
    unreadable(error.details),
  ])
  return wrong.length > 0 ? wrong : [unreadable(details)]
}
