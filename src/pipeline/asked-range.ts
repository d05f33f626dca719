// The range of `--start` and `--end`, and the pieces of `--by`, before anything is done: what is wrong with them is a
// mistake of the command line.

import { isNoValue } from '../compiler/checks/check-query.ts'
import { UsageError } from '../core/failures.ts'
import { takesRange } from '../core/kinds.ts'
import { type CompiledProject, type Model, timeUnits } from '../core/model.ts'
import type { ModelName } from '../core/names.ts'
import { noSuchTime } from '../core/no-such-time.ts'
import { rangeColumnOf } from '../core/range-column.ts'
import { type ColumnType, isWholeNumber } from '../core/relation.ts'
import { sql } from '../core/sql.ts'
import type { WatermarkRange } from '../core/step.ts'
import type { Connection } from '../duckdb/database.ts'
import { piecesOf } from './build/pieces.ts'
import { isTime } from './changes/ranges.ts'

/**
 * Throws UsageError for a range that is none in one of the selected models, for pieces that their columns do not have or
 * that are too many, and where no selected model knows anything of a range.
 */
export async function refuseWrongRange(
  connection: Connection,
  models: CompiledProject['models'],
  selected: ReadonlySet<ModelName>,
  { range, by }: { readonly range: WatermarkRange; readonly by: string | null },
): Promise<void> {
  const all = [...models.values()].filter(takesRange)
  const ranged = all.filter(({ name }) => selected.has(name))
  if (ranged.length === 0) refuseIdleRange(all[0])
  for (const model of ranged) {
    await refuseNoRange(connection, model, range)
    if (by !== null) await refuseNoPieces(connection, model, range, by)
  }
}

function refuseIdleRange(first: Model | undefined): never {
  throw new UsageError(
    '--start and --end replace rows of models that read a part of their input, and none is selected',
    {
      hint:
        first === undefined
          ? 'the project has no append or period model and no merge with @incremental; others read all of their input in each run'
          : `such as eider run ${first.name} --start VALUE --end VALUE`,
    },
  )
}

/** The ends are values of the column, which only DuckDB can read; one that it would round is invalid. */
async function refuseNoRange(
  connection: Connection,
  model: Model,
  range: WatermarkRange,
): Promise<void> {
  const ranged = rangeColumnOf(model)
  const type = model.columns.find(({ name }) => name === ranged?.column)?.type
  if (ranged === null || type === undefined) return
  const read = (end: string) => sql`TRY_CAST(${sql.value(end)} AS ${sql.type(type)})`
  const fails = (end: string) => isNoValue(sql.value(end), type)
  const row = await connection.row(sql`
    SELECT ${fails(range.start)} AS "start", ${fails(range.end)} AS "end",
      ${read(range.start)} >= ${read(range.end)} AS reversed`)
  for (const end of ['start', 'end'] as const)
    if (row?.[end] === true)
      throw new UsageError(
        `--${end} ${range[end]} is not a valid value for "${ranged.column}" (${type}), the @${ranged.at} of ${model.name}`,
        { hint: wayToSay(range[end], type) },
      )
  if (row?.['reversed'] === true)
    throw new UsageError(
      `--end ${range.end} is not after --start ${range.start}, so there is no range to replace`,
      { hint: 'rows from --start on are replaced, up to --end without it' },
    )
}

async function refuseNoPieces(
  connection: Connection,
  model: Model,
  range: WatermarkRange,
  by: string,
): Promise<void> {
  const ranged = rangeColumnOf(model)
  if (ranged === null) return
  const type = model.columns.find(({ name }) => name === ranged.column)?.type
  const isUnit = timeUnits.some((unit) => unit === by)
  const isLength = /^0*[1-9]\d*$/.test(by)
  const hasTimes = type === undefined ? null : isTime(type)
  // The type of a column that follows from data is not known yet.
  const fits =
    hasTimes === null ? isUnit || isLength : hasTimes ? isUnit : isLength && isWholeNumber(type!)
  const units = timeUnits.join(', ')
  const length = 'a number for a column of whole numbers, such as --by 100000'
  if (!fits)
    throw new UsageError(
      `--by ${by} does not fit "${ranged.column}"${type === undefined ? '' : ` (${type})`}, the @${ranged.at} of ${model.name}`,
      { hint: `write ${hasTimes === null ? `${units}, or ${length}` : hasTimes ? units : length}` },
    )
  if (type !== undefined) await piecesOf(connection, model, range, by)
}

const DAY = '2024-05-01'

function wayToSay(text: string, type: ColumnType): string {
  const isTime = /^(?:DATE|TIMESTAMP)/.test(type)
  const none = isTime ? noSuchTime(text) : null
  return `${none === null ? '' : `${none.why}; `}write ${formOf(type)}`
}

function formOf(type: ColumnType): string {
  if (type === 'DATE') return `a day without a time, such as ${DAY}`
  if (type === 'TIMESTAMP WITH TIME ZONE') return `a time such as ${DAY} or ${DAY}T12:00:00Z`
  if (type.startsWith('TIMESTAMP')) return `a time such as ${DAY} or ${DAY}T12:00:00`
  return /INT/.test(type) ? 'a whole number, such as 100' : `a value of ${type}`
}
