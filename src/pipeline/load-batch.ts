// Step 2 of the flush: a claimed segment becomes a temporary table with the columns of the events model. The engine
// reads the segment in place; no event passes through JavaScript.
//
// First everything is read by the model's own types, at the speed of the engine. When one value does not fit, the
// segment is read again as JSON, each event gets a verdict, and those that fit are loaded.

import type { Claim } from '../buffer/claim-source.ts'
import { limits } from '../core/limits.ts'
import type { EventsModel } from '../core/model.ts'
import type { Column } from '../core/relation.ts'
import { type Sql, sql } from '../core/sql.ts'
import type { Connection } from '../duckdb/database.ts'
import { DatabaseError } from '../duckdb/errors.ts'
import { ModelFailure } from './failure.ts'
import { countRows } from './materialize/relation.ts'

export interface Batch {
  /** Events that fit the table. */
  readonly events: number
  readonly rejected: number
}

/** The columns of the model, filled. */
const BATCH = sql`temp.main._eider_batch`
/** seq, t, given (each column as JSON), typed (each column in its type or NULL). */
const GIVEN = sql`temp.main._eider_given`
/** seq, reason; one row per event that does not fit. */
const VERDICTS = sql`temp.main._eider_verdicts`

/** Throws ModelFailure when the segment does not hold as many events as the claim says. */
export async function loadBatch(
  connection: Connection,
  model: EventsModel,
  claim: Claim,
): Promise<Batch> {
  const fits = await loadTyped(connection, model, claim)
  if (!fits) await loadTolerantly(connection, model, claim)
  const rejected = fits ? 0 : await countRows(connection, VERDICTS)
  const events = await countRows(connection, BATCH)
  if (events + rejected !== claim.events)
    throw new ModelFailure(
      `${claim.path} holds ${events + rejected} events, but ${claim.events} were accepted; nothing was inserted`,
    )
  return { events, rejected }
}

/** Step 4: by name, since a table may have columns that its model no longer lists. */
export async function insertBatch(
  connection: Connection,
  target: Sql,
  claim: Claim,
  batch: Batch,
): Promise<void> {
  await connection.run(sql`INSERT INTO ${target} BY NAME FROM ${BATCH}`)
  if (batch.rejected === 0) return // the statement below reads the whole segment
  const rejected = await connection.run(sql`
    INSERT INTO _eider.rejected_events (target, claim_id, seq, reason, event, rejected_at)
    SELECT ${sql.value(claim.target)}, ${sql.value(claim.id)}, seq, reason, event, now()
    FROM ${VERDICTS} JOIN (${rawEvents(claim)}) USING (seq)`)
  if (rejected !== batch.rejected)
    throw new ModelFailure(
      `${batch.rejected} events of ${claim.path} do not fit, but only ${rejected} could be set aside; nothing was inserted`,
    )
}

export async function dropBatch(connection: Connection): Promise<void> {
  for (const table of [BATCH, GIVEN, VERDICTS])
    await connection.run(sql`DROP TABLE IF EXISTS ${table}`)
}

/** False when a value does not fit its column, or is missing where the model wants one. */
async function loadTyped(
  connection: Connection,
  model: EventsModel,
  claim: Claim,
): Promise<boolean> {
  const members: Members = { e: structOf(model.columns) }
  if (model.columns.some(isReceivedAt)) members.t = sql`VARCHAR`
  try {
    await connection.run(sql`
      CREATE OR REPLACE TEMP TABLE _eider_batch AS
      SELECT ${fields(model, sql`e`)} FROM ${readSegment(claim, members)} WHERE e IS NOT NULL`)
  } catch (error) {
    if (error instanceof DatabaseError && isAboutValues(error)) return false
    throw error
  }
  const required = model.columns
    .filter(isRequired)
    .map(({ name }) => sql`${sql.ident(name)} IS NULL`)
  if (required.length === 0) return true
  const missing = sql`SELECT 1 FROM ${BATCH} WHERE ${sql.join(required, sql` OR `)} LIMIT 1`
  return (await connection.row(missing)) === null
}

async function loadTolerantly(
  connection: Connection,
  model: EventsModel,
  claim: Claim,
): Promise<void> {
  const asJson = sql`STRUCT(${sql.join(model.columns.map(({ name }) => sql`${sql.ident(name)} JSON`))})`
  await connection.run(sql`
    CREATE OR REPLACE TEMP TABLE _eider_given AS
    SELECT s AS seq, t, TRY_CAST(e AS ${asJson}) AS given, TRY_CAST(e AS ${structOf(model.columns)}) AS typed
    FROM ${readSegment(claim, { s: sql`UBIGINT`, t: sql`VARCHAR`, e: sql`JSON` })} WHERE e IS NOT NULL`)
  await connection.run(
    sql`CREATE OR REPLACE TEMP TABLE _eider_verdicts (seq UBIGINT, reason VARCHAR)`,
  )
  for (const reasons of [misfits(model), ...model.columns.filter(isNested).map(nestedMisfits)])
    await connection.run(sql`
      INSERT INTO ${VERDICTS} SELECT seq, reason FROM (${reasons})
      WHERE seq NOT IN (SELECT seq FROM ${VERDICTS})`)
  await connection.run(sql`
    CREATE OR REPLACE TEMP TABLE _eider_batch AS
    SELECT ${fields(model, sql`typed`)} FROM ${GIVEN} ANTI JOIN ${VERDICTS} USING (seq) ORDER BY seq`)
}

