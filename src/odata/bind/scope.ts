// What names mean inside an expression.

import { limits } from '../../core/limits.ts'
import { isODataIdentifier } from '../../core/names.ts'
import { didYouMean } from '../../core/suggest.ts'
import {
  type Expression,
  type ItemSource,
  type RowSource,
  type RowVariable,
  typeOf,
} from './bound.ts'
import type { Costs } from './size.ts'
import { odataError, unknownProperty, invalidOption } from '../protocol/errors.ts'
import type { GeoSupport } from '../protocol/conventions.ts'
import type { ODataVersion } from '../protocol/negotiate.ts'
import { isBareDuration } from '../syntax/foreign-values.ts'
import type { ComputeItem, ExpressionSyntax } from '../syntax/syntax.ts'
import type { ComplexType } from '../edm/types.ts'
import type {
  EntityModel,
  EntitySet,
  EntityType,
  NavigationProperty,
  Property,
  RecursiveHierarchy,
} from '../edm/model.ts'

/** What is the same in all of one request. */
export interface RequestContext extends Costs {
  /** What `$root` leads to. */
  readonly sets: EntityModel['sets']
  readonly aliases: ReadonlyMap<string, ExpressionSyntax>
  /** What `now()` returns: one time for the whole request. */
  readonly now: Date
  readonly version: ODataVersion
  readonly geo: GeoSupport
  /** Rows named so far; each gets a unique name in SQL. */
  readonly rows: { count: number }
  /** The hierarchies of rolluprecursive around a transformation of $apply. */
  readonly rollups?: readonly Rollup[]
}

interface Rollup {
  /** The name of the property that is the node. */
  readonly key: string
  readonly set: EntitySet
  readonly hierarchy: RecursiveHierarchy
}

/** What is the same in all expressions about the rows of one collection. */
export interface RequestScope extends RequestContext {
  /** The row that unqualified names of the options of the request speak of. */
  readonly row: RowVariable
  readonly it: ScopeVariable
  /** Values of the aliases used so far; each is bound once. */
  readonly boundAliases: Map<string, Expression>
  /** Aliases whose values are being bound: an alias may name another, but not itself. */
  readonly openAliases: string[]
  /** Names that $compute has given to expressions. */
  readonly computed: Map<string, Expression>
  readonly marks: RowNames['marks']
  readonly collections: RowNames['collections']
  /** What `$these` leads to, in a transformation of $apply; absent elsewhere. */
  readonly these?: (scope: Scope) => { readonly source: RowSource; readonly named: RowNames }
  /** Levels of $expand around the options that are bound. */
  readonly expandDepth: number
}

/** What is said of rows besides their properties. */
export interface RowNames {
  /** Values by the names that $compute gave them, or by their paths where they are nested. */
  readonly computed: ReadonlyMap<string, Expression>
  /** Whether a row has the value at a path, for values that some rows of $apply lack. */
  readonly marks: ReadonlyMap<string, Expression>
  /** What nest and addnested have added, by its path. */
  readonly collections: ReadonlyMap<string, (scope: Scope) => AddedRows>
}

/** Rows that nest or addnested has added to a row, or the entity that groupby has put into an object of it. */
export interface AddedRows {
  readonly kind: 'one' | 'many'
  readonly source: RowSource
  readonly named: RowNames
  /** What leads to them from the entity before; absent: nothing that the model knows. */
  readonly navigation?: NavigationProperty
}

export interface Scope extends RowNames {
  readonly request: RequestScope
  /** The row of unqualified names, unless there is an item. */
  readonly row: RowVariable
  /** The item of a collection whose members unqualified names are, and which is `$this`; null where there is none. */
  readonly item: Expression | null
  /** Whether the items of the value at hand are `$it` too, because the path of the request leads to them. */
  readonly itemsAreIt?: boolean
  readonly variables: ReadonlyMap<string, ScopeVariable>
}

/** A row, or a value: the item of a collection. */
export type ScopeVariable = RowVariable | Expression

/** The scope of the options of a request about rows: nothing is said of them yet but what `more` says. */
export const scopeOfRow = (
  context: RequestContext,
  row: RowVariable,
  more: Partial<RequestScope> = {},
): Scope =>
  scopeOf({
    ...context,
    row,
    it: row,
    boundAliases: new Map(),
    openAliases: [],
    computed: new Map(),
    marks: NOTHING_NAMED.marks,
    collections: NOTHING_NAMED.collections,
    expandDepth: 0,
    ...more,
  })

export const scopeOf = (request: RequestScope): Scope => ({
  request,
  row: request.row,
  item: null,
  computed: request.computed,
  marks: request.marks,
  collections: request.collections,
  variables: NO_VARIABLES,
})

