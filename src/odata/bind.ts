// From the syntax of a request to what it asks of one snapshot: which resource, which rows, which properties.

import { isODataIdentifier } from '../core/names.ts'
import { bindExpand } from './bind-expand.ts'
import { asCondition, bindExpression } from './bind-expression.ts'
import { findResource, pathCondition, type Resource } from './bind-resource.ts'
import { bindSearch } from './bind-search.ts'
import {
  type BoundQuery,
  type BoundRequest,
  type Expression,
  type OrderItem,
  type OutputProperty,
  typeOf,
} from './bound.ts'
import { entityIdOutput } from './entity-id.ts'
import type { EntityModel, Property } from './entity-model.ts'
import { odataError } from './errors.ts'
import { withTarget } from './parse-option.ts'
import { hasSubquery, measured } from './measure.ts'
import type { ODataVersion } from './negotiate.ts'
import {
  findNavigation,
  findProperty,
  newRow,
  type RequestScope,
  type Scope,
  scopeOf,
  unsupported,
} from './scope.ts'
import type { ComputeItem, OptionName, OptionSyntax, PathSegment, RequestSyntax } from './syntax.ts'

/** Throws RequestError 400, 404 or 501. `now` is the time that the whole request sees. */
export function bindRequest(
  syntax: RequestSyntax,
  model: EntityModel,
  context: { readonly now: Date; readonly version: ODataVersion },
): BoundRequest {
  const { path, options } = syntax
  const [first] = path
  if (first === undefined) {
    allowOnly(options, ['format'], 'the service document')
    return { kind: 'service-document' }
  }
  if (first.name.startsWith('$')) return bindSystemResource(first, path.length, options)
  if (options.id !== undefined) allowOnly(options, [], first.name)
  const resource = findResource(model, path)
  const scope = openScope(options, {
    row: { alias: 'it', set: resource.set },
    aliases: syntax.aliases,
    boundAliases: new Map(),
    openAliases: [],
    computed: new Map(),
    ...context,
    expandDepth: 0,
    rows: { count: 0 },
  })
  return bindResource(resource, scope, options)
}

function bindResource(resource: Resource, scope: Scope, options: OptionSyntax): BoundRequest {
  const { many, end, steps } = resource
  const kind = end === '$count' ? 'count' : many ? 'collection' : 'entity'
  if (end === '$count') allowOnly(options, COUNT_OPTIONS, '/$count')
  else if (end === '$ref') allowOnly(options, many ? REFERENCES_OPTIONS : ['format'], '/$ref')
  else if (end !== null) allowOnly(options, ['format'], 'a property')
  else if (!many) allowOnly(options, ENTITY_OPTIONS, 'a single entity')
  const own = collectionQuery(scope, options, pathCondition(steps, scope.row, scope))
  const query = { ...own, top: many ? own.top : 1 }
  const parent = parentQuery(resource, scope)
  if (end === '$ref') {
    const contextFragment = many ? 'Collection($ref)' : '$ref'
    const output = [entityIdOutput(scope.row)]
    return { kind, parent, query: { ...query, output, contextFragment } }
  }
  if (end !== null && end !== '$count') {
    const { property, raw } = end
    const output = [{ name: 'value', type: property.type, value: propertyOf(scope, property) }]
    const contextFragment = `${resource.entityPath}/${property.name}`
    return { kind: 'property', raw, parent: null, query: { ...query, output, contextFragment } }
  }
  const contextFragment = many ? query.contextFragment : `${query.contextFragment}/$entity`
  return { kind, parent, query: { ...query, contextFragment } }
}

function both(a: Expression | null, b: Expression | null): Expression | null {
  if (a === null || b === null) return a ?? b
  return { kind: 'logical', operator: 'and', operands: [a, b] }
}

