// The items of a collection that options ask for: `tags?$filter=…`, `$select=tags($top=3)`.

import { type Expression, type OutputProperty, typeOf } from './bound.ts'
import { withTarget } from '../syntax/parse-option.ts'
import { itemsOf, type Scope } from './scope.ts'
import type { OptionSyntax } from '../syntax/syntax.ts'
import { edm } from '../edm/types.ts'
import { bindFilter, bindOrder, boundWindow } from './expression/expression.ts'
import { bindItemSearch } from './expression/search.ts'

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
  return passed === null ? found : { kind: 'logical', operator: 'and', operands: [found, passed] }
}

export function counted(list: Expression, options: OptionSyntax, scope: Scope): [OutputProperty] {
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
