// kind table, and seeds: the rows of a query, made anew each time.

import type { ModelName } from '../../../core/names.ts'
import { type Sql, sql } from '../../../core/sql.ts'
import { relationOf } from './relation.ts'

/** The newline keeps a comment at the end of the query away from the parenthesis. */
export function createTable(name: ModelName, query: Sql): Sql {
  return sql`CREATE OR REPLACE TABLE ${relationOf(name)} AS (${query}\n)`
}
