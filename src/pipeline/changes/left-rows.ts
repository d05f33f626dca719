// Rows that a table keeps though what they were made of has gone from an input that keeps its rows too: it was rebuilt as a
// whole, or rows of it were deleted. Nobody looks for such rows unless an input says that some of its own have gone.

import { count } from '../../core/counts.ts'
import type { AppendModel, MergeModel } from '../../core/model.ts'
import type { Column } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { numberOf, textOf } from '../../duckdb/values.ts'
import { comparable, sameValues, STAGE } from '../build/materialize/stage.ts'
import type { RunContext } from '../run-context.ts'
import { isTouched } from './ranges.ts'

/** While the stage has what was read, and `table`, by default that of the model, what is written of it. */
export async function warnOfLeft(
  { changes, connection }: RunContext,
  { name, uniqueKey, watermark }: AppendModel | MergeModel,
  staged: readonly Column[],
  table: Sql = sql.relation(name),
): Promise<void> {
  const left = changes.takeLeft(name)
  if (left === null || watermark === null) return
  const value = sql.ident(watermark.column)
  const isRead = (of: Sql) => (left.ranges === null ? sql`true` : isTouched(of, left.ranges))
  const all = sql.join(
    staged.map((column) => sql`${comparable(sql`r`, column)} AS ${sql.ident(column.name)}`),
  )
  const rows =
    uniqueKey.length > 0
      ? sql`SELECT t.${value} AS v FROM ${table} t ANTI JOIN ${STAGE} s ON ${sameValues(uniqueKey, sql`t`, sql`s`)}
          WHERE ${isRead(sql`t.${value}`)}`
      : sql`SELECT ${value} AS v FROM (
          (SELECT ${all} FROM ${table} r WHERE ${isRead(sql`r.${value}`)})
          EXCEPT ALL (SELECT ${all} FROM ${STAGE} r))`
  const found = await connection.row(sql`
    SELECT count(*) AS n, CAST(min(v) AS VARCHAR) AS low, CAST(max(v) AS VARCHAR) AS high FROM (${rows})`)
  const n = numberOf(found?.['n'])
  if (n === 0) return
  const [low, high] = [textOf(found?.['low'] ?? ''), textOf(found?.['high'] ?? '')]
  const where =
    low === high ? `${watermark.column} ${low}` : `${watermark.column} from ${low} to ${high}`
  const [stay, them] = n === 1 ? ['stays', 'it'] : ['stay', 'them']
  changes.warn(
    name,
    `${count(n, 'row')} (${where}) ${stay} though the SELECT no longer gives ${them}, now that rows have gone from ${left.inputs.toSorted().join(', ')}; to remove what is gone of a range: eider run ${name} --start VALUE --end VALUE, or of all: eider run ${name} --full-refresh`,
  )
}
