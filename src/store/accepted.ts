// What somebody has accepted of the next publication (`eider plan --accept`), in both stores:
//
//   _eider.accepted   a change of a published set that breaks clients, in the words of a plan; `shape` says of which columns
//                     and key it is one. It is made with the first change that is accepted, and what was published is
//                     deleted

import { hashOf } from '../core/hash.ts'
import { foldCase, type ModelName } from '../core/names.ts'
import type { PublishedRelation } from '../core/snapshot.ts'
import { sql } from '../core/sql.ts'
import type { Connection } from '../duckdb/database.ts'

type Shape = Pick<PublishedRelation, 'model' | 'key' | 'columns'>

const TABLE = sql`CREATE TABLE IF NOT EXISTS _eider.accepted (
  model VARCHAR, shape VARCHAR, change VARCHAR, accepted_at TIMESTAMPTZ)`

/** What is accepted of a set that is published like this. */
export async function readAccepted(
  connection: Connection,
  published: Shape,
): Promise<ReadonlySet<string>> {
  if (!(await exists(connection))) return new Set()
  const rows = await connection.texts(sql`
    SELECT change FROM _eider.accepted
    WHERE lower(model) = ${sql.value(foldCase(published.model))} AND shape = ${sql.value(shapeOf(published))}`)
  return new Set(rows.map(({ change }) => change as string))
}

/** In a transaction of the state. */
export async function recordAccepted(
  connection: Connection,
  published: Shape,
  changes: readonly string[],
): Promise<void> {
  await connection.run(TABLE)
  await forgetAccepted(connection, [published.model])
  const { model } = published
  const rows = changes.map(
    (change) => sql`(${sql.values([model, shapeOf(published), change])}, now())`,
  )
  await connection.run(sql`INSERT INTO _eider.accepted VALUES ${sql.join(rows)}`)
}

/** In a transaction of the state, once something was accepted: the same change of later is another. */
export async function forgetAccepted(
  connection: Connection,
  models: readonly ModelName[],
): Promise<void> {
  const names = sql.join(models.map((name) => sql.value(foldCase(name))))
  await connection.run(sql`DELETE FROM _eider.accepted WHERE lower(model) IN (${names})`)
}

/** Texts about columns are no part of what clients rely on. */
const shapeOf = ({ key, columns }: Shape): string =>
  hashOf(16, [key, columns.map(({ name, type, nullable }) => [name, type, nullable])])

async function exists(connection: Connection): Promise<boolean> {
  const row = await connection.row(sql`
    SELECT 1 FROM duckdb_columns()
    WHERE database_name = current_database() AND schema_name = '_eider' AND table_name = 'accepted' LIMIT 1`)
  return row !== null
}
