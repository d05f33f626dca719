// kind table: the rows of a query.

import type { TableModel } from '../../../core/model.ts'
import { type Sql, sql } from '../../../core/sql.ts'
import { fromNothing } from './from-nothing.ts'
import type { Materialization } from './materialization.ts'

export const table: Materialization<TableModel> = fromNothing(
  (model, _, createdIn) => createTable(model, sql.body(model.body), createdIn),
  ({ body }) => sql.body(body),
)

/** The newline keeps a comment at the end of the query away from the parenthesis. */
export function createTable(
  { name }: Pick<TableModel, 'name'>,
  query: Sql,
  createdIn: string | null,
): Sql {
  return sql`CREATE OR REPLACE TABLE ${sql.relation(name, createdIn)} AS (${query}\n)`
}
