// kind view: a name for a query. The newline keeps a comment at the end of the body away from the parenthesis.

import type { ViewModel } from '../../../core/model.ts'
import { sql } from '../../../core/sql.ts'
import { fromNothing } from './from-nothing.ts'
import type { Materialization } from './materialization.ts'
import { relationOf } from './relation.ts'

export const view: Materialization<ViewModel> = fromNothing(
  ({ name, body }) => sql`CREATE OR REPLACE VIEW ${relationOf(name)} AS (${sql.body(body)}\n)`,
)
