// The options of a collection, at the top of a request or within $expand, as a query of its rows.

import { boundWindow, bindExpression, bindFilter, bindOrder } from './expression/expression.ts'
import { isSortable } from './apply/rows.ts'
import { bindExpand } from './expand.ts'
import { bindSearch } from './expression/search.ts'
import {
  conjunctsOf,
  type Expression,
  type OrderItem,
  propertyOf,
  type RowVariable,
  typeOf,
  and,
} from './bound.ts'
import type { BoundQuery, OutputProperty } from './bound-request.ts'
import { unsupported, typeMismatch, invalidOption, optionNotAllowed } from '../protocol/errors.ts'
import { withTarget } from '../syntax/parse-option.ts'
import { mayReorder, withinLimits } from './size.ts'
import { newName, type Scope, findNavigation, findPart, findProperty } from './scope.ts'
import type { ComputeItem, OptionSyntax, SelectItem } from '../syntax/syntax.ts'
import type { Property } from '../edm/model.ts'
import { isStoredInOrder } from '../edm/stored-order.ts'
import type { EdmType } from '../edm/types.ts'
import { shownItems, hasParts, narrowed } from './value.ts'

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
  if (typeOf(bound) === null) throw typeMismatch(`"${name}" is always null`)
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
  const { expand: items } = options
  const expand = items === undefined ? [] : withTarget('$expand', () => bindExpand(items, scope))
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
    ...keyOrder(scope, askedOrder(scope, options), { comesAsStored, filter }),
    ...boundWindow(options),
    contextFragment: row.set.name + selectList(options, { output, expand, scope }),
  }
}