export const NOTHING_NAMED: RowNames = {
  computed: new Map(),
  marks: new Map(),
  collections: new Map(),
}

const NO_VARIABLES: Scope['variables'] = new Map()

export function newRow(scope: Scope, set: EntitySet): RowVariable {
  return { alias: newAlias(scope), set }
}

/** A name for rows, or for the items of a collection, that nothing else in the statement has. */
function newAlias({ request }: Scope): string {
  request.rows.count++
  if (request.rows.count > limits.expressionRows)
    throw odataError(
      'expression-too-deep',
      `a request may follow at most ${limits.expressionRows} navigation properties and collections`,
    )
  return `r${request.rows.count}`
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
  const instead = measureHint(type, name) ?? valueHint(name) ?? hint ?? resultHint(type)
  throw unknownProperty(instead === undefined ? problem : `${problem}; ${instead}`)
}

/** What to ask for where a name is that of a measure, which has no value in a row. */
export const measureHint = ({ measures }: EntityType, name: string): string | undefined =>
  measures.some((measure) => measure.name === name)
    ? `it is a measure: $apply=aggregate(${name})`
    : undefined

/** The properties of rows that $apply has made, which are not those of the set. Those with a blank are its own. */
function resultHint({ isResult, properties }: EntityType): string | undefined {
  const names = properties.map((property) => property.name).filter((name) => !name.includes(' '))
  return isResult === true && names.length > 0
    ? `here $apply has left ${names.slice(0, 10).join(', ')}`
    : undefined
}

/** A name that is a value in another form. */
function valueHint(name: string): string | undefined {
  if (/[‘’“”]/u.test(name))
    return `text is written in single quotes: '${name.replaceAll(/[‘’“”]/gu, '')}'`
  if (/^(?:asc|desc)$/i.test(name))
    return `a direction follows its property after a space: name ${name}`
  return isBareDuration(name) ? `a duration is written duration'${name}'` : undefined
}

export const findNavigation = (type: EntityType, name: string) =>
  type.navigation.find((navigation) => navigation.name === name)

/** Stands in a path for the entity of an outer level of $expand. */
export const THIS_ABOVE = '$this of an outer level of $expand'

/** The name that compute gives, when it is one and is free. */
export function newName(
  { name, at }: Pick<ComputeItem, 'name' | 'at'>,
  { row, computed }: Scope,
): string {
  if (!isODataIdentifier(name))
    throw invalidOption(
      `"${name}" cannot be a name (at character ${at + 1}): a name is letters, digits and underscores`,
    )
  const { type } = row.set
  const isTaken = [...type.properties, ...type.navigation].some((member) => member.name === name)
  if (isTaken || [...computed.keys()].some((path) => path.split('/', 1)[0] === name))
    throw invalidOption(`the name "${name}" is taken (at character ${at + 1})`)
  return name
}

/** `orders` for `core_orders`: people know the table, not that the schema is part of the name. */
function ownOfTable(name: string, sets: EntityModel['sets']): string | undefined {
  const found = [...sets.keys()].filter((set) =>
    set.toLowerCase().endsWith(`_${name.toLowerCase()}`),
  )
  return found.length === 0
    ? undefined
    : `did you mean ${found
        .slice(0, 3)
        .map((set) => `"${set}"`)
        .join(' or ')}?`
}

/** In a path an unknown set is 404; an expression that names one (`$root/…`) is wrong itself, which `code` says. */
export function findSet(
  sets: EntityModel['sets'],
  name: string,
  code: 'unknown-entity-set' | 'unknown-property' = 'unknown-entity-set',
): EntitySet {
  const set = sets.get(name)
  if (set !== undefined) return set
  const problem = `there is no entity set "${name}"`
  const hint = ownOfTable(name, sets) ?? didYouMean(name, sets.keys())
  throw odataError(code, hint === undefined ? problem : `${problem}; ${hint}`)
}

export function findPart(type: ComplexType, name: string, at: number) {
  const found = type.properties.find((property) => property.name === name)
  if (found !== undefined) return found
  const names = type.properties.map((property) => property.name).join(', ')
  throw unknownProperty(
    `${type.name} has no property "${name}" (at character ${at + 1}): there are ${names}`,
  )
}

/** The items of a collection, and one of them. */
export function itemsOf(list: Expression, scope: Scope) {
  const alias = newAlias(scope)
  const type = typeOf(list)
  if (type?.kind !== 'collection') throw new Error('only a collection has items')
  const source: ItemSource = { kind: 'items', alias, list }
  const member: Expression = { kind: 'item', type: type.item, alias }
  return { source, member }
}
