// kind view: a name for a query. The newline keeps a comment at the end of the body away from the parenthesis.

import type { ViewModel } from '../../../core/model.ts'
import { sql } from '../../../core/sql.ts'
import { fromNothing } from './from-nothing.ts'
import type { Materialization } from './materialization.ts'

export const view: Materialization<ViewModel> = fromNothing(
  ({ name, body }, _, createdIn) =>
    sql`CREATE OR REPLACE VIEW ${sql.relation(name, createdIn)} AS (${sql.body(body)}\n)`,
)
