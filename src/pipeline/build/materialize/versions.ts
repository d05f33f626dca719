// Versions of rows on their way into a table of kind scd2: those that end, and those that begin.

import type { Scd2Model } from '../../../core/model.ts'
import { sameName } from '../../../core/names.ts'
import type { Column } from '../../../core/relation.ts'
import { type Sql, sql } from '../../../core/sql.ts'
import type { Staged } from './kept.ts'
import { sameValues } from './stage.ts'

/** The key of the version, valid_from, and what valid_to and is_current become. */
export const ENDS = sql`temp.main._eider_ends`
/** Whole versions; one that the table has is replaced. */
export const OPENINGS = sql`temp.main._eider_openings`

/** `table`: its columns have been brought in line. */
export interface Place extends Staged {
  readonly table: Sql
}

export const currentRows = (table: Sql): Sql => sql`(FROM ${table} WHERE is_current)`

/** `t` and `s` are one version. */
export const onVersion = ({ uniqueKey }: Scd2Model): Sql =>
  sql`${sameValues(uniqueKey, sql`t`, sql`s`)} AND t.valid_from = s.valid_from`

/** Those in which a new version differs from the one before. */
export const comparedColumns = (
  { compare }: Scd2Model,
  staged: readonly Column[],
): readonly Column[] =>
  compare === null
    ? staged
    : staged.filter(({ name }) => compare.some((one) => sameName(one, name)))
