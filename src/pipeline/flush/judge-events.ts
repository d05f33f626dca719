// Waiting events, validated against a model before a run flushes them: which fit, and what is wrong with the
// others. The flush decides by the same rules; here the rows stay in a temporary table.

import type { WaitingSegment } from '../../buffer/claim-source.ts'
import { limits } from '../../core/limits.ts'
import type { EventsModel } from '../../core/model.ts'
import type { EventsVerdict } from '../../core/report/planned-changes.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { catalogKey } from '../../duckdb/catalog.ts'
import { numberOf, textOf } from '../../duckdb/values.ts'
import { linesOf } from './event-columns.ts'
import { countKept, type ReadModel } from './reading.ts'
import type { RunContext } from '../run-context.ts'
import {
  dropBatch,
  FITTING,
  insertTyped,
  judgeRejected,
  judgeSegments,
  MisfitError,
  VERDICTS,
  viewTyped,
  type Loading,
} from './load-batch.ts'
import { countRows } from '../build/materialize/relation.ts'
import { plainTable } from '../../store/table-storage.ts'
import { isEdited, STATE_SCHEMA } from '../../store/state.ts'

/** The columns of the model; the rows that would come into its table, once judgeEvents() has run. */
export const ARRIVING = sql`temp.main._eider_arriving`

/** The table of events that were rejected before; null where a run of the model would try none of them again. */
export function rejectedFor(
  model: EventsModel,
  { catalog, state }: Pick<RunContext, 'catalog' | 'state'>,
): Sql | null {
  if (!isEdited(state.models.get(model.name), model)) return null
  const exists = catalog.relations.has(catalogKey(STATE_SCHEMA, 'rejected_events'))
  return exists ? sql.ident(catalog.database, STATE_SCHEMA, 'rejected_events') : null
}

/** `rejectedIn`: the table of events that were rejected before, when the run would try them again. */
export async function judgeEvents(
  { connection, store: { tables } }: Pick<RunContext, 'connection' | 'store'>,
  model: ReadModel,
  segments: readonly WaitingSegment[],
  rejectedIn: Sql | null,
): Promise<EventsVerdict> {
  const columns = sql.definitions([...model.columns, ...(model.kept ?? [])])
  await connection.run(sql`CREATE OR REPLACE TEMP TABLE _eider_arriving (${columns})`)
  const loading = { connection, model, tables }
  let retried = 0
  if (rejectedIn !== null) {
    await judgeRejected(loading, rejectedIn)
    retried = await connection.run(sql`INSERT INTO ${ARRIVING} BY NAME FROM ${FITTING}`)
  }
  const waiting = segments.reduce((sum, { events }) => sum + events, 0)
  const fit = waiting === 0 || (await insertAll(loading, segments))
  const verdict = fit ? { rejected: 0, reasons: [] } : await rejectMisfits(loading, segments)
  await dropBatch(connection)
  const kept =
    waiting === 0 ? [] : await countKept(connection, model, (e) => linesOf(segments, { e }))
  return { waiting, retried, ...verdict, ...(kept.length > 0 && { kept }) }
}

/** The fast path: all fit, or nothing is inserted. */
async function insertAll(loading: Loading, segments: readonly WaitingSegment[]): Promise<boolean> {
  try {
    const batch = await viewTyped(loading, segments, true)
    await loading.connection.transact(async () => {
      await insertTyped(loading, plainTable(ARRIVING, null), batch)
      if (await holdsUnkept(loading)) throw new MisfitError()
    })
    return true
  } catch (error) {
    if (error instanceof MisfitError) return false
    throw error
  }
}

/** Here the rows lie in a table that stores all values. */
async function holdsUnkept({ connection, model, tables }: Loading): Promise<boolean> {
  const all = model.columns.flatMap(({ name, type }) => tables.keeps(sql.ident(name), type) ?? [])
  if (all.length === 0) return false
  const query = sql`SELECT 1 FROM ${ARRIVING} WHERE NOT (${sql.all(all)}) LIMIT 1`
  return (await connection.row(query)) !== null
}

async function rejectMisfits(
  loading: Loading,
  segments: readonly WaitingSegment[],
): Promise<Pick<EventsVerdict, 'rejected' | 'reasons'>> {
  const { connection } = loading
  await judgeSegments(loading, segments)
  await connection.run(sql`INSERT INTO ${ARRIVING} BY NAME FROM ${FITTING}`)
  // Events with the same mistake in different values are one row.
  const rows = await connection.rows(sql`
    SELECT arg_min(reason, seq) AS reason, count(*) AS events, min(seq) AS first FROM ${VERDICTS}
    GROUP BY regexp_replace(reason, 'cannot (?:read|store) .*? as ', '', 'g')
    ORDER BY events DESC, first LIMIT ${sql.value(limits.plannedReasons)}`)
  const reasons = rows.map(({ reason, events, first }) => ({
    reason: textOf(reason),
    events: numberOf(events),
    first: numberOf(first),
  }))
  return { rejected: await countRows(connection, VERDICTS), reasons }
}