/** The entity before the last navigation, unless a key says which of the rows behind it is meant. */
function parentQuery({ steps }: Resource, scope: Scope): BoundQuery | null {
  const before = steps.slice(0, -1)
  const last = before.at(-1)
  if (last === undefined || steps.at(-1)!.key !== null) return null
  const row = newRow(scope, last.set)
  const query = collectionQuery({ ...scope, row }, {}, pathCondition(before, row, scope))
  return { ...query, output: [], top: 1 }
}

const ENTITY_OPTIONS: readonly OptionName[] = ['compute', 'select', 'expand', 'format']
const REFERENCES_OPTIONS: readonly OptionName[] = [
  'filter',
  'search',
  'orderby',
  'skip',
  'top',
  'count',
  'format',
  'skiptoken',
]
const COUNT_OPTIONS: readonly OptionName[] = ['compute', 'filter', 'search', 'format']

/** `$compute` comes first: every option can use the names that it gives. */
export function openScope(options: OptionSyntax, request: RequestScope): Scope {
  const scope = scopeOf(request)
  withTarget(targetIn(scope, '$compute'), () => {
    for (const item of options.compute ?? [])
      request.computed.set(newName(item, scope), computedValue(item, scope))
  })
  return scope
}

/** Options within $expand are counted as characters of it. */
const targetIn = ({ request }: Scope, option: string) =>
  request.expandDepth === 0 ? option : `$expand, ${option}`

function newName({ name, at }: ComputeItem, { row, computed }: Scope): string {
  if (!isODataIdentifier(name))
    throw odataError('invalid-option-value', `no name can be given at character ${at + 1}`)
  const { type } = row.set
  const isTaken = [...type.properties, ...type.navigation].some((member) => member.name === name)
  if (isTaken || computed.has(name))
    throw odataError('invalid-option-value', `the name "${name}" is taken (at character ${at + 1})`)
  return name
}

function computedValue({ value, name }: ComputeItem, scope: Scope): Expression {
  const bound = measured(bindExpression(value, scope))
  if (typeOf(bound) === null) throw odataError('type-mismatch', `"${name}" is always null`)
  return bound
}

function allowOnly(options: OptionSyntax, allowed: readonly OptionName[], resource: string): void {
  for (const name of Object.keys(options) as OptionName[])
    if (!allowed.includes(name))
      throw odataError('option-not-allowed', `$${name} has no meaning for ${resource}`, {
        target: `$${name}`,
      })
}

function bindSystemResource(
  { name, key }: PathSegment,
  segments: number,
  options: OptionSyntax,
): BoundRequest {
  if (name === '$metadata' && key === null && segments === 1) {
    allowOnly(options, ['format'], '$metadata')
    return { kind: 'metadata' }
  }
  if (['$crossjoin', '$all'].includes(name)) throw unsupported(name)
  throw odataError('unknown-resource', `there is no resource ${name} here`)
}

/** `within` is the condition that the path of the request makes. */
export function collectionQuery(
  scope: Scope,
  options: OptionSyntax,
  within: Expression | null = null,
): BoundQuery {
  const { row } = scope
  const output = withTarget(targetIn(scope, '$select'), () => selectedOutput(scope, options))
  const expand = withTarget('$expand', () => bindExpand(options.expand ?? [], scope))
  const filter = both(within, boundFilter(scope, options))
  const values = [filter, ...output.map(({ value }) => value)]
  const comesAsStored = !values.some((value) => value !== null && hasSubquery(value))
  return {
    set: row.set,
    row,
    output,
    expand,
    filter,
    order: withTarget(targetIn(scope, '$orderby'), () => boundOrder(scope, options, comesAsStored)),
    withCount: options.count ?? false,
    skip: options.skip ?? 0,
    top: options.top ?? null,
    contextFragment: row.set.name + selectList(options, { output, expand, scope }),
  }
}

const propertyOf = ({ row }: Scope, property: Property): Expression => ({
  kind: 'property',
  type: property.type,
  row,
  property,
})

/**
 * In the order asked for, each once; without $select every property and all that $compute names. A navigation property
 * alone adds nothing to the rows.
 */
