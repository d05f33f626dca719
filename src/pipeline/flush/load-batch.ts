// Step 2 of the flush: claimed segments become a relation with the columns of the events model. DuckDB reads the
// segments in place; no event passes through JavaScript.
//
// First everything is read by the model's own types, at the speed of DuckDB: the relation is a temporary view, and
// the INSERT of step 4 streams through it. Until the transaction commits nothing is final, so a value
// that does not fit, found in the middle, costs a rollback and nothing else. Then the segment is loaded again as JSON
// into temporary tables, each event is validated, and those that fit are inserted.

import { type Claim, locationOf, type WaitingSegment } from '../../buffer/claim-source.ts'
import type { EventsModel } from '../../core/model.ts'
import { keptMembers, type ReadModel } from './reading.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import type { TableStorage, WrittenTable } from '../../store/table-storage.ts'
import { type DatabaseError, ifRefused } from '../../duckdb/errors.ts'
import {
  field,
  fields,
  isNested,
  isRequired,
  readColumns,
  withFormer,
  typedOf,
  EXACT_TEXTS,
  linesOf,
  isInOtherCase,
  membersFor,
  spelled,
  rawEvents,
} from './event-columns.ts'
import { ModelFailure } from '../failure.ts'
import { countRows } from '../build/materialize/relation.ts'

/** An events model, and where its rows go. */
export interface Loading {
  readonly connection: Connection
  readonly model: ReadModel
  readonly tables: TableStorage
}

/** What step 4 inserts. */
export interface Batch {
  readonly rows: Sql
  readonly events: number
  readonly rejected: number
}

/** View: the columns of the model, read from the segments by their types. Events without a required value are not in it. */
const TYPED = sql`temp.main._eider_typed`
/** The events of one segment that fit, by the columns of the model. */
export const FITTING = sql`temp.main._eider_fitting`
/** seq, t, x, given (each column as JSON), typed (each column in its type or NULL). */
export const GIVEN = sql`temp.main._eider_given`
/** seq, reason; one row per event that does not fit. */
export const VERDICTS = sql`temp.main._eider_verdicts`

/** Thrown by insertTyped() when an event does not fit its table. The transaction is to be rolled back. */
export class MisfitError extends Error {
  override name = 'MisfitError'
}

/**
 * All segments as one relation. Whether their events fit shows only when it is inserted. `formerly`: events may be from a
 * time in which the columns had other types. It costs time. Throws MisfitError where names of events are in another case.
 */
export async function viewTyped(
  { connection, model }: Loading,
  claims: readonly Pick<Claim, 'url' | 'events'>[],
  formerly: boolean,
): Promise<Batch> {
  if (await isInOtherCase(connection, model, claims)) throw new MisfitError()
  const lines = linesOf(claims, membersFor(model, formerly))
  const complete = readColumns(model)
    .filter(isRequired)
    .map((column) => sql` AND ${field(sql`e`, column)} IS NOT NULL`)
  await connection.run(sql`
    CREATE OR REPLACE TEMP VIEW _eider_typed AS
    SELECT ${fields(model, sql`e`, sql`CAST`, formerly)} FROM ${lines}
    WHERE e IS NOT NULL${sql.join(complete, sql.empty)}`)
  return { rows: TYPED, events: claims.reduce((sum, { events }) => sum + events, 0), rejected: 0 }
}

/** Step 4 for a batch of viewTyped(). Throws MisfitError when a value does not fit its column, or is missing. */
export async function insertTyped(
  into: Loading,
  target: WrittenTable,
  batch: Batch,
): Promise<void> {
  const inserted = await ifRefused(insertRows(into, target, batch), (error) => {
    if (isAboutValues(error)) return null
    throw error
  })
  if (inserted !== batch.events) throw new MisfitError()
}

/** One segment, event by event. Throws ModelFailure when it does not hold as many events as the claim says. */
export async function loadTolerantly(loading: Loading, claim: Claim): Promise<Batch> {
  const { connection } = loading
  await judgeSegments(loading, [claim])
  const rejected = await countRows(connection, VERDICTS)
  const events = await countRows(connection, FITTING)
  if (events + rejected !== claim.events)
    throw new ModelFailure(
      `${describeSegment(claim)} holds ${events + rejected} events, but ${claim.events} were accepted; nothing was inserted`,
    )
  return { rows: FITTING, events, rejected }
}

