// What a run would refuse before it has read a row of the source, and what it would replace or drop: told by `eider plan`.
// The rules are those of the materializations; here they are only asked.

import type { Model } from '../../core/model.ts'
import { sql } from '../../core/sql.ts'
import { describe } from '../../duckdb/catalog.ts'
import {
  type BuildContext,
  isBackfill,
  isKept,
  missingInputs,
  refuseReservedSchema,
} from '../build/build.ts'
import { explainFailure, ModelFailure } from '../failure.ts'
import { adaptationOfEvents } from '../build/materialize/events.ts'
import { adaptationOfKept, ownColumns } from '../build/materialize/kept.ts'
import {
  continuesTable,
  countRows,
  existingType,
  inRange,
  type Past,
  refuseLoss,
  relationOf,
  type Site,
} from '../build/materialize/relation.ts'
import { refuseLostWatermark, refuseWrongRange } from '../build/materialize/stage.ts'

/** What is known of the run that is planned. */
export type Asked = Pick<BuildContext, 'selected' | 'state' | 'catalog'> &
  Pick<Site, 'connection' | 'fullRefresh' | 'range'>

/** One line with its place, which names the flag or the change that helps; null: nothing stands in the way yet. */
export async function refusalOf(asked: Asked, model: Model): Promise<string | null> {
  try {
    refuseReservedSchema(asked, model.name)
    const missing = missingInputs(model, asked)
    if (missing !== null) throw new ModelFailure(missing)
    await refuseChange(asked, pastOf(asked, model), model)
    return null
  } catch (error) {
    return explainFailure(error, model, null)
  }
}

async function refuseChange(asked: Asked, past: Past, model: Model): Promise<void> {
  const { connection } = asked
  if (model.kind === 'events') {
    const goesOn = past.record?.kind === 'events' && existingType(past, model.name) === 'table'
    if (goesOn) await adaptationOfEvents(connection, model)
    else refuseLoss(past, model)
    return
  }
  if (asked.range !== null && isBackfill(asked, model))
    await refuseWrongRange(connection, model, asked.range)
  if (!isKept(model) || !continuesTable(past, model)) return refuseLoss(past, model)
  const before = await describe(connection, sql`FROM ${relationOf(model.name)}`)
  if (model.kind !== 'scd2') refuseLostWatermark(model, before)
  adaptationOfKept(model, ownColumns(model, before), ownColumns(model, model.columns))
}

/** What the run would replace or drop, as far as the flags allow it; one line each. */
export async function lossesOf(asked: Asked, model: Model): Promise<readonly string[]> {
  const { connection, fullRefresh, range } = asked
  const past = pastOf(asked, model)
  if (existingType(past, model.name) !== 'table' || model.kind === 'events') return []
  const target = relationOf(model.name)
  const { record } = past
  const wasKept = record === null || ['append', 'merge', 'scd2'].includes(record.kind)
  if (fullRefresh && wasKept)
    return [`--full-refresh drops ${rowsOf(await countRows(connection, target))} of the table`]
  if (range === null || !isBackfill(asked, model) || !continuesTable(past, model)) return []
  const { column } = model.watermark
  const rows = await countRows(connection, sql`(FROM ${target} WHERE ${inRange(column, range)})`)
  return [
    `replaces ${rowsOf(rows)} whose ${column} is at least ${range.start} and below ${range.end}`,
  ]
}

const rowsOf = (rows: number) => `${rows} ${rows === 1 ? 'row' : 'rows'}`

const pastOf = ({ catalog, state, fullRefresh }: Asked, { name }: Model): Past => ({
  catalog,
  fullRefresh,
  record: state.models.get(name) ?? null,
})
