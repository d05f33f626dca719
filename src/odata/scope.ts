// What names mean inside an expression.

import { limits } from '../core/limits.ts'
import { isODataIdentifier } from '../core/names.ts'
import { didYouMean } from '../core/suggest.ts'
import type { Expression, RowVariable } from './bound.ts'
import type { EntitySet, EntityType, Property } from './entity-model.ts'
import { odataError } from './errors.ts'
import type { ODataVersion } from './negotiate.ts'
import type { ComputeItem, ExpressionSyntax } from './syntax.ts'

/** What is the same in all of one request. */
export interface RequestContext {
  readonly aliases: ReadonlyMap<string, ExpressionSyntax>
  /** One time for the whole request (row Q078). */
  readonly now: Date
  readonly version: ODataVersion
  /** Rows named so far; each gets a name of its own in SQL. */
  readonly rows: { count: number }
}

/** What is the same in all expressions about the rows of one collection. */
export interface RequestScope extends RequestContext {
  /** `$it`, and the row that unqualified names of the options of the request speak of. */
  readonly row: RowVariable
  /** Values of the aliases used so far; each is bound once. */
  readonly boundAliases: Map<string, Expression>
  /** Aliases whose values are being bound: an alias may name another, but not itself. */
  readonly openAliases: string[]
  /** Names that $compute has given to expressions. */
  readonly computed: Map<string, Expression>
  /** Levels of $expand around the options that are bound. */
  readonly expandDepth: number
}

export interface Scope {
  readonly request: RequestScope
  /** The row of unqualified names. */
  readonly row: RowVariable
  readonly computed: ReadonlyMap<string, Expression>
  /** Variables of the lambdas around the expression. */
  readonly variables: ReadonlyMap<string, RowVariable>
}

export const scopeOf = (request: RequestScope): Scope => ({
  request,
  row: request.row,
  computed: request.computed,
  variables: NO_VARIABLES,
})

const NO_VARIABLES: Scope['variables'] = new Map()

export function newRow({ request }: Scope, set: EntitySet): RowVariable {
  request.rows.count++
  if (request.rows.count > limits.expressionRows)
    throw odataError(
      'expression-too-deep',
      `a request may follow ${limits.expressionRows} navigation properties at most`,
    )
  return { alias: `r${request.rows.count}`, set }
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

/** The name that compute gives, when it is one and is free. */
export function newName({ name, at }: ComputeItem, { row, computed }: Scope): string {
  if (!isODataIdentifier(name))
    throw odataError('invalid-option-value', `no name can be given at character ${at + 1}`)
  const { type } = row.set
  const isTaken = [...type.properties, ...type.navigation].some((member) => member.name === name)
  if (isTaken || [...computed.keys()].some((path) => path.split('/', 1)[0] === name))
    throw odataError('invalid-option-value', `the name "${name}" is taken (at character ${at + 1})`)
  return name
}
