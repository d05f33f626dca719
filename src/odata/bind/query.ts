// The options of a collection, at the top of a request or within $expand, as a query of its rows.

import { boundWindow } from './expression/filter-and-order.ts'
import { isSortable } from './apply/rows.ts'
import { bindExpand } from './expand.ts'
import { bindExpression } from './expression/expression.ts'
import { bindSearch } from './expression/search.ts'
import { selectedOutput, withoutSelect } from './select.ts'
import {
  type BoundQuery,
  type Expression,
  type OrderItem,
  propertyOf,
  type RowVariable,
  typeOf,
} from './bound.ts'
import { odataError } from '../protocol/errors.ts'
import { withTarget } from '../syntax/parse-option.ts'
import { mayReorder, withinLimits } from './size.ts'
import { newName, type Scope } from './scope.ts'
import type { ComputeItem, OptionSyntax } from '../syntax/syntax.ts'
import { isStoredInOrder } from './keyset.ts'
import { bindFilter, bindOrder } from './expression/filter-and-order.ts'
import type { Property } from '../edm/model.ts'

/** `$compute` comes first: every option can use the names that it gives. They are added to `scope`. */
export function openScope(options: OptionSyntax, scope: Scope): Scope {
  withTarget(targetIn(scope, '$compute'), () => {
    for (const item of options.compute ?? [])
      scope.request.computed.set(newName(item, scope), computedValue(item, scope))
  })
  return scope
}

/** Options within $expand are counted as characters of it. */
const targetIn = ({ request }: Scope, option: string) =>
  request.expandDepth === 0 ? option : `$expand, ${option}`

function computedValue({ value, name }: ComputeItem, scope: Scope): Expression {
  const bound = withinLimits(bindExpression(value, scope), scope.request)
  if (typeOf(bound) === null) throw odataError('type-mismatch', `"${name}" is always null`)
  return bound
}

/** Entities. `within` is the condition that the path of the request makes. */
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
  const comesAsStored = !values.some((value) => value !== null && mayReorder(value))
  return {
    set: row.set,
    relation: { kind: 'set', set: row.set },
    row,
    output,
    navigation: linkedNavigation(scope, options),
    expand,
    filter,
    order: keyOrder(scope, askedOrder(scope, options), comesAsStored),
    ...boundWindow(options),
    contextFragment: row.set.name + selectList(options, { output, expand, scope }),
  }
}

function both(a: Expression | null, b: Expression | null): Expression | null {
  if (a === null || b === null) return a ?? b
  return { kind: 'logical', operator: 'and', operands: [a, b] }
}

/** All without $select, else those that it names (Protocol 11.2.5.1). */
function linkedNavigation({ row }: Scope, { select }: OptionSyntax) {
  const { navigation } = row.set.type
  return select === undefined
    ? navigation
    : navigation.filter(({ name }) => select.some(({ path }) => path[0] === name))
}

/** `$search` and `$filter` in one. `searched` has the properties that `$search` looks at. */
export function boundFilter(
  scope: Scope,
  { filter, search }: OptionSyntax,
  searched: RowVariable = scope.row,
): Expression | null {
  const found =
    search === undefined
      ? null
      : withTarget(targetIn(scope, '$search'), () =>
          withinLimits(bindSearch(search, searched), scope.request),
        )
  const passed =
    filter === undefined
      ? null
      : withTarget(targetIn(scope, '$filter'), () => bindFilter(filter, scope))
  return both(found, passed)
}

export const askedOrder = (scope: Scope, { orderby = [] }: OptionSyntax): readonly OrderItem[] =>
  withTarget(targetIn(scope, '$orderby'), () => bindOrder(orderby, scope).filter(isSortable))

/**
 * The key makes every order total, so that pages neither overlap nor leave gaps. Where the
 * store has rows in the order of the key and that is asked for, none is needed, which makes a page of a large set many
 * times cheaper.
 */
function keyOrder(
  scope: Scope,
  asked: readonly OrderItem[],
  comesAsStored: boolean,
): readonly OrderItem[] {
  const { inKeyOrder, type } = scope.row.set
  const { key } = type
  const isOrdered = (property: Property) =>
    asked.some(({ value }) => value.kind === 'property' && value.property === property)
  const ties = key.filter((property) => !isOrdered(property))
  const all = [
    ...asked,
    ...ties.map((property) => ({ value: propertyOf(scope.row, property), descending: false })),
  ]
  const isKeyOrder = all.every(
    ({ value, descending }, i) =>
      value.kind === 'property' && value.property === key[i] && !descending,
  )
  // A column that is read as a different type, such as an ENUM, may be stored in a different order.
  const isStored = asked.length === 0 || key.every(isStoredInOrder)
  return inKeyOrder && isKeyOrder && isStored && comesAsStored ? [] : all
}

/** Parts of a complex property are named by their paths. */
function selectedPaths(name: string, select: OptionSyntax['select'] = []): readonly string[] {
  const items = select.flatMap(withoutSelect).filter(({ path }) => path[0] === name)
  const paths = items.map(({ path }) => path.join('/'))
  return paths.length === 0 || paths.includes(name) ? [name] : [...new Set(paths)]
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
  const named = listed.filter((property) => !property.name.includes('@'))
  const chosen = named.flatMap(({ name }) => selectedPaths(name, select))
  const links = select === undefined ? [] : linkedNavigation(scope, { select })
  const linked = links.flatMap(({ name }) => (expand.some((e) => e.name === name) ? [] : [name]))
  const names = [...(hasStar ? star : []), ...chosen, ...linked, ...expanded]
  return names.length === 0 ? '' : `(${names.join(',')})`
}
