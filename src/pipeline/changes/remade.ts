// Ranges that `--start` and `--end` have made of what `@keep` has left: there a model has nothing more to lose, until more
// rows of these values are removed.

import type { Model } from '../../core/model.ts'
import { foldCase, type ModelName, sameName } from '../../core/names.ts'
import { rangeColumnOf, typedRangeColumn } from '../../core/range-column.ts'
import type { ColumnType } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { WatermarkRange } from '../../core/step.ts'
import type { ClosedRange } from '../../store/changes.ts'
import type { RunContext } from '../run-context.ts'
import { nothingForgotten } from './forgets.ts'
import { hasParts, lead } from './ranges.ts'
import { losesRanges, readInputs } from './read-through.ts'
import { joinedWhole, neighbour, partEnd, partStart, rangesOf, without } from './value-ranges.ts'

/** A query of "low" and "high" of the column of the model, of this type. */
export function remadeOf(
  { store }: Pick<RunContext, 'store'>,
  model: Model,
  type: ColumnType,
): Sql {
  const { column } = rangeColumnOf(model)!
  const known = store.state.changes.forgotten.remadeOf(model.name, column)
  const value = (end: 'low' | 'high') =>
    sql`TRY_CAST(${sql.ident(end)} AS ${sql.type(type)}) AS ${sql.ident(end)}`
  return sql`SELECT low, high FROM (SELECT ${value('low')}, ${value('high')} FROM (${known})) WHERE low <= high`
}

/** In the transaction that has made the range anew. */
export async function noteRemade(
  context: RunContext,
  model: Model,
  { start, end }: WatermarkRange,
): Promise<void> {
  const { connection, project, store } = context
  const { forgotten } = store.state.changes
  const type = losesRanges(project, model) ? typeOfRange(model) : null
  if (type === null || (await nothingForgotten(context))) return
  if (!(await forgotten.hasReader(connection, model.name))) return
  const low = partStart(model, sql.value(start, type), type)
  const high = partEnd(model, neighbour(sql.value(end, type), type, -1), type)
  const all = sql`${remadeOf(context, model, type)} UNION ALL SELECT ${low}, ${high}`
  const ranges = await joinedWhole(context, all, type)
  await forgotten.writeRemade(connection, model.name, rangeColumnOf(model)!.column, ranges)
}

/** In the transaction that removes rows of an input, which had these values of one of its columns. */
export async function endRemade(
  context: RunContext,
  reader: ModelName,
  of: { readonly model: ModelName; readonly column: string },
  ranges: readonly ClosedRange[],
): Promise<void> {
  const { connection, project, store } = context
  const { forgotten } = store.state.changes
  if (!(await forgotten.hasRemade(connection, reader))) return
  const model = [...project.models.values()].find(({ name }) => foldCase(name) === foldCase(reader))
  const type = model === undefined ? null : typeOfRange(model)
  if (model === undefined || type === null) return forgotten.endRemade(connection, reader)
  const inputs = readInputs(project, model).filter(
    (one) => one.model === of.model && sameName(one.column, of.column),
  )
  const led = await lead(
    connection,
    inputs.map((one) => ({ ...one, ranges })),
    type,
  )
  // Where nobody knows what they lead to, it may be anything.
  const left =
    led === null || led.length === 0
      ? []
      : await without(context, {
          touched: remadeOf(context, model, type),
          out: rangesOf(led, type),
          type,
        })
  await forgotten.writeRemade(connection, reader, rangeColumnOf(model)!.column, left)
}

/** Of the column by which it reads a part; null: it has none, or one without an order of days or numbers. */
function typeOfRange(model: Model): ColumnType | null {
  const type = typedRangeColumn(model)?.type
  return type !== undefined && hasParts(type) ? type : null
}
