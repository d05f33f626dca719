// Requests for the value of a property, or for a part of it: `orders(1)/amount/$value`, `people(1)/address/city`,
// `people(1)/tags?$filter=startswith($it,'a')`, `people(1)/tags/$count`, `people(1)/tags/-1` (Protocol 11.2.4).

import { wholeNumber } from './expression/constants.ts'
import type { ValueEnd } from './resource.ts'
import type { BoundQuery, BoundRequest, OutputProperty } from './bound-request.ts'
import { type Expression, propertyOf, typeOf, call, and } from './bound.ts'
import { withTarget } from '../syntax/parse-option.ts'
import { type Scope, itemsOf, findPart } from './scope.ts'
import type { OptionName, OptionSyntax, SelectItem } from '../syntax/syntax.ts'
import { edm, type EdmType } from '../edm/types.ts'
import { bindFilter, bindOrder, boundWindow } from './expression/expression.ts'
import { bindItemSearch } from './expression/search.ts'
import { unknownProperty } from '../protocol/errors.ts'

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
  const filter: Expression = and(conditions)
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

// The items of a collection that options ask for: `tags?$filter=…`, `$select=tags($top=3)`.

/** The items that the options ask for, named `value`, and before them their number before $skip and $top. */
export function shownItems(
  list: Expression,
  options: OptionSyntax,
  scope: Scope,
): readonly OutputProperty[] {
  const value = chosenItems(list, options, scope)
  const output: OutputProperty = { name: 'value', type: typeOf(list)!, value }
  if (options.count !== true) return [output]
  return [{ ...counted(list, options, scope)[0]!, name: '@odata.count' }, output]
}

/** The scope of what is said of an item, which is `$this`. */
function scopeOfItems(list: Expression, scope: Scope) {
  const { source, member } = itemsOf(list, scope)
  const request = { ...scope.request, it: member, boundAliases: new Map<string, Expression>() }
  const inner = { ...scope, item: member }
  return { source, inner: scope.itemsAreIt === true ? { ...inner, request } : inner }
}

function conditionOn({ filter, search }: OptionSyntax, inner: Scope): Expression | null {
  const passed =
    filter === undefined ? null : withTarget('$filter', () => bindFilter(filter, inner))
  if (search === undefined) return passed
  const found = withTarget('$search', () => bindItemSearch(search, inner.item!))
  return passed === null ? found : and([found, passed])
}

function counted(list: Expression, options: OptionSyntax, scope: Scope): [OutputProperty] {
  const { source, inner } = scopeOfItems(list, scope)
  const value: Expression = { kind: 'count', source, condition: conditionOn(options, inner) }
  return [{ name: 'value', type: edm.Int64, value }]
}

function chosenItems(list: Expression, options: OptionSyntax, scope: Scope): Expression {
  const { filter, search, orderby = [] } = options
  const { skip, top } = boundWindow(options)
  const isWhole = filter === undefined && search === undefined
  if (isWhole && orderby.length === 0 && skip === 0 && top === null) return list
  const { source, inner } = scopeOfItems(list, scope)
  const order = withTarget('$orderby', () => bindOrder(orderby, inner))
  const type = typeOf(list)
  if (type?.kind !== 'collection') throw new Error('items can only be chosen from a collection')
  return { kind: 'items', type, source, condition: conditionOn(options, inner), order, skip, top }
}

// Types with those properties alone that $select names.

/** Whether `$select` can choose among the properties of the value. */
export const hasParts = (type: EdmType) =>
  type.kind === 'complex' || (type.kind === 'collection' && type.item.kind === 'complex')

/** `type` with those properties alone that `items` name, inside of collections too. An empty path means all of them. */
export function narrowed(type: EdmType, items: readonly SelectItem[] | undefined): EdmType {
  if (items === undefined || items.some(({ path }) => path.length === 0 || path[0] === '*'))
    return type
  switch (type.kind) {
    case 'collection': {
      const item = narrowed(type.item, items)
      return item.kind === 'collection' ? type : { ...type, item }
    }
    case 'complex': {
      const byName = new Map<string, SelectItem[]>()
      for (const { path, at } of items) {
        const [name, ...rest] = path as readonly [string, ...string[]]
        findPart(type, name, at)
        byName.set(name, [...(byName.get(name) ?? []), { path: rest, at }])
      }
      const properties = Array.from(byName, ([name, inner]) => ({
        name,
        type: narrowed(findPart(type, name, 0).type, inner),
      }))
      return { ...type, properties }
    }
    case 'primitive':
      throw unknownProperty(
        `${type.name} has no property "${items[0]!.path[0]}" (at character ${items[0]!.at + 1})`,
      )
  }
}