function selectedOutput(scope: Scope, { select }: OptionSyntax): readonly OutputProperty[] {
  const { type } = scope.row.set
  const selected = new Map<string, OutputProperty>()
  const add = (name: string, value: Expression) =>
    selected.set(name, { name, type: typeOf(value)!, value })
  for (const { path, at } of select ?? [{ path: ['*'], at: 0 }]) {
    const [name, ...more] = path as readonly [string, ...string[]]
    const computed = scope.computed.get(name)
    if (name === '*')
      for (const property of type.properties) add(property.name, propertyOf(scope, property))
    else if (more.length > 0) throw unsupported(`a path in $select`)
    else if (computed !== undefined) add(name, computed)
    else if (findNavigation(type, name) === undefined)
      add(name, propertyOf(scope, findProperty(type, name, at)))
  }
  if (select === undefined) for (const [name, value] of scope.computed) add(name, value)
  return [...selected.values()]
}

function boundFilter(scope: Scope, { filter, search }: OptionSyntax): Expression | null {
  const conditions: Expression[] = []
  if (search !== undefined)
    conditions.push(
      withTarget(targetIn(scope, '$search'), () => measured(bindSearch(search, scope.row))),
    )
  if (filter !== undefined)
    conditions.push(
      withTarget(targetIn(scope, '$filter'), () =>
        asCondition(measured(bindExpression(filter, scope)), 'a filter'),
      ),
    )
  const [first, ...more] = conditions
  if (first === undefined || more.length === 0) return first ?? null
  return { kind: 'logical', operator: 'and', operands: conditions }
}

/**
 * The key makes every order total, so that pages neither overlap nor leave gaps. Rows are stored in the order of the
 * key: where that is the order asked for, none is needed, which makes a page of a large set many times cheaper.
 */
function boundOrder(
  scope: Scope,
  { orderby = [] }: OptionSyntax,
  comesAsStored: boolean,
): readonly OrderItem[] {
  const { key } = scope.row.set.type
  const order = orderby
    .map(({ value, descending }): OrderItem => ({
      value: measured(bindExpression(value, scope)),
      descending,
    }))
    .filter(({ value }) => value.kind !== 'null' && value.kind !== 'constant')
  const isOrdered = (property: Property) =>
    order.some(({ value }) => value.kind === 'property' && value.property === property)
  const ties = key.filter((property) => !isOrdered(property))
  const all = [
    ...order,
    ...ties.map((property) => ({ value: propertyOf(scope, property), descending: false })),
  ]
  const isKeyOrder = all.every(
    ({ value, descending }, i) =>
      value.kind === 'property' && value.property === key[i] && !descending,
  )
  return isKeyOrder && comesAsStored ? [] : all
}

/**
 * Protocol 10.7 and 10.8: the properties when there is a choice of them, computed ones too, and what is expanded. Version
 * 4.0 names an expanded property only for what is chosen from it; a client refused `orders()`.
 */
function selectList(
  { select, compute = [] }: OptionSyntax,
  { output, expand, scope }: Pick<BoundQuery, 'output' | 'expand'> & { readonly scope: Scope },
): string {
  const computed = new Set(compute.map((item) => item.name))
  const hasStar = select === undefined || select.some(({ path }) => path[0] === '*')
  const listed = output.filter((property) => !hasStar || computed.has(property.name))
  const star = select === undefined && compute.length === 0 ? [] : ['*']
  const expanded = expand.flatMap(({ name, countOnly, query }) => {
    const inner = query.contextFragment.slice(query.set.name.length)
    if (countOnly || (inner === '' && scope.request.version === '4.0')) return []
    return [`${name}${inner === '' ? '()' : inner}`]
  })
  const names = [...(hasStar ? star : []), ...listed.map((property) => property.name), ...expanded]
  return names.length === 0 ? '' : `(${names.join(',')})`
}
