// kind merge: rows of the query replace rows of the table with the same key; other rows of the table stay.
//
// The engine's MERGE inserts two new duplicates without a word, takes any one of them where the key exists, and never
// matches a NULL. So keys are checked first, and only rows that are new or differ are written: an unchanged table keeps
// its version and nothing downstream runs.

import type { MergeModel } from '../../core/model.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { describe } from '../../duckdb/catalog.ts'
import type { Connection } from '../../duckdb/database.ts'
import { checkKey } from './check-key.ts'
import { evolve } from './evolve.ts'
import { type Built, countRows, relationOf } from './relation.ts'

const STAGE = sql`temp.main._eider_stage`
const DELTA = sql`temp.main._eider_delta`

export function stageMerge(model: MergeModel): Sql {
  return sql`CREATE OR REPLACE TEMP TABLE _eider_stage AS (${sql.body(model.body)}\n)`
}

/** Brings the staged rows into the table, which is made when `create`. In the transaction that staged them. */
export async function applyStage(
  connection: Connection,
  model: MergeModel,
  create: boolean,
): Promise<Built> {
  const target = relationOf(model.name)
  await checkKey(connection, STAGE, model.uniqueKey)
  let built: Built
  if (create) {
    await connection.run(sql`CREATE OR REPLACE TABLE ${target} AS FROM ${STAGE}`)
    built = { changed: true, rows: await countRows(connection, target) }
  } else {
    built = await mergeStage(connection, model, target)
  }
  await connection.run(sql`DROP TABLE ${STAGE}`)
  return built
}

async function mergeStage(connection: Connection, model: MergeModel, target: Sql): Promise<Built> {
  const columns = await describe(connection, sql`FROM ${STAGE}`)
  const evolved = await evolve(connection, {
    relation: target,
    from: await describe(connection, sql`FROM ${target}`),
    to: columns,
    removed: 'refuse',
  })
  const onKey = sameKey(model, sql`t`, sql`s`)
  const [firstKey] = model.uniqueKey
  const differs = columns
    .filter(({ name }) => !model.uniqueKey.some((key) => sameName(key, name)))
    .map(({ name }) => sql`OR t.${sql.ident(name)} IS DISTINCT FROM s.${sql.ident(name)}`)
  // Keys of the table are never NULL, so a NULL on its side of the join says that it has no such row.
  await connection.run(sql`
    CREATE OR REPLACE TEMP TABLE _eider_delta AS
    SELECT s.* FROM ${STAGE} s LEFT JOIN ${target} t ON ${onKey}
    WHERE t.${sql.ident(firstKey)} IS NULL ${sql.join(differs, sql` `)}`)
  const rows = await countRows(connection, DELTA)
  if (rows > 0) {
    await connection.run(sql`DELETE FROM ${target} AS t USING ${DELTA} AS s WHERE ${onKey}`)
    await connection.run(sql`INSERT INTO ${target} BY NAME FROM ${DELTA}`)
  }
  await connection.run(sql`DROP TABLE ${DELTA}`)
  return { changed: rows > 0 || evolved, rows }
}

function sameKey(model: MergeModel, left: Sql, right: Sql): Sql {
  const equal = model.uniqueKey.map(
    (key) => sql`${left}.${sql.ident(key)} IS NOT DISTINCT FROM ${right}.${sql.ident(key)}`,
  )
  return sql.join(equal, sql` AND `)
}

const sameName = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()
