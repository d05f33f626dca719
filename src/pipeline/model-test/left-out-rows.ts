// Rows of an input from which no row of a model is made, as far as columns tell: without some of them, a recorded test would
// not notice that somebody removes a condition.

import type { ModelName } from '../../core/names.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { type ColumnPair, wayBy } from './column-pairs.ts'

interface LeftOut {
  readonly model: ModelName
  readonly input: string
  /** Columns that tell which rows of the input are in the model. */
  readonly by: readonly ColumnPair[]
  /** All columns that are passed on. */
  readonly passed: readonly ColumnPair[]
  /** Rows of the model that the test is about. */
  readonly asked: Sql
}

/**
 * Some because they have most values in common with the rows that are asked for, so that few conditions leave them out and
 * their partners are there; some by their hash, since the first of many would be alike.
 */
export function leftOutRows({ model, input, by, passed, asked }: LeftOut): Sql {
  const rows = sql`SELECT d.* FROM ${sql.relation(input)} AS d WHERE NOT ${wayBy(sql.relation(model), by)}`
  const shared = passed.map(
    ({ own, theirs }) =>
      sql`coalesce(d.${sql.ident(theirs)} IN (SELECT ${sql.ident(own)} FROM ${asked}), false)::INTEGER`,
  )
  const half = sql.value(MOST / 2)
  return sql`(${rows} ORDER BY ${sql.join(shared, sql` + `)} DESC, hash(d) LIMIT ${half})
    UNION (${rows} ORDER BY hash(d) LIMIT ${half})`
}

/** Of an input: enough for a condition that leaves many out, and few to review. */
const MOST = 10
