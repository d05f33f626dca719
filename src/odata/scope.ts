// What names mean inside an expression.

import { limits } from '../core/limits.ts'
import { didYouMean } from '../core/suggest.ts'
import type { Expression, RowVariable } from './bound.ts'
import type { EntityModel, EntitySet, EntityType, Property } from './entity-model.ts'
import { odataError } from './errors.ts'
import type { ExpressionSyntax } from './syntax.ts'

export interface Scope {
  readonly model: EntityModel
  /** The row of unqualified names, and `$it`. */
  readonly row: RowVariable
  /** Variables of the lambdas around the expression. */
  readonly variables: ReadonlyMap<string, RowVariable>
  /** Names that $compute has given to expressions. */
  readonly computed: ReadonlyMap<string, Expression>
  readonly aliases: ReadonlyMap<string, ExpressionSyntax>
  /** Aliases whose values are being bound: an alias may name another, but not itself. */
  readonly within: readonly string[]
  /** One time for the whole request (row Q078). */
  readonly now: Date
  /** Rows named so far in the request; each gets a name of its own in SQL. */
  readonly rowNames: { count: number }
}

export function newRow(scope: Pick<Scope, 'rowNames'>, set: EntitySet): RowVariable {
  scope.rowNames.count++
  if (scope.rowNames.count > limits.expressionRows)
    throw odataError(
      'expression-too-deep',
      `a request may follow ${limits.expressionRows} navigation properties at most`,
    )
  return { alias: `r${scope.rowNames.count}`, set }
}

/** Names are exact, as in $metadata. `at` counts from 0. */
export function findProperty(type: EntityType, name: string, at: number): Property {
  const found = type.properties.find((property) => property.name === name)
  if (found !== undefined) return found
  const hint = didYouMean(
    name,
    [...type.properties, ...type.navigation].map((member) => member.name),
  )
  const problem = `${type.name} has no property "${name}" (at character ${at + 1})`
  throw odataError('unknown-property', hint === undefined ? problem : `${problem}: ${hint}`)
}

export const findNavigation = (type: EntityType, name: string) =>
  type.navigation.find((navigation) => navigation.name === name)

export const unsupported = (what: string) => odataError('not-supported', `${what} is not supported`)
