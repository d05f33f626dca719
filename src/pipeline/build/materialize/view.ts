// kind view: a name for a query. The newline keeps a comment at the end of the body away from the parenthesis.

import type { ViewModel } from '../../../core/model.ts'
import { type Sql, sql } from '../../../core/sql.ts'
import { relationOf } from './relation.ts'

export function createView(model: ViewModel): Sql {
  return sql`CREATE OR REPLACE VIEW ${relationOf(model.name)} AS (${sql.body(model.body)}\n)`
}
