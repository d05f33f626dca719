// Checks on the rows of a model, in the transaction that made them: a failure rolls it back, so that the last good
// version stays.

import { count } from '../../core/counts.ts'
import { failingRows } from '../../compiler/checks/check-query.ts'
import { limits } from '../../core/limits.ts'
import type { Check, Model } from '../../core/model.ts'
import { positionOf } from '../../core/source.ts'
import { sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { numberOf } from '../../duckdb/values.ts'
import { ModelFailure } from '../failure.ts'

/** One line for each `@warn` that found rows. Throws ModelFailure with all of `@check` that did. */
export async function runChecks(connection: Connection, model: Model): Promise<readonly string[]> {
  const warnings: string[] = []
  const failures: string[] = []
  for (const check of model.checks) {
    const found = await runCheck(connection, model, check)
    if (found !== null) (check.severity === 'warn' ? warnings : failures).push(found)
  }
  const [first, ...more] = failures
  if (first !== undefined) throw new ModelFailure([first, ...more].join('; '), 'placed')
  return warnings
}

async function runCheck(
  connection: Connection,
  model: Model,
  { test, text: condition, span }: Check,
): Promise<string | null> {
  const text = sql`CAST(_eider_row AS VARCHAR)`
  const most = sql.value(limits.shownRowCharacters)
  const cut = sql`CASE WHEN length(${text}) > ${most} THEN left(${text}, ${most}) || '…' ELSE ${text} END`
  const row = await connection.row(sql`
    SELECT count(*) AS n, min(${cut}, ${sql.value(limits.shownKeys)}) AS shown
    FROM (${failingRows(model.name, test)}) AS _eider_row`)
  const rows = numberOf(row?.['n'])
  if (rows === 0) return null
  const shown = row?.['shown'] as readonly string[]
  const more = rows > shown.length ? '; and more' : ''
  const { line, column } = positionOf(model.source, span.start)
  return `${model.source.path}:${line}:${column}: ${condition} does not hold for ${count(rows, 'row')}: ${shown.join('; ')}${more}`
}
