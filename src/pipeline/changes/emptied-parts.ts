// Periods, and values of groups, of which the SELECT gives no row any more though inputs have rows of them: a WHERE by the
// clock, or one that was edited, leaves them out once a late row has them made anew. Where only the rows of followed
// tables decide what the SELECT gives, nothing is said: it gives none because these have changed.

import { count } from '../../core/counts.ts'
import type { Followed } from '../../compiler/lineage/follow.ts'
import type { MergeModel, PeriodModel } from '../../core/model.ts'
import { typedRangeColumn } from '../../core/range-column.ts'
import type { ColumnType } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { readsVolatile } from '../../core/with-views.ts'
import { numberOf, textOf } from '../../duckdb/values.ts'
import { STAGE } from '../build/materialize/stage.ts'
import { areOfRule } from '../rules/parts.ts'
import type { RunContext } from '../run-context.ts'
import { followingOf } from './following.ts'
import { after } from './ranges.ts'
import { partStart } from './value-ranges.ts'

const EMPTIED = sql`temp.main._eider_emptied_parts`

/**
 * While the stage has what the SELECT gives of the values that are made anew. `table`: the rows of the model until now;
 * `isMade`: whether a value of the column by which it reads is one of these.
 */
export async function warnOfEmptied(
  context: RunContext,
  model: PeriodModel | MergeModel,
  table: Sql,
  isMade: (value: Sql) => Sql,
): Promise<void> {
  const { connection, changes } = context
  const column = typedRangeColumn(model)
  const followed = followingOf(context.project, model)?.followed ?? []
  if (column === null || followed.length === 0) return
  if (!(await mayLeaveOut(context, model))) return
  const { name, type } = column
  const value = sql.ident(name)
  const start = partStart(model, value, type)
  await connection.run(sql`
    CREATE OR REPLACE TEMP TABLE _eider_emptied_parts AS
    SELECT part, count(*) AS n FROM (SELECT ${start} AS part FROM ${table} WHERE ${isMade(value)}) AS t
    ANTI JOIN (SELECT ${start} AS part FROM ${STAGE}) AS s USING (part) GROUP BY part`)
  const given = sql.join(
    followed.map((one) => partsGiven(model, one, type)),
    sql` UNION ALL `,
  )
  const row = await connection.row(sql`
    WITH given AS (SELECT DISTINCT input, part FROM (${given}) SEMI JOIN ${EMPTIED} USING (part))
    SELECT count(*) AS parts, sum(n) AS n, CAST(min(part) AS VARCHAR) AS first, CAST(max(part) AS VARCHAR) AS last,
      (SELECT string_agg(DISTINCT input, ', ' ORDER BY input) FROM given) AS inputs
    FROM ${EMPTIED} SEMI JOIN given USING (part)`)
  await connection.run(sql`DROP TABLE ${EMPTIED}`)
  const parts = numberOf(row?.['parts'])
  if (row === null || parts === 0) return
  const [first, last] = [textOf(row['first']), textOf(row['last'])]
  const rows = numberOf(row['n'])
  const what = model.kind === 'period' ? 'period' : 'value'
  const which = parts === 1 ? `of ${first}` : `of ${count(parts, what)} from ${first} to ${last}`
  const [had, go] = [count(rows, 'row'), rows === 1 ? 'it goes' : 'they go']
  changes.warn(
    model.name,
    `the SELECT gives no rows ${which} any more, of which the table had ${had}, though ${textOf(row['inputs'])} has some: ${go}; ${waysOut(model)}`,
  )
}

/** Whether a row may be left out though nothing has changed that the model follows. */
async function mayLeaveOut(context: RunContext, model: PeriodModel | MergeModel): Promise<boolean> {
  const { project } = context
  if (readsVolatile(project, model)) return true
  if ((followingOf(project, model)?.others.length ?? 0) > 0) return true
  return !(await areOfRule(context, model))
}

/** A query of the parts of which an input has rows: "input" and "part". */
function partsGiven(
  model: PeriodModel | MergeModel,
  { model: input, column, steps }: Followed,
  type: ColumnType,
): Sql {
  const led = sql`TRY_CAST(${steps.reduce(after, sql.ident(column))} AS ${sql.type(type)})`
  return sql`SELECT ${sql.value(input)} AS input, ${partStart(model, led, type)} AS part FROM ${sql.relation(input)}`
}

function waysOut({ name, expose, kind }: PeriodModel | MergeModel): string {
  const again = `to have them, let its WHERE take them, then: eider run ${name} --start VALUE --end VALUE`
  const back =
    expose === null ? '' : `, or take them from a state before: eider restore ${name} --at RUN`
  const keep =
    kind === 'period' ? '; to have rows of a certain age alone, write -- @keep instead' : ''
  return `${again}${back}${keep}`
}
