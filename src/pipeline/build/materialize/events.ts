// kind events: a table made from the column list and widened when the list grows; rows come from the flush only.
//
// Its columns are nullable, also those that the model says are NOT NULL: the door of the collection service and the
// flush check them, and a constraint would stand in the way of every later ALTER.

import type { EventsModel } from '../../../core/model.ts'
import { sql } from '../../../core/sql.ts'
import { describe } from '../../../duckdb/catalog.ts'
import type { Connection } from '../../../duckdb/database.ts'
import { type Adaptation, adaptationOf } from './evolve.ts'
import { createSchema, existingType, makeWay, relationOf, type Site } from './relation.ts'

/**
 * True when the table was made or altered. Throws ModelFailure for a change of columns that would lose values; nothing
 * is claimed for such a model. A column that left the list stays in the table.
 */
export async function prepareEventsTable(site: Site, model: EventsModel): Promise<boolean> {
  const { connection, record } = site
  const relation = relationOf(model.name)
  if (existingType(site, model.name) === 'table' && record?.kind === 'events') {
    const { is, statements } = await adaptationOfEvents(connection, model)
    for (const statement of statements) await connection.run(statement)
    return is === 'evolved'
  }
  await makeWay(site, model, 'table')
  await connection.run(createSchema(model.name))
  const columns = model.columns.map(({ name, type }) => sql`${sql.ident(name)} ${sql.type(type)}`)
  await connection.run(sql`CREATE OR REPLACE TABLE ${relation} (${sql.join(columns)})`)
  return true
}

/** What the columns of the model make of its table. Throws ModelFailure as prepareEventsTable(). */
export async function adaptationOfEvents(
  connection: Connection,
  model: EventsModel,
): Promise<Adaptation> {
  const relation = relationOf(model.name)
  return adaptationOf({
    relation,
    from: await describe(connection, sql`FROM ${relation}`),
    to: await spelledByEngine(connection, model),
    removed: 'keep',
    policy: model.onSchemaChange,
    canRebuild: false,
  })
}

/** One type can be written in several ways, such as with quoted or bare field names of a STRUCT. */
function spelledByEngine(connection: Connection, model: EventsModel) {
  const columns = model.columns.map(
    ({ name, type }) => sql`CAST(NULL AS ${sql.type(type)}) AS ${sql.ident(name)}`,
  )
  return describe(connection, sql`SELECT ${sql.join(columns)}`)
}
