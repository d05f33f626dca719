// Groups that are gone from the SELECT of a merge that reads only a part of its input. A group is gone once none of its
// rows is left, so it can be known only by the changes of the tables that the model follows: all of the groups with a value
// of the column by which it reads are made again there, and what the SELECT no longer gives of them is not in it any more.
// An input that only forgets its oldest rows has not changed there, so their groups stay.

import { count } from '../../core/counts.ts'
import { isGrouped } from '../../compiler/lineage/follow.ts'
import type { MergeModel } from '../../core/model.ts'
import { sameName } from '../../core/names.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { countRows } from '../build/materialize/relation.ts'
import { readFrom, sameValues, STAGE } from '../build/materialize/stage.ts'
import type { RunContext } from '../run-context.ts'
import { isTouched } from './ranges.ts'
import { touchedSince } from './touched.ts'

interface Vanishing {
  /** Whether all groups with this value of the watermark were made again, by what is known to have changed; null: none were. */
  readonly isMade: ((watermark: Sql) => Sql) | null
  /** Whether rows with it were read, for whatever reason. */
  readonly isRead: (watermark: Sql) => Sql
}

/** For a table that goes on, while the stage has what was read of the whole SELECT; null: no group is looked for. */
export async function vanishingFrom(
  context: RunContext,
  model: MergeModel,
): Promise<Vanishing | null> {
  const { watermark, uniqueKey, name } = model
  if (watermark === null || !isGrouped(context.project, model)) return null
  const touched = (await touchedSince(context, model))?.ranges ?? null
  // The key of a group without it may have come to another value, of which nothing is made again.
  const isKey = uniqueKey.some((part) => sameName(part, watermark.column))
  const ranges = isKey ? (touched ?? []) : []
  return {
    isMade: ranges.length === 0 ? null : (value) => isTouched(value, ranges),
    isRead: (value) =>
      touched === null
        ? sql`true`
        : sql`(${value} >= ${readFrom(name, watermark)} OR ${isTouched(value, touched)})`,
  }
}

/** Before anything is written. */
export async function warnOfOthers(
  { connection, changes }: RunContext,
  { name, uniqueKey, watermark }: MergeModel,
  { isMade, isRead }: Vanishing,
): Promise<void> {
  const value = sql`t.${sql.ident(watermark!.column)}`
  const isOther = isMade === null ? sql`true` : sql`NOT ${isMade(value)}`
  const rows = await countRows(
    connection,
    sql`(FROM ${sql.relation(name)} t WHERE ${isRead(value)} AND ${isOther}
      AND NOT EXISTS (SELECT 1 FROM ${STAGE} s WHERE ${sameValues(uniqueKey, sql`t`, sql`s`)}))`,
  )
  if (rows === 0) return
  changes.warn(
    name,
    `${count(rows, 'row')} of the table ${rows === 1 ? 'is of a group' : 'are of groups'} that the SELECT no longer gives, and no change that is followed says so: ${rows === 1 ? 'it stays' : 'they stay'}; to remove those of a range: eider run ${name} --start VALUE --end VALUE`,
  )
}