/** Step 4 for a batch of loadTolerantly(): each event is in the table or set aside afterwards. */
export async function insertTolerantly(
  into: Loading,
  target: WrittenTable,
  claim: Claim,
  batch: Batch,
): Promise<void> {
  await insertRows(into, target, batch)
  if (batch.rejected === 0) return // the statement below reads the whole segment
  const rejected = await into.connection.run(sql`
    INSERT INTO _eider.rejected_events (target, claim_id, seq, reason, event, exact, received_at, rejected_at)
    SELECT ${sql.value(claim.target)}, ${sql.value(claim.id)}, seq, reason, event, exact, received_at, now()
    FROM ${VERDICTS} JOIN (${rawEvents(claim)}) USING (seq)`)
  if (rejected !== batch.rejected)
    throw new ModelFailure(
      `${batch.rejected} events of ${describeSegment(claim)} do not fit, but only ${rejected} could be quarantined; nothing was inserted`,
    )
}

/**
 * Rejected events go into the table if they fit by now; the others stay, with their new reason. Call this
 * in a transaction. Returns the number of events that are in the table now.
 */
export async function insertRejected(loading: Loading): Promise<number> {
  const { connection, model, tables } = loading
  const target = await tables.written(connection, model.name)
  await judgeRejected(loading, sql`_eider.rejected_events`)
  const events = await countRows(connection, FITTING)
  await insertRows(loading, target, { rows: FITTING, events, rejected: 0 })
  await connection.run(sql`
    UPDATE _eider.rejected_events SET reason = verdict.reason FROM ${VERDICTS} AS verdict
    WHERE ${isOf(model)} AND rejected_events.rowid = verdict.seq`)
  const deleted = await connection.run(sql`
    DELETE FROM _eider.rejected_events WHERE ${isOf(model)}
    AND rowid NOT IN (SELECT seq FROM ${VERDICTS})`)
  if (deleted !== events)
    throw new ModelFailure(
      `${events} rejected events of ${model.name} fit now, but ${deleted} would be taken out of _eider.rejected_events`,
    )
  return events
}

/** The condition for rejected events of the model; case does not distinguish names. */
export const isOf = ({ name }: EventsModel): Sql => sql`lower(target) = lower(${sql.value(name)})`

/** Validates each event: those that fit are in FITTING afterwards, the others in VERDICTS. Nothing else changes. */
export function judgeSegments(
  loading: Loading,
  segments: readonly Pick<WaitingSegment, 'url'>[],
): Promise<void> {
  const members = { s: sql`UBIGINT`, t: sql`VARCHAR`, e: sql`JSON`, x: EXACT_TEXTS }
  return giveVerdicts(loading, linesOf(segments, members))
}

/** Does what judgeSegments() does, for rejected events in `table`. */
export function judgeRejected(loading: Loading, table: Sql): Promise<void> {
  const rejected = sql`(
    SELECT rowid::UBIGINT AS s, received_at::VARCHAR AS t, event::JSON AS e, exact AS x
    FROM ${table} WHERE ${isOf(loading.model)})`
  return giveVerdicts(loading, rejected)
}

/** By name, since a table may have columns that its model no longer lists. */
const insertRows = async (
  { connection }: Loading,
  target: WrittenTable,
  { rows }: Batch,
): Promise<number> =>
  connection.run(sql`INSERT INTO ${target.table} BY NAME ${await target.rows(sql`FROM ${rows}`)}`)

export async function dropBatch(connection: Connection): Promise<void> {
  await connection.run(sql`DROP VIEW IF EXISTS ${TYPED}`)
  for (const table of [FITTING, GIVEN, VERDICTS])
    await connection.run(sql`DROP TABLE IF EXISTS ${table}`)
}

/**
 * `source` gives s (a unique number for each event), t (when it was accepted), e (the event as JSON) and x (its exact
 * texts).
 */
