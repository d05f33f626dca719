// Checks on the rows of a model, in the transaction that made them: a failure rolls it back, so that the last good
// version stays.

import { count } from '../../core/counts.ts'
import { failingRows } from '../../compiler/checks/check-query.ts'
import { limits } from '../../core/limits.ts'
import type { Check, Model } from '../../core/model.ts'
import { placeText } from '../../core/source.ts'
import { sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { DatabaseError, isInterrupt } from '../../duckdb/errors.ts'
import { numberOf } from '../../duckdb/values.ts'
import { ModelFailure, problemIn } from '../failure.ts'
import { countRows } from './materialize/relation.ts'

/** One line for each `@warn` that found rows. Throws ModelFailure with all of `@check` that did. */
export async function runChecks(connection: Connection, model: Model): Promise<readonly string[]> {
  const warnings: string[] = []
  const failures: string[] = []
  for (const check of model.checks) {
    const found = await withPlace(model, check, () => runCheck(connection, model, check))
    if (found !== null) (check.severity === 'warn' ? warnings : failures).push(found)
  }
  const [first, ...more] = failures
  if (first !== undefined) throw new ModelFailure([first, ...more].join('; '), 'placed')
  return warnings
}

async function runCheck(
  connection: Connection,
  model: Model,
  check: Check,
): Promise<string | null> {
  const { test, text: condition, on = model.name, upTo } = check
  const text = sql`CAST(_eider_row AS VARCHAR)`
  const most = sql.value(limits.shownRowCharacters)
  const cut = sql`CASE WHEN length(${text}) > ${most} THEN left(${text}, ${most}) || '…' ELSE ${text} END`
  const row = await connection.row(sql`
    SELECT count(*) AS n, min(${cut}, ${sql.value(limits.shownKeys)}) AS shown
    FROM (${failingRows(on, test)}) AS _eider_row`)
  const rows = numberOf(row?.['n'])
  if (rows === 0) return null
  let share = ''
  if (upTo?.unit === 'rows' && rows <= upTo.most) return null
  if (upTo?.unit === 'percent') {
    const percent = (100 * rows) / Math.max(1, await countRows(connection, sql.relation(on)))
    if (percent <= upTo.most) return null
    share = ` (${Number(percent.toPrecision(3))}%)`
  }
  const shown = row?.['shown'] as readonly string[]
  const more = rows > shown.length ? '; and more' : ''
  const what = test.is === 'query' ? 'finds' : 'does not hold for'
  const where = check.on === undefined ? '' : ` of ${check.on}`
  return `${placeOf(model, check)}: ${condition} ${what} ${count(rows, 'row')}${where}${share}: ${shown.join('; ')}${more}`
}

const placeOf = (model: Model, { source = model.source, span }: Check): string =>
  placeText(source, span.start)

/** A query that fails on these rows, such as a cast, is reported with the file of the check. */
async function withPlace<T>(model: Model, check: Check, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const isOwn = error instanceof DatabaseError && check.source !== undefined
    if (!isOwn || isInterrupt(error) || error.details.type === 'FATAL') throw error
    throw new ModelFailure(`${placeOf(model, check)}: ${problemIn(error)}`, 'placed')
  }
}
