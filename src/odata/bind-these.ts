// `$these/aggregate(amount with sum)`: a total of all rows, or of those of the group at hand, beside each of them (Data
// Aggregation 4.0, section 3.5). The engine computes it as a window, which only a list of columns can hold: so it is there
// for the compute of $apply, and nowhere else.

import { type Sql, sql } from '../core/sql.ts'
import { type Aggregator, bindTotal, methodNamed } from './bind-aggregate.ts'
import { type Expression, typeOf } from './bound.ts'
import { type Scope, unsupported } from './scope.ts'
import type { ExpressionSyntax, NamesSyntax } from './syntax.ts'

export const isThese = ({ names }: NamesSyntax): boolean =>
  names.length === 1 && names[0] === '$these'

type TotalSyntax = ExpressionSyntax & { readonly kind: 'total' }

/** Throws 501 where there are no such rows at hand, as in a lambda. */
export function bindTheseTotal({ value, method, at }: TotalSyntax, scope: Scope): Expression {
  const { these, request, row, item, variables } = scope
  if (these === undefined || item !== null || row !== request.row || variables.size > 0)
    throw unsupported('$these')
  const { these: _, ...inner } = scope
  const { type, value: operand } = bindTotal({ value, method, at }, inner)
  if (operand?.kind === 'gathered') throw unsupported('$these with related entities')
  const operands = operand === null ? these : [operand, ...these]
  return {
    kind: 'call',
    name: '$these/aggregate',
    type,
    operands,
    // The average of decimals speaks of sum and count several times.
    copies: operand === null ? [] : [MOST_COPIES],
    sql: (...all: readonly Sql[]) => {
      const parts = all.slice(0, operands.length)
      if (operand === null) return sql`count(*) ${over(parts)}`
      const [values = sql.empty, ...groups] = parts
      const total = methodNamed(method!, at)(typeOf(operand)!, method!, inWindow(over(groups)))
      return total.sql(values)
    },
  }
}

const MOST_COPIES = 6

const over = (groups: readonly Sql[]): Sql =>
  groups.length === 0 ? sql`OVER ()` : sql`OVER (PARTITION BY ${sql.join(groups)})`

const inWindow = (window: Sql): Aggregator => ({
  sum: (values) => sql`sum(${values}) ${window}`,
  min: (values) => sql`min(${values}) ${window}`,
  max: (values) => sql`max(${values}) ${window}`,
  average: (values) => sql`avg(${values}) ${window}`,
  count: (values) => sql`count(${values}) ${window}`,
  distinct: (values) => sql`count(DISTINCT ${values}) ${window}`,
})
