// The checks of a model, on the rows that it has just been given.

import { existsSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { checkedRows, failingRows } from '../../compiler/checks/check-query.ts'
import { kinds } from '../../core/kinds.ts'
import { limits } from '../../core/limits.ts'
import type { Check, Model } from '../../core/model.ts'
import { foundRowsText, wrongCountText } from '../../core/report/check-result.ts'
import { placeText } from '../../core/source-text.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { DatabaseError, isFatal, isInterrupt, refusalOf } from '../../duckdb/errors.ts'
import { numberOf } from '../../duckdb/values.ts'
import { explainFailure, ModelFailure, problemIn, withDisk } from '../failure.ts'
import { countRows } from './materialize/relation.ts'

/** Where rows that a check finds are kept, and how many of each. */
interface KeptRows {
  /** The directory of the project. */
  readonly dir: string
  /** 0: none, and those of a build before, when a setting asked for them, go. */
  readonly most: number
}

/** In the directory of the project; each model has a directory of its name in it. */
export const KEPT_IN = join('target', 'failing_rows')

/**
 * In the transaction that made the rows: a failure rolls it back, so that the last good version stays. One line for each
 * `@warn` that found rows. `kept`: null changes no file. Throws ModelFailure with all of `@check` that did.
 */
export async function runChecks(
  connection: Connection,
  model: Model,
  kept: KeptRows | null = null,
): Promise<readonly string[]> {
  const warnings: string[] = []
  const failures: string[] = []
  const keptIn = join(KEPT_IN, model.name)
  if (kept !== null && existsSync(join(kept.dir, KEPT_IN)))
    await rm(join(kept.dir, keptIn), { recursive: true, force: true })
  for (const [i, check] of model.checks.entries()) {
    const found = await withPlace(model, check, () => runCheck(connection, model, check))
    if (found === null) continue
    const { keep, text } = found
    const file = join(keptIn, `${i + 1}.ndjson`)
    const isKept = kept !== null && kept.most > 0
    if (isKept) await keep(join(kept.dir, file), kept.most)
    const line = isKept ? `${text}; kept in ${file}` : text
    ;(check.severity === 'warn' ? warnings : failures).push(line)
  }
  const [first, ...more] = failures
  if (first !== undefined) throw new ModelFailure([first, ...more].join('; '), 'placed')
  return warnings
}

/**
 * The checks of a table that any command can run. Those of sources, and queries that read a source, wait for the next run,
 * which attaches them.
 */
export async function checksOfTables(
  connection: Connection,
  { checks }: Model,
): Promise<readonly Check[]> {
  const found: Check[] = []
  for (const check of checks) {
    if (check.on !== undefined) continue
    const { test } = check
    if (
      test.is === 'query' &&
      (await refusalOf(connection.columnsOf(sql.body(test.body)))) !== null
    )
      continue
    found.push(check)
  }
  return found
}

/**
 * The checks on rows that no build has made. `problem`: why they do not let these pass, in one line; null: they do, with a
 * line for each `@warn` that found rows.
 */
export async function judgeRows(
  connection: Connection,
  model: Model,
): Promise<{ readonly problem: string | null; readonly warnings: readonly string[] }> {
  try {
    return { problem: null, warnings: await runChecks(connection, model) }
  } catch (error) {
    if (isInterrupt(error)) throw error
    return { problem: explainFailure(error, model, null), warnings: [] }
  }
}

interface FoundRows {
  readonly text: string
  /** Writes rows as JSON, one to a line. A transaction that is rolled back leaves them. */
  readonly keep: (path: string, most: number) => Promise<void>
}

/** null where the check holds. */
async function runCheck(
  connection: Connection,
  model: Model,
  check: Check,
): Promise<FoundRows | null> {
  const { test, text: condition, on = model.name, upTo } = check
  const failing = failingRows(on, check)
  const text = sql`CAST(_eider_row AS VARCHAR)`
  const most = sql.value(limits.shownRowCharacters)
  const cut = sql`CASE WHEN length(${text}) > ${most} THEN left(${text}, ${most}) || '…' ELSE ${text} END`
  const row = await connection.row(sql`
    SELECT count(*) AS n, min(${cut}, ${sql.value(limits.shownKeys)}) AS shown
    FROM (${failing}) AS _eider_row`)
  const rows = numberOf(row?.['n'])
  if (rows === 0) return null
  let percent: number | null = null
  if (upTo?.unit === 'rows' && rows <= upTo.most) return null
  if (upTo?.unit === 'percent') {
    percent = (100 * rows) / Math.max(1, await countRows(connection, checkedRows(on, check.where)))
    if (percent <= upTo.most) return null
  }
  const place = placeOf(model, check)
  return {
    text:
      test.is === 'row_count'
        ? wrongCountText(
            { place, condition, rows: await rowsCounted(connection, failing) },
            { table: on, isPart: check.where !== undefined },
          )
        : foundRowsText({
            place,
            condition,
            rows,
            isQuery: test.is === 'query',
            model: check.on ?? null,
            percent,
            shown: row?.['shown'] as readonly string[],
          }),
    async keep(path, most) {
      await mkdir(dirname(path), { recursive: true })
      await connection.run(
        sql`COPY (FROM (${failing}) LIMIT ${sql.value(most)}) TO ${sql.value(path)} (FORMAT json)`,
      )
    },
  }
}

/** Of the one row that `row_count` gives. */
async function rowsCounted(connection: Connection, failing: Sql): Promise<number> {
  const row = await connection.row(sql`SELECT "row_count" AS n FROM (${failing})`)
  return numberOf(row?.['n'])
}

const placeOf = (model: Model, { source = model.source, span }: Check): string =>
  placeText(source, span.start)

/** What fails on these rows, such as a cast, is reported with the place of the check, where the rows are there already. */
async function withPlace<T>(model: Model, check: Check, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof DatabaseError) || isInterrupt(error) || isFatal(error)) throw error
    // The rows of a view are made by its SELECT, which may be what fails.
    if (check.source === undefined && kinds[model.kind].relation === 'view') throw error
    const what = check.source === undefined ? `${check.text}: ` : ''
    throw new ModelFailure(
      `${placeOf(model, check)}: ${what}${withDisk(error, problemIn(error))}`,
      'placed',
    )
  }
}
