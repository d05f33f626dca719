// kind merge: rows of the query replace rows of the table with the same key; other rows of the table stay, or with
// `@deletes: mirror` go.
//
// The engine's MERGE inserts two new duplicates without a word, takes any one of them where the key exists, and never
// matches a NULL. So keys are checked first, and only rows that are new or differ are written: an unchanged table keeps
// its version and nothing downstream runs.

import type { MergeModel, Model } from '../../../core/model.ts'
import type { Column } from '../../../core/relation.ts'
import { sql } from '../../../core/sql.ts'
import { ModelFailure } from '../../failure.ts'
import { countRows, existingType, relationOf, type Site } from './relation.ts'
import { differs, sameValues, STAGE } from './stage.ts'

const DELTA = sql`temp.main._eider_delta`

/** Returns the rows written and deleted. */
export async function mergeStage(
  site: Site,
  model: MergeModel,
  columns: readonly Column[],
): Promise<number> {
  const { connection } = site
  const target = relationOf(model.name)
  const { uniqueKey } = model
  const deleted = model.deletes === 'mirror' ? await deleteVanished(site, model) : 0
  const onKey = sameValues(uniqueKey, sql`t`, sql`s`)
  // Keys of the table are never NULL, so a NULL on its side of the join says that it has no such row.
  await connection.run(sql`
    CREATE OR REPLACE TEMP TABLE _eider_delta AS
    SELECT s.* FROM ${STAGE} s LEFT JOIN ${target} t ON ${onKey}
    WHERE t.${sql.ident(uniqueKey[0])} IS NULL OR ${differs(columns, uniqueKey)}`)
  const rows = await countRows(connection, DELTA)
  if (rows > 0) {
    await connection.run(sql`DELETE FROM ${target} AS t USING ${DELTA} AS s WHERE ${onKey}`)
    await connection.run(sql`INSERT INTO ${target} BY NAME FROM ${DELTA}`)
  }
  await connection.run(sql`DROP TABLE ${DELTA}`)
  return rows + deleted
}

/** An empty source is more often a mistake upstream than the wish to delete everything. */
export async function refuseEmptyMirror(site: Site, model: Model): Promise<void> {
  const { connection, allowEmpty } = site
  const { name } = model
  if (model.kind !== 'merge' || model.deletes !== 'mirror') return
  if (allowEmpty || existingType(site, name) !== 'table') return
  if ((await countRows(connection, STAGE)) > 0) return
  const rows = await countRows(connection, relationOf(name))
  if (rows === 0) return
  throw new ModelFailure(
    `the SELECT gives no rows, so @deletes: mirror would delete all ${rows} of the table; if that is meant, run with --allow-empty`,
    'deletes',
  )
}

async function deleteVanished(site: Site, model: MergeModel): Promise<number> {
  await refuseEmptyMirror(site, model)
  const target = relationOf(model.name)
  return site.connection.run(sql`
    DELETE FROM ${target} AS t
    WHERE NOT EXISTS (SELECT 1 FROM ${STAGE} s WHERE ${sameValues(model.uniqueKey, sql`t`, sql`s`)})`)
}
