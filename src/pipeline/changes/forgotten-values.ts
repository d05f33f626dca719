// Which values `@keep` has removed, noted for the models that read a table by them: their rows may be made of what is gone.

import type { Model } from '../../core/model.ts'
import { sameName } from '../../core/names.ts'
import { sql, type Sql } from '../../core/sql.ts'
import type { ClosedRange } from '../../store/changes.ts'
import type { RunContext } from '../run-context.ts'
import type { ColumnValues } from './change-notes.ts'
import { isMadeOfForgotten, nothingForgotten } from './forgets.ts'
import { valuesOf } from './notes.ts'
import { hasParts, joinedRanges, rangesIn } from './ranges.ts'
import { columnsToNote, readersThrough } from './read-through.ts'
import { endRemade } from './remade.ts'
import { rangeRows } from './value-ranges.ts'

/** Of rows of a relation of the model, as far as it has these columns. Of a text nobody asks, and it may be what is to be forgotten. */
export async function valuesOfRows(
  context: RunContext,
  model: Model,
  rows: Sql,
  columns: readonly { readonly name: string }[],
): Promise<ColumnValues> {
  const found = new Map<string, readonly ClosedRange[]>()
  for (const { name, type } of columnsToNote(context, model)) {
    if (!hasParts(type) || !columns.some((one) => sameName(one.name, name))) continue
    found.set(name, await rangesIn(context.connection, valuesOf(rows)(name), type))
  }
  return found
}

/** In the transaction that removes the rows which had these values. */
export async function noteForgotten(
  context: RunContext,
  model: Model,
  values: ColumnValues,
): Promise<void> {
  const { connection, store } = context
  const { changes } = store.state
  for (const [column, ranges] of values) {
    const type = model.columns.find(({ name }) => sameName(name, column))?.type
    if (type === undefined || ranges.length === 0) continue
    const gone = rangeRows(ranges)
    const through = readersThrough(context.project, model).filter((one) =>
      sameName(one.column, column),
    )
    const readers = [
      ...changes.readersOf(model.name, column),
      ...through.map(({ reader }) => reader),
    ]
    for (const reader of new Set(readers)) {
      const one = { reader, model: model.name, column }
      const known = sql`${changes.forgotten.of(one)} UNION ALL ${gone}`
      await changes.forgotten.write(connection, one, await joinedRanges(connection, known, type))
      await endRemade(context, reader, one, ranges)
    }
  }
}

/**
 * In the transaction that makes the table of a model from nothing, before `@keep` removes anything of it. The table has no
 * rows of what its inputs have removed, and others find in it all that there ever was, unless its own inputs have forgotten
 * some of that.
 */
export async function startAnew(context: RunContext, model: Model): Promise<void> {
  if (await nothingForgotten(context)) return
  const { connection, project, store } = context
  const { forgotten } = store.state.changes
  await forgotten.clearReader(connection, model.name)
  if (!isMadeOfForgotten(project, model)) await forgotten.clearTable(connection, model.name)
}
