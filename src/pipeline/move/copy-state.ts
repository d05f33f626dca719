// What eider remembers of a target, once all tables have arrived. It comes in one transaction, with which the move ends:
// until then the destination is of no use to anybody, and from then on it goes on where the source was.

import { EnvironmentError } from '../../core/failures.ts'
import { kinds } from '../../core/kinds.ts'
import { sameName } from '../../core/names.ts'
import { type Column, columnType } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { catalogKey } from '../../duckdb/catalog.ts'
import { endMove } from '../../store/moved-tables.ts'
import { NO_STATE, STATE_SCHEMA } from '../../store/state.ts'
import { contentOf, carried, carry, type Ways } from './copy-table.ts'

export interface MovedState {
  readonly runs: number
  readonly rejected: number
}

// Columns of tables that every store has (store/state.ts).
const LOGS: Readonly<Record<'runs' | 'rejected_events', readonly Column[]>> = {
  runs: columns({
    run_id: 'VARCHAR',
    started_at: 'TIMESTAMP WITH TIME ZONE',
    finished_at: 'TIMESTAMP WITH TIME ZONE',
    ok: 'BOOLEAN',
    summary: 'JSON',
  }),
  rejected_events: columns({
    target: 'VARCHAR',
    claim_id: 'VARCHAR',
    seq: 'UBIGINT',
    reason: 'VARCHAR',
    event: 'VARCHAR',
    exact: 'MAP(VARCHAR, VARCHAR)',
    received_at: 'TIMESTAMP WITH TIME ZONE',
    rejected_at: 'TIMESTAMP WITH TIME ZONE',
  }),
}

function columns(types: Readonly<Record<string, string>>): readonly Column[] {
  return Object.entries(types).map(([name, type]) => ({
    name,
    type: columnType(type),
    nullable: true,
  }))
}

const namesOf = (log: keyof typeof LOGS): Sql =>
  sql.join(LOGS[log].map(({ name }) => sql.ident(name)))

const logOf = (log: keyof typeof LOGS): Sql => sql.ident(STATE_SCHEMA, log)

export async function copyState(ways: Ways, moveId: string): Promise<MovedState> {
  const { from, to } = ways
  const { state, flushed } = to.side.store
  const { connection } = to
  const hasLogs = from.known.catalog.relations.has(catalogKey(STATE_SCHEMA, 'runs'))
  const known = hasLogs ? from.known.state : NO_STATE
  const logs = hasLogs ? (['runs', 'rejected_events'] as const) : []
  const sources = {
    runs: sql`(${await from.side.store.state.allRuns()})`,
    rejected_events: logOf('rejected_events'),
  }
  const queries = logs.map(
    (log) => [log, sql`SELECT ${namesOf(log)} FROM ${sources[log]}`] as const,
  )
  const copied = { runs: 0, rejected_events: 0 }
  const slices = await from.side.store.state.readSlices(from.connection, known.models.keys())
  const older = await from.side.store.state.olderRows.read(from.connection, known.models.keys())
  const forgotten = await from.side.store.state.changes.forgotten.readAll(from.connection)
  if (slices.length > 0) await state.makeSlices(connection)
  if (forgotten.length > 0) await state.makeChanges(connection)
  if (older.size > 0) await state.makeOlderRows(connection)
  await carry(ways, Object.fromEntries(queries), () =>
    state.change(connection, async () => {
      await state.recordModels(connection, moveId, recordsOf(known))
      await state.adoptSlices(connection, slices)
      await state.olderRows.adopt(connection, older)
      await state.changes.forgotten.adopt(connection, forgotten)
      for (const [target, position] of fencesOf(known))
        await flushed.adopt(connection, target, position)
      for (const log of logs) {
        await connection.run(
          sql`INSERT INTO ${logOf(log)} (${namesOf(log)}) SELECT ${namesOf(log)} FROM ${carried(log)}`,
        )
        copied[log] = await compareLog(ways, log, sources[log])
      }
      await endMove(connection)
    }),
  )
  return { runs: copied.runs, rejected: copied.rejected_events }
}

type KnownState = Ways['from']['known']['state']

/** Views are not there, so that the next run makes them. */
const recordsOf = ({ models }: KnownState) =>
  [...models]
    .filter(([, { kind }]) => kinds[kind].relation === 'table')
    .map(([name, { kind, definition, fingerprint, version, removed }]) => ({
      model: { name, kind, definition },
      fingerprint,
      version,
      removed,
    }))

/** Which segments of the buffers are in the tables, so that none is taken twice from a buffer that comes along. */
function fencesOf({ models, positions }: KnownState): KnownState['positions'] {
  const fences = new Map(positions)
  for (const [name, { kind }] of models)
    if (kind === 'events' && ![...fences.keys()].some((target) => sameName(target, name)))
      fences.set(name, new Map())
  return fences
}

async function compareLog(
  { from, to }: Ways,
  log: keyof typeof LOGS,
  source: Sql,
): Promise<number> {
  const [there, here] = [
    await contentOf(from.connection, source, LOGS[log]),
    await contentOf(to.connection, logOf(log), LOGS[log]),
  ]
  if (there.rows === here.rows && there.hash === here.hash) return here.rows
  throw new EnvironmentError('move-differs', `_eider.${log} did not arrive unchanged`, {
    hint: 'start the move again: the tables that have arrived are not copied again',
  })
}
