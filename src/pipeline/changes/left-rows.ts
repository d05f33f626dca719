// Rows that a table keeps though the SELECT no longer gives them: what they were made of has gone from an input, or has
// other values there. Nobody looks for such rows where inputs have only more rows than before.

import { count } from '../../core/counts.ts'
import type { AppendModel, MergeModel } from '../../core/model.ts'
import type { Column } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { numberOf, type Row, textOf } from '../../duckdb/values.ts'
import { bytesOfText, differs, needsText, sameValues, STAGE } from '../build/materialize/stage.ts'
import { countRows } from '../build/materialize/relation.ts'
import type { RunContext } from '../run-context.ts'
import type { Left } from './change-notes.ts'
import { saysWhatGoes } from './forgets.ts'
import { isTouched } from './ranges.ts'

/** While the stage has what was read, and `table`, by default that of the model, what is written of it. */
export async function warnOfLeft(
  context: RunContext,
  model: AppendModel | MergeModel,
  staged: readonly Column[],
  table: Sql = sql.relation(model.name),
): Promise<void> {
  const { changes, connection, forwardOnly } = context
  const {
    name,
    uniqueKey: [first, ...others],
    watermark,
  } = model
  const left = changes.takeLeft(name)
  if (left === null || watermark === null) return
  const value = sql.ident(watermark.column)
  const isRead = readPart(left)
  const all = sql.join(
    staged.map(({ name, type }) => {
      const column = sql.ident(name)
      const part = sql`r.${column}`
      return sql`${needsText(type) ? sql`${part}::VARCHAR` : bytesOfText(part, type)} AS ${column}`
    }),
  )
  const byKey = (key: readonly [string, ...string[]]) => {
    const isGone = sql`s.${sql.ident(key[0])} IS NULL`
    // A merge writes what differs, and --forward-only says that rows are to keep their values.
    const keepsValues = model.kind === 'append' && !forwardOnly
    const isOther = keepsValues ? differs(staged, key) : sql`false`
    return sql`SELECT t.${value} AS v, ${isGone} AS is_gone
      FROM ${table} t LEFT JOIN ${STAGE} s ON ${sameValues(key, sql`t`, sql`s`)}
      WHERE ${isRead(sql`t.${value}`)} AND (${isGone} OR ${isOther})`
  }
  const rows =
    first !== undefined
      ? byKey([first, ...others])
      : sql`SELECT ${value} AS v, true AS is_gone FROM (
          (SELECT ${all} FROM ${table} r WHERE ${isRead(sql`r.${value}`)})
          EXCEPT ALL (SELECT ${all} FROM ${STAGE} r))`
  const found = await connection.rows(sql`
    SELECT is_gone, count(*) AS n, CAST(min(v) AS VARCHAR) AS low, CAST(max(v) AS VARCHAR) AS high
    FROM (${rows}) GROUP BY is_gone ORDER BY is_gone DESC`)
  if (found.length === 0) return
  const said = found.map((row) => textOfLeft(row, watermark.column)).join(', and ')
  changes.warn(
    name,
    `${said}, after changes of ${left.inputs.toSorted().join(', ')}; to make a range as the SELECT has it now: eider run ${name} --start VALUE --end VALUE, or all of it: eider run ${name} --full-refresh`,
  )
}

interface Planned {
  /** Of the model, as it is before. */
  readonly table: Sql
  /** What the SELECT gives. */
  readonly stage: Sql
  /** Rows that it will have more. */
  readonly added: number
}

/**
 * Of a merge that reads its SELECT whole: while the stage has that, and each key of it is in the table, or will be. So its
 * rows are those that stay and those of the stage, and two counts tell whether any do.
 */
export async function warnOfKept(
  { project, connection, changes }: RunContext,
  model: MergeModel,
  planned: Planned = { table: sql.relation(model.name), stage: STAGE, added: 0 },
): Promise<void> {
  const { name, uniqueKey, watermark, deletes } = model
  if (watermark !== null || deletes !== null || saysWhatGoes(project, model)) return
  const { table, stage, added } = planned
  const rows = (await countRows(connection, table)) + added
  if (rows <= (await countRows(connection, stage))) return
  const value = sql`t.${sql.ident(uniqueKey[0])}`
  const found = await connection.row(sql`
    SELECT true AS is_gone, count(*) AS n, CAST(min(${value}) AS VARCHAR) AS low, CAST(max(${value}) AS VARCHAR) AS high
    FROM ${table} t ANTI JOIN ${stage} s ON ${sameValues(uniqueKey, sql`t`, sql`s`)}`)
  if (found === null || numberOf(found['n']) === 0) return
  changes.warn(
    name,
    `${textOfLeft(found, uniqueKey[0])}; to remove such rows: -- @deletes: mirror, and if they are meant to stay: -- @deletes: keep`,
  )
}

/** Which rows of the table were read again, without those of which an input may only have forgotten what made them. */
function readPart({ ranges, least }: Left): (value: Sql) => Sql {
  if (ranges !== null) return (value) => isTouched(value, ranges)
  // An unknown text is read as the type of the column.
  return (value) => (least === null ? sql`true` : sql`${value} >= ${sql.value(least)}`)
}

/** `row`: how many, "n", from "low" to "high" of the column. */
export function countedRows(row: Row, column: string): string {
  const [low, high] = [textOf(row['low'] ?? ''), textOf(row['high'] ?? '')]
  const values = low === high ? low : `from ${low} to ${high}`
  return `${count(numberOf(row['n']), 'row')} (${column} ${values})`
}

function textOfLeft(row: Row, column: string): string {
  const n = numberOf(row['n'])
  const rows = countedRows(row, column)
  if (row['is_gone'] === true)
    return n === 1
      ? `${rows} stays though the SELECT no longer gives it`
      : `${rows} stay though the SELECT no longer gives them`
  return n === 1
    ? `${rows} keeps its values though the SELECT gives others`
    : `${rows} keep their values though the SELECT gives others`
}