/** Events with a value that gave NULL in the column's type, or none where the model wants one. */
function misfits(model: EventsModel): Sql {
  const reasons = model.columns.map((column) => {
    const given = field(sql`given`, column)
    const unreadable = sql`${sql.value(`column "${column.name}": cannot read `)} || left(${given}::VARCHAR, 100)
      || ${sql.value(` as ${column.type}`)}`
    const missing = sql.value(`column "${column.name}" is missing`)
    const absent = isRequired(column) ? sql`${given} IS NULL` : sql`false`
    return sql`CASE WHEN ${absent} THEN ${missing}
      WHEN ${given} IS NOT NULL AND ${field(sql`typed`, column)} IS NULL THEN ${unreadable} END`
  })
  return sql`SELECT seq, reason FROM (
    SELECT seq, concat_ws('; ', ${sql.join(reasons)}) AS reason FROM ${GIVEN}) WHERE reason <> ''`
}

/** A misfit inside a list or struct leaves NULL there and the column itself not NULL: compare node by node. */
function nestedMisfits(column: Column): Sql {
  const reason = sql`${sql.value(`column "${column.name}": cannot read `)} || left(any_value(g.value)::VARCHAR, 100)
    || ' at ' || any_value(g.fullkey) || ${sql.value(` as ${column.type}`)}`
  return sql`
    SELECT seq, ${reason} AS reason
    FROM ${GIVEN}, json_tree(${field(sql`given`, column)}) g, json_tree(to_json(${field(sql`typed`, column)})) w
    WHERE g.fullkey = w.fullkey AND ((w.type = 'NULL' AND g.type <> 'NULL')
      OR (w.type IN ('OBJECT', 'ARRAY') AND g.type NOT IN ('OBJECT', 'ARRAY')))
    GROUP BY seq`
}

/** Types of the members of a line that are to be read; each costs time. */
interface Members {
  s?: Sql
  t?: Sql
  e: Sql
}

/** A marker line has none of the members. Names inside `e` are matched exactly, unknown ones are dropped. */
function readSegment(claim: Claim, { s, t, e }: Members): Sql {
  const columns = Object.entries({ s, t, e }).flatMap(([name, type]) =>
    type === undefined ? [] : [sql`${sql.value(name)}: ${sql.value(type.inline())}`],
  )
  return sql`read_json(${sql.value(claim.path)}, format = 'newline_delimited', columns = {${sql.join(columns)}},
    records = true, compression = 'uncompressed', maximum_object_size = ${sql.value(limits.segmentLineBytes)})`
}

/**
 * The bytes of each event as they were sent: the reader of JSON would print numbers anew. \x01 cannot be in a line of
 * JSON, so that each line is one field.
 */
function rawEvents(claim: Claim): Sql {
  return sql`
    SELECT CAST(json_extract(line, '$.s') AS UBIGINT) AS seq, regexp_extract(line, '"e":(.*)\\}$', 1) AS event
    FROM read_csv(${sql.value(claim.path)}, columns = {'line': 'VARCHAR'}, delim = chr(1), quote = '', escape = '',
      comment = '', header = false, auto_detect = false, compression = 'none', new_line = '\\n',
      max_line_size = ${sql.value(limits.segmentLineBytes)})
    WHERE starts_with(line, '{"s":')`
}

const structOf = (columns: readonly Column[]): Sql =>
  sql`STRUCT(${sql.join(columns.map(({ name, type }) => sql`${sql.ident(name)} ${sql.type(type)}`))})`

function fields(model: EventsModel, struct: Sql): Sql {
  return sql.join(
    model.columns.map((column) => {
      const given = field(struct, column)
      const value = isReceivedAt(column) ? sql`coalesce(${given}, CAST(t AS TIMESTAMPTZ))` : given
      return sql`${value} AS ${sql.ident(column.name)}`
    }),
  )
}

const field = (struct: Sql, column: Column): Sql =>
  sql`struct_extract(${struct}, ${sql.value(column.name)})`

/** Row E014: filled with the server's time when the event does not bring one. */
const isReceivedAt = ({ name, type }: Column) =>
  name === 'received_at' && /^(TIMESTAMPTZ|TIMESTAMP WITH TIME ZONE)$/i.test(type)

/** A missing received_at is filled. */
const isRequired = (column: Column) => !column.nullable && !isReceivedAt(column)

const isNested = ({ type }: Column) => /^(STRUCT|MAP|UNION)\b|\]$/i.test(type)

const isAboutValues = ({ details }: DatabaseError) =>
  ['Invalid Input', 'Conversion', 'Out of Range'].includes(details.type)
