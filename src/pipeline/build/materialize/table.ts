// kind table: the rows of a query.

import type { TableModel } from '../../../core/model.ts'
import { type Sql, sql } from '../../../core/sql.ts'
import { fromNothing } from './from-nothing.ts'
import type { Materialization } from './materialization.ts'
import { relationOf } from './relation.ts'

export const table: Materialization<TableModel> = fromNothing(
  (model) => createTable(model, sql.body(model.body)),
  ({ body }) => sql.body(body),
)

/** The newline keeps a comment at the end of the query away from the parenthesis. */
export function createTable({ name }: Pick<TableModel, 'name'>, query: Sql): Sql {
  return sql`CREATE OR REPLACE TABLE ${relationOf(name)} AS (${query}\n)`
}
