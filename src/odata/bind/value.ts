// Requests for the value of a property, or for a part of it: `orders(1)/amount/$value`, `people(1)/address/city`,
// `people(1)/tags?$filter=startswith($it,'a')`, `people(1)/tags/$count`, `people(1)/tags/-1` (Protocol 11.2.4).

import { wholeNumber } from './expression/constants.ts'
import type { ValueEnd } from './resource.ts'
import {
  type BoundQuery,
  type BoundRequest,
  type Expression,
  type OutputProperty,
  propertyOf,
  typeOf,
  call,
} from './bound.ts'
import { withTarget } from '../syntax/parse-option.ts'
import type { Scope } from './scope.ts'
import type { OptionName, OptionSyntax } from '../syntax/syntax.ts'
import { edm } from '../edm/types.ts'
import { counted, shownItems } from './items.ts'
import { hasParts, narrowed } from './narrow.ts'

export function valueOptions({ type, asks }: ValueEnd): readonly OptionName[] {
  const select: readonly OptionName[] = hasParts(type) && asks === null ? ['select'] : []
  if (type.kind !== 'collection') return ['format', ...select]
  if (asks === '$count') return ['format', 'filter']
  return ['format', 'filter', 'orderby', 'skip', 'top', 'count', ...select]
}

/** `query` is of the entity that has the property. */
export function bindValue(
  { property, steps, asks }: ValueEnd,
  entityPath: string,
  options: OptionSyntax,
  query: BoundQuery,
  scope: Scope,
): BoundRequest {
  let value: Expression = propertyOf(scope.row, property)
  const conditions: Expression[] = query.filter === null ? [] : [query.filter]
  for (const step of steps) {
    if (typeof step === 'number') conditions.push(hasItem(value, step))
    value = typeof step === 'number' ? itemAt(value, step) : partOf(value, step)
  }
  const filter: Expression = { kind: 'logical', operator: 'and', operands: conditions }
  const path = [entityPath, property.name, ...steps].join('/')
  // `$it` is the item, as the value is what the path of the request leads to.
  const inner: Scope = { ...scope, itemsAreIt: true }
  const output = asks === '$count' ? counted(value, options, inner) : shown(value, options, inner)
  const list = options.select?.map((item) => item.path.join('/')).join(',')
  const contextFragment = list === undefined ? path : `${path}(${list})`
  const asked = { ...query, filter, output, navigation: undefined, contextFragment }
  return { kind: 'property', raw: asks !== null, parent: null, query: asked }
}

function partOf(value: Expression, name: string): Expression {
  const type = typeOf(value)
  const part =
    type?.kind === 'complex' ? type.properties.find((inner) => inner.name === name) : undefined
  if (part === undefined) throw new Error(`${name} was resolved earlier and is missing now`)
  return { kind: 'member', type: part.type, of: value, name }
}

/** There is nothing at a place beyond the items, which is not the same as an item that is null. */
const hasItem = (list: Expression, place: number): Expression =>
  call('hasItem', edm.Boolean, list, wholeNumber(place < 0 ? -place : place + 1))

function itemAt(list: Expression, place: number): Expression {
  const type = typeOf(list)
  if (type?.kind !== 'collection') throw new Error('only a collection has items')
  return call('itemAt', type.item, list, wholeNumber(place < 0 ? place : place + 1))
}

function shown(value: Expression, options: OptionSyntax, scope: Scope): readonly OutputProperty[] {
  const type = typeOf(value)!
  const written = withTarget('$select', () => narrowed(type, options.select))
  if (type.kind !== 'collection') return [{ name: 'value', type: written, value }]
  return shownItems(value, options, scope).map((output) =>
    output.name === 'value' ? { ...output, type: written } : output,
  )
}