function both(a: Expression | null, b: Expression | null): Expression | null {
  if (a === null || b === null) return a ?? b
  return and([a, b])
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
 * times cheaper. Neither is one for rows of the same key.
 */
function keyOrder(
  scope: Scope,
  asked: readonly OrderItem[],
  { comesAsStored, filter }: Pick<BoundQuery, 'filter'> & { readonly comesAsStored: boolean },
): Pick<BoundQuery, 'order' | 'isStoredOrder'> {
  const { inKeyOrder, parts, type } = scope.row.set
  const { key } = type
  if (asked.length === 0 && key.length > 0 && isOfOneKey(scope.row, filter)) return { order: [] }
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
  const isStoredOrder = isKeyOrder && isStored && comesAsStored
  if (inKeyOrder && isStoredOrder) return { order: [] }
  return { order: all, isStoredOrder: parts !== null && isStoredOrder }
}

/** Whether each part of the key must equal a constant. */
function isOfOneKey({ alias, set }: RowVariable, filter: Expression | null): boolean {
  const conditions = conjunctsOf(filter)
  const isGiven = (part: Property) =>
    conditions.some(
      (condition) =>
        condition.kind === 'compare' &&
        condition.operator === 'eq' &&
        condition.right.kind === 'constant' &&
        condition.left.kind === 'property' &&
        condition.left.row.alias === alias &&
        condition.left.property === part,
    )
  return set.type.key.every(isGiven)
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

/**
 * In the requested order, each once; without $select, or for a star in it, every property and all that $compute names
 * (Protocol 11.2.5.3). A navigation property alone adds nothing to the rows.
 */
function selectedOutput(scope: Scope, { select }: OptionSyntax): readonly OutputProperty[] {
  if (select === undefined)
    return valuesOf(EVERYTHING, scope).map(([name, value]) => ({
      name,
      type: typeOf(value)!,
      value,
    }))
  const selected = new Map<string, { readonly value: Expression; readonly items: SelectItem[] }>()
  const add = (name: string, value: Expression, item: SelectItem) => {
    const known = selected.get(name)
    if (known === undefined) selected.set(name, { value, items: [item] })
    else known.items.push(item)
  }
  for (const item of select) {
    const inner = { ...item, path: item.path.slice(1) }
    for (const [name, value] of valuesOf(item, scope)) add(name, value, inner)
  }
  return Array.from(selected, ([name, { value, items }]) =>
    chosenValue(name, value, items, scope),
  ).flat()
}

/** The values that the first name of an item stands for, by their names; those of a navigation property are none. */
function valuesOf(
  { path, options, at }: SelectItem,
  { row, computed }: Scope,
): readonly (readonly [string, Expression])[] {
  const { type } = row.set
  const [name, ...parts] = path as readonly [string, ...string[]]
  if (name === '*')
    return [
      ...type.properties.map((property) => [property.name, propertyOf(row, property)] as const),
      ...computed,
    ]
  const known = computed.get(name)
  if (known !== undefined) return [[name, known]]
  if (findNavigation(type, name) === undefined)
    return [[name, propertyOf(row, findProperty(type, name, at))]]
  if (parts.length === 0 && options === undefined) return []
  throw invalidOption(
    `${name} is not a complex property: write $expand=${name}($select=${parts.join('/') || '…'}) (at character ${at + 1})`,
  )
}

/** A value, with the number of its items before it when that is asked for. */
function chosenValue(name: string, value: Expression, items: readonly SelectItem[], scope: Scope) {
  const type = typeOf(value)!
  const written = narrowed(type, items.flatMap(withoutSelect))
  const [asked, ...more] = items.flatMap(optionsWithin)
  if (asked === undefined) return [{ name, type: written, value }]
  const names = Object.keys(asked.options)
  const later = names.find((option) => COMPLEX_OPTIONS.includes(option))
  const at = typeAt(type, asked.path)
  const isItems = at.kind === 'collection' && later === 'search'
  if (later !== undefined && hasParts(at) && !isItems) throw unsupported(`$${later} within $select`)
  if (at.kind === 'collection' && asked.path.length > 0)
    throw unsupported('choosing items of a list that is inside of another value')
  const unfit = names.find((option) => !ITEM_OPTIONS.includes(option))
  if (more.length > 0 || asked.path.length > 0 || type.kind !== 'collection' || unfit !== undefined)
    throw optionNotAllowed(
      `${name} does not take these options in $select; a list takes $filter, $search, $orderby, $skip, $top and $count, once`,
    )
  const output = shownItems(value, asked.options, scope)
  return output.map((each) => ({
    ...each,
    name: each.name === 'value' ? name : `${name}${each.name}`,
    type: each.name === 'value' ? written : each.type,
  }))
}

/** What is said of a value besides `$select`, and of its parts within that. */
function optionsWithin(
  item: SelectItem,
): readonly Required<Pick<SelectItem, 'path' | 'options'>>[] {
  const { path, options = {}, levels = 1, aliases = new Map() } = item
  if (levels > 1 || aliases.size > 0) throw unsupported('$levels or an alias within $select')
  const { select = [], ...others } = options
  const inner = select.flatMap((part) => optionsWithin({ ...part, path: [...path, ...part.path] }))
  return Object.keys(others).length === 0 ? inner : [{ path, options: others }, ...inner]
}

/** Those that the specification has for structs, besides `$select`. */
const COMPLEX_OPTIONS: readonly string[] = ['compute', 'search', 'expand']

/** The path is known to lead to a value. */
const typeAt = (type: EdmType, path: readonly string[]): EdmType =>
  path.reduce((whole, name) => {
    const of = whole.kind === 'collection' ? whole.item : whole
    return of.kind === 'complex' && name !== '*' ? findPart(of, name, 0).type : whole
  }, type)

const ITEM_OPTIONS: readonly string[] = ['filter', 'search', 'orderby', 'skip', 'top', 'count']

/** `address($select=city,zip)` is `address/city,address/zip`. */
const withoutSelect = ({ path, at, options }: SelectItem): readonly SelectItem[] =>
  options?.select === undefined
    ? [{ path, at }]
    : options.select.flatMap((inner) =>
        withoutSelect({ ...inner, path: [...path, ...inner.path], at }),
      )

const EVERYTHING: SelectItem = { path: ['*'], at: 0 }