async function giveVerdicts({ connection, model, tables }: Loading, source: Sql): Promise<void> {
  const columns = readColumns(model)
  const all = withFormer(columns).map(({ name }) => sql`${sql.ident(name)} JSON`)
  const asJson = sql`STRUCT(${sql.join([...all, ...keptMembers(model)])})`
  await connection.run(sql`
    CREATE OR REPLACE TEMP TABLE _eider_given AS
    SELECT s AS seq, t, x, TRY_CAST(e AS ${asJson}) AS given, ${typedOf(model)} AS typed
    FROM ${spelled(model, source)} WHERE e IS NOT NULL`)
  await connection.run(
    sql`CREATE OR REPLACE TEMP TABLE _eider_verdicts (seq UBIGINT, reason VARCHAR)`,
  )
  const unkept = unkeptValues(model, tables)
  for (const reasons of [
    misfits(model),
    ...columns.filter(isNested).map(nestedMisfits),
    ...(unkept === null ? [] : [unkept]),
  ])
    await connection.run(sql`
      INSERT INTO ${VERDICTS} SELECT seq, reason FROM (${reasons})
      WHERE seq NOT IN (SELECT seq FROM ${VERDICTS})`)
  await connection.run(sql`
    CREATE OR REPLACE TEMP TABLE _eider_fitting AS
    SELECT ${fields(model, sql`typed`, sql`TRY_CAST`, true)} FROM ${GIVEN} ANTI JOIN ${VERDICTS} USING (seq) ORDER BY seq`)
}

/** Events with a value that gave NULL in the column's type, or none where the model wants one. */
function misfits(model: ReadModel): Sql {
  const reasons = readColumns(model).map((column) => {
    const given = field(sql`given`, column)
    const unreadable = sql`${sql.value(`column "${column.name}": cannot read `)} || left(${given}::VARCHAR, 100)
      || ${sql.value(` as ${column.type}`)}`
    const missing = sql.value(`column "${column.name}" is missing`)
    const absent = isRequired(column) ? sql`${given} IS NULL` : sql`false`
    return sql`CASE WHEN ${absent} THEN ${missing}
      WHEN ${given} IS NOT NULL AND ${field(sql`typed`, column, sql`TRY_CAST`)} IS NULL THEN ${unreadable} END`
  })
  return sql`SELECT seq, reason FROM (
    SELECT seq, concat_ws('; ', ${sql.join(reasons)}) AS reason FROM ${GIVEN}) WHERE reason <> ''`
}

/** A misfit inside a list or struct leaves NULL there and the column itself not NULL: compare node by node. */
function nestedMisfits(column: ReturnType<typeof readColumns>[number]): Sql {
  const reason = sql`${sql.value(`column "${column.name}": cannot read `)} || left(any_value(g.value)::VARCHAR, 100)
    || ' at ' || any_value(g.fullkey) || ${sql.value(` as ${column.type}`)}`
  return sql`
    SELECT seq, ${reason} AS reason
    FROM ${GIVEN}, json_tree(${field(sql`given`, column)}) g, json_tree(to_json(${field(sql`typed`, column, sql`TRY_CAST`)})) w
    WHERE g.fullkey = w.fullkey AND ((w.type = 'NULL' AND g.type <> 'NULL')
      OR (w.type IN ('OBJECT', 'ARRAY') AND g.type NOT IN ('OBJECT', 'ARRAY')))
    GROUP BY seq`
}

/** Events with a value that the table would not give back; null where it gives back all. */
function unkeptValues({ columns, ...model }: EventsModel, tables: TableStorage): Sql | null {
  const reasons = columns.flatMap(({ name, type }) => {
    const value = sql.ident(name)
    const keeps = tables.keeps(value, type)
    if (keeps === null) return []
    const text = sql`${sql.value(`column "${name}": cannot store `)} || left(CAST(${value} AS VARCHAR), 100)
      || ${sql.value(` as ${type} in this target`)}`
    return [sql`CASE WHEN NOT ${keeps} THEN ${text} END`]
  })
  if (reasons.length === 0) return null
  const values = fields({ ...model, columns }, sql`typed`, sql`TRY_CAST`, true)
  const [seq, reason] = [sql.ident('_eider_seq'), sql.ident('_eider_reason')]
  return sql`SELECT ${seq} AS seq, ${reason} AS reason
    FROM (SELECT ${seq}, concat_ws('; ', ${sql.join(reasons)}) AS ${reason}
      FROM (SELECT seq AS ${seq}, ${values} FROM ${GIVEN})) WHERE ${reason} <> ''`
}

const describeSegment = (claim: Claim) => `${locationOf(claim)} of ${claim.collector}`

const isAboutValues = ({ details }: DatabaseError) =>
  ['Invalid Input', 'Conversion', 'Out of Range'].includes(details.type)
