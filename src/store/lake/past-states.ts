// Published states of a lake, as they stood at a time. They are read in the lake itself, so a machine that has pulled nothing
// can ask for them.

import { LAKE_DATABASE } from '../../core/lake.ts'
import type { ModelName } from '../../core/names.ts'
import type { PublishedRelation } from '../../core/snapshot.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import type { KeptStates, PastStates } from '../past-states.ts'
import { DamagedRowsError } from '../table-storage.ts'
import { explainLake, isGone } from './failures.ts'
import { formerRows } from './former-rows.ts'
import { type LakeRelation, readStateOf, readStates } from './published-states.ts'
import type { LakeSession } from './session.ts'
import { lakeWarehouse } from './warehouse.ts'

export const lakePastStates = (session: LakeSession): PastStates => ({
  openEngine: (options) => lakeWarehouse(session).openToRead(options),
  list: () => list(session),
  // A file of the lake may hold rows of any states.
  olderBytes: () => Promise.resolve(null),
  find: (state) => session.read((connection) => readStateOf(connection, state)),
  problemOf: () => Promise.resolve(null),
  attach: (connection, relations) => attach(session, connection, relations),
  isLost: (error) => isGone(error) || explainLake(error, session.lake) instanceof DamagedRowsError,
})

async function list(session: LakeSession): Promise<KeptStates> {
  const youngest = (await session.read((connection) => readStates(connection))) ?? []
  const states = youngest.toReversed()
  return {
    states: states.map(({ id, runId, publishedAt }, i) => {
      return { id, runId, publishedAt, replacedAt: states[i + 1]?.publishedAt ?? null }
    }),
    unreadable: [],
  }
}

async function attach(
  session: LakeSession,
  connection: Connection,
  relations: readonly PublishedRelation[],
): Promise<ReadonlyMap<ModelName, Sql>> {
  const engine = (await session.attached()) ?? session.reading
  if (engine === null) throw new Error('the lake is not open')
  const queries = new Map<ModelName, Sql>()
  const all = relations as readonly LakeRelation[]
  for (const at of new Set(all.map((relation) => relation.at))) {
    const name = `_eider_past_${at}`
    await engine.attachAs(connection, name, { readOnly: true, version: BigInt(at) })
    await connection.run(sql`USE ${sql.ident(name)}`)
    for (const relation of all.filter((one) => one.at === at))
      queries.set(relation.model, await formerRows(connection, relation, name))
    await connection.run(sql`USE ${sql.ident(LAKE_DATABASE)}`)
  }
  return queries
}
