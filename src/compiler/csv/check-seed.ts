// What DuckDB would read of a CSV seed as something that nobody wrote: it is refused, or said.

import { join } from 'node:path'
import { grouped } from '../../core/counts.ts'
import { type Diagnostic, diagnostic } from '../../core/diagnostics.ts'
import type { SeedFile } from '../../core/project.ts'
import type { Column } from '../../core/relation.ts'
import type { Sql } from '../../core/sql.ts'
import { wholeFile } from '../../core/source-text.ts'
import type { Connection } from '../../duckdb/database.ts'
import { ifRefused } from '../../duckdb/errors.ts'
import { isDeclared, type SeedRows, seedTexts, ymlOf } from '../seed.ts'
import { unheldValues } from './guessed-types.ts'
import { BLANK_HINT, blankLines, blankProblem } from './line-ends.ts'
import { misplacedThousands, thousandsHint } from './misread-numbers.ts'
import { hintOfWords, numbersWithWords } from './null-words.ts'
import { numbersWithCommas } from './numbers-with-commas.ts'
import { ambiguousDate, explainAmbiguous } from './options.ts'
import { leakingZone, zoneHint } from './zone-names.ts'

interface BoundSeed {
  readonly file: SeedFile
  readonly rows: SeedRows
  readonly columns: readonly Column[]
}

interface CheckedSeed extends BoundSeed {
  readonly connection: Connection
  /** The rows with each value as it is written. */
  readonly texts: Sql
  /** Columns whose types nobody has declared. */
  readonly guessed: readonly Column[]
}

type SeedCheck = (seed: CheckedSeed) => Promise<readonly Diagnostic[]>

/** `dir`: that of the project. */
export async function checkCsvSeed(
  connection: Connection,
  dir: string,
  bound: BoundSeed,
): Promise<readonly Diagnostic[]> {
  const { file, rows, columns } = bound
  if (rows.format !== 'csv') return []
  const guessed = columns.filter(({ name }) => !isDeclared(rows, name))
  const seed = { ...bound, connection, texts: seedTexts(rows, dir), guessed }
  const found: Diagnostic[] = []
  // The run reports rows that cannot be read, with their place.
  for (const check of checks) found.push(...(await ifRefused(check(seed), () => [])))
  return columns.length === 1 ? [...found, ...(await blankRows(dir, file))] : found
}

const checks: readonly SeedCheck[] = [
  async function unheld({ connection, texts, guessed, file: { path, csv } }) {
    const found = await unheldValues(connection, texts, guessed, csv)
    return found.map(({ column, problem, type }) => {
      const hint = `declare its type in ${ymlOf(path)}, under columns: ${column}: ${type}`
      return refusal(path, problem, hint)
    })
  },
  async function ambiguousDates({ connection, texts, columns, file: { path, csv } }) {
    if (csv?.dateFormat !== undefined || csv?.timestampFormat !== undefined) return []
    const found = await ambiguousDate(connection, texts, columns)
    if (found === null) return []
    const { problem, hint } = explainAmbiguous(found)
    return [refusal(path, problem, `${ymlOf(path)}: ${hint}`)]
  },
  async function wrongThousands({ connection, texts, columns, file: { path, csv } }) {
    const found = await misplacedThousands(connection, texts, columns, csv)
    return found === null ? [] : [refusal(path, found.problem, thousandsHint(csv))]
  },
  async function zoneNames({ connection, texts, columns, file: { path } }) {
    const found = await leakingZone(connection, texts, columns)
    return found === null ? [] : [refusal(path, found.problem, zoneHint(found.column))]
  },
  async function decimalCommas({ connection, texts, guessed, file: { path, csv } }) {
    const found = await numbersWithCommas(connection, texts, guessed, csv)
    return found.map(({ column, example, way }) => {
      const hint = `${ymlOf(path)}: write csv: ${way}`
      return diagnostic('decimal-comma', { column, example }, wholeFile(path), hint)
    })
  },
  async function nullWords({ connection, texts, guessed, file: { path, csv } }) {
    const found = await numbersWithWords(connection, texts, guessed, csv)
    return found.map((one) => {
      const parameters = { problem: one.problem(`, first in row ${grouped(one.first)}`) }
      const hint = `${ymlOf(path)}: write ${hintOfWords(one, csv)}`
      return diagnostic('numbers-as-text', parameters, wholeFile(path), hint)
    })
  },
]

const refusal = (path: string, problem: string, hint: string) =>
  diagnostic('seed-row', { problem }, wholeFile(path), hint)

async function blankRows(dir: string, { path, csv }: SeedFile): Promise<readonly Diagnostic[]> {
  const blank = await blankLines(join(dir, path), csv?.quote)
  if (blank === 0) return []
  return [diagnostic('blank-rows', { problem: blankProblem(blank) }, wholeFile(path), BLANK_HINT)]
}
