// What the options after $apply see and return: its result has other properties than the entity set.

import {
  type ApplyRows,
  isInner,
  type NestedRows,
  pathKey,
  searchedRow,
  totalOrder,
} from './rows.ts'
import { scopeOfRows, withOwnKey } from './row-scope.ts'
import { entityIdOutput } from '../control-information.ts'
import { askedOrder, boundFilter, openScope } from '../query.ts'
import { bindExpand, requireFitting } from '../expand.ts'
import { expandedEntities, isOfEntity, leadsToEntity } from './entities.ts'
import { propertyOf, type RowVariable, typeOf } from '../bound.ts'
import type { BoundQuery, Expansion, OutputProperty } from '../bound-request.ts'
import { invalidOption, unsupported, optionNotAllowed } from '../../protocol/errors.ts'
import { withTarget } from '../../syntax/parse-option.ts'
import { findNavigation, findProperty, newRow, type Scope, scopeOfRow } from '../scope.ts'
import type { ExpandItem, OptionSyntax, SelectItem } from '../../syntax/syntax.ts'
import { boundWindow } from '../expression/expression.ts'

interface Named {
  readonly path: readonly string[]
}

type Output = OutputProperty & Named

export function resultQuery(rows: ApplyRows, scope: Scope, asked: OptionSyntax): BoundQuery {
  const { row } = scope
  const { joined, nested, options } = withTarget('$expand', () => splitExpand(rows, asked))
  const shown = withTarget('$select', () => resultOutput(rows, scope, options))
  const beside = withTarget('$expand', () => joined.map((item) => joinedPart(rows, scope, item)))
  const both = [...shown, ...beside.flatMap(({ output }) => output)].map(
    (each) => [each.name, each] as const,
  )
  const output = neighbours([...new Map(both).values()], 0)
  requireFreeNames(nested, output)
  const entities = withTarget('$expand', () => expandedEntities(rows, scope, options))
  const others = [
    ...entities.filter(({ within }) => within === undefined),
    ...withTarget('$expand', () =>
      nested.map(({ collection, item }) => nestedExpansion(collection, scope, item)),
    ),
  ]
  const inObjects = entities.filter(({ within }) => within !== undefined)
  const named = inObjects.map((each) => ({ path: [...each.within!, ...expandedNames([each])] }))
  return {
    set: rows.set,
    relation: rows.relation,
    row,
    entity: rows.added === null ? null : entityRow(rows, row, scope),
    output,
    annotations: annotationOutputs(rows, row),
    expand: [...inObjects, ...others, ...beside.flatMap((part) => part.expand)],
    filter: boundFilter(scope, options, searchedRow(rows, row)),
    order: totalOrder(rows, askedOrder(scope, options), row),
    ...boundWindow(options),
    contextFragment: withExpanded(resultFragment(rows, options, [...shown, ...named]), [
      ...beside.map(({ fragment }) => fragment),
      ...objectNames(others),
    ]),
  }
}

interface AskedCollection {
  readonly collection: NestedRows
  /** Null where it is there by default. */
  readonly item: ExpandItem | null
}

const isBeside = ({ joined }: ApplyRows, { path }: NestedRows) => joined?.has(path[0]!) === true

/** `$expand` of entities that join has put beside the rows, of what nest and addnested made, and of all others. */
function splitExpand(rows: ApplyRows, options: OptionSyntax) {
  const { joined: sets } = rows
  const collections = (rows.nested ?? []).filter((each) => !isBeside(rows, each))
  const { expand, ...others } = options
  // What is below an object that is no entity has no name that $expand could tell.
  const always = collections.filter(({ path }) => path.length > 1)
  const named = collections.filter(({ path }) => path.length === 1)
  const byDefault = (collection: NestedRows): AskedCollection => ({ collection, item: null })
  if (expand === undefined)
    return { joined: [], nested: [...named, ...always].map(byDefault), options }
  const isJoined = ({ path }: ExpandItem) => sets?.has(path[0]!) === true
  // Parts of a concat may each have one of that name.
  const collectionsOf = ({ path }: ExpandItem) => named.filter((each) => each.path[0] === path[0])
  const shown = expand.flatMap((item) =>
    collectionsOf(item).map((collection): AskedCollection => ({ collection, item })),
  )
  const rest = expand.filter((item) => !isJoined(item) && collectionsOf(item).length === 0)
  return {
    joined: expand.filter(isJoined),
    nested: [...shown, ...always.map(byDefault)],
    options: rest.length === 0 && expand.length > 0 ? others : { ...others, expand: rest },
  }
}

function requireFreeNames(nested: readonly AskedCollection[], output: readonly Output[]): void {
  const names = nested.map(({ collection }) => pathKey(collection.path))
  const clash = names.find((name) => output.some(({ path }) => path[0] === name))
  if (clash !== undefined) throw invalidOption(`the name "${clash}" is taken`, '$apply')
}

/** Those of entities stand in these. */
const annotationOutputs = ({ annotations = [], values }: ApplyRows, row: RowVariable) =>
  annotations
    .filter(({ path }) => !values.some((value) => isOfEntity(path, value)))
    .map(({ path, property }): Output => ({
      name: property.column.name,
      path,
      type: property.type,
      value: propertyOf(row, property),
    }))

/** What nest or addnested has made, below the row of the scope. With options, what it has by default is left to these. */
function nestedExpansion(
  collection: NestedRows,
  scope: Scope,
  item: ExpandItem | null = null,
): Expansion {
  const { path, many, ours, link, rows, mark, isNullObject } = collection
  const { request } = scope
  const name = path.at(-1)!
  if (item !== null) requireFitting({ name, many }, item)
  if (item !== null && item.levels > 1) throw unsupported(`$levels in $expand of ${name}`)
  const row = newRow(scope, rows.set)
  const aliases = new Map([...request.aliases, ...(item?.aliases ?? [])])
  const inner = scopeOfRows(rows, { ...request, aliases }, row)
  const options = item === null ? {} : { ...item.options, expand: item.options.expand ?? [] }
  const query = resultQuery(rows, openScope(options, inner), options)
  const form = item?.form ?? 'entities'
  return {
    name,
    within: path.slice(0, -1),
    mark: mark && propertyOf(scope.row, mark),
    isNullObject,
    many,
    countOnly: form === 'count',
    ...(form === 'entities' && {
      context: many ? query.contextFragment : `${query.contextFragment}/$entity`,
    }),
    isOptional: !many,
    link: { ours: propertyOf(scope.row, ours), theirs: link },
    outer: [],
    query:
      form === 'references'
        ? { ...query, output: [entityIdOutput(referencedRow(rows, row, name, scope))] }
        : query,
  }
}

/** The same row with the key of its entity, which rows of $apply have among their values; undefined where they lack it. */
function entityRow(rows: ApplyRows, row: RowVariable, { request }: Scope): RowVariable | undefined {
  const set = withOwnKey(rows, request.sets)
  return rows.added === null || set.type.key.length === 0 ? undefined : { ...row, set }
}

function referencedRow(rows: ApplyRows, row: RowVariable, name: string, scope: Scope): RowVariable {
  const found = entityRow(rows, row, scope)
  if (found === undefined)
    throw optionNotAllowed(`${name} has no entities that could be referenced`)
  return found
}

/** The entity beside a row, which is there already: what is shown of it, and what it leads to. */
function joinedPart(rows: ApplyRows, scope: Scope, item: ExpandItem) {
  const { path, form, levels } = item
  const [name = ''] = path
  if (path.length > 1 || levels > 1) throw unsupported(`$levels or a path in $expand of ${name}`)
  requireFitting({ name, many: false }, item)
  const row = scope.variables.get(name) as RowVariable
  const values = valueOutputs(rows, scope.row).filter((each) => each.path[0] === name)
  const { mark, isNullObject } = values[0]!
  const marked = (output: Output): Output => ({ ...output, mark, isNullObject })
  if (form === 'references') {
    const reference = { ...entityIdOutput(row), name: `${name} id`, path: [name, '@odata.id'] }
    return { output: [marked(reference)], expand: [], fragment: `${name}()` }
  }
  const { expand, ...others } = item.options
  const { request } = scope
  const aliases = new Map([...request.aliases, ...item.aliases])
  const inner = openScope(others, scopeOfRow({ ...request, aliases }, row))
  const computed = computedOutput(inner, others).map((each) =>
    marked({ ...each, name: `${name} ${each.name}`, path: [name, ...each.path] }),
  )
  const all = [...values, ...computed]
  const output = others.select === undefined ? all : joinedSelection(row, name, others.select, all)
  const own = (rows.nested ?? []).filter((each) => each.path[0] === name)
  const isOwn = (each: ExpandItem) => own.some(({ path: [, last] }) => last === each.path[0])
  const nested = own.flatMap((each) => {
    const asked = expand?.find((one) => one.path[0] === each.path[1])
    return expand === undefined || asked !== undefined
      ? [nestedExpansion(each, scope, asked ?? null)]
      : []
  })
  const related = bindExpand(
    (expand ?? []).filter((each) => !isOwn(each)),
    inner,
  ).map((each) => ({ ...each, within: [name], mark, isNullObject }))
  const expansions = [...nested, ...related]
  const listing = others.select === undefined && computed.length === 0 ? '' : listed(output, 1)
  const names = [...(listing === '' ? [] : [listing]), ...expandedNames(expansions)]
  return { output, expand: expansions, fragment: `${name}(${names.join(',')})` }
}

function joinedSelection(
  row: RowVariable,
  name: string,
  select: readonly SelectItem[],
  all: readonly Output[],
): readonly Output[] {
  return select.flatMap((item) => {
    const path = item.path[0] === '*' ? [name] : [name, ...item.path]
    const found = chosenBy({ ...item, path }, all)
    if (found.length === 0 && findNavigation(row.set.type, item.path[0] ?? '') === undefined)
      findProperty(row.set.type, item.path[0] ?? '', item.at)
    return found
  })
}

function expandedNames(expand: readonly Expansion[]): readonly string[] {
  const names = expand
    .filter(({ countOnly }) => !countOnly)
    .map(({ name, context, query }) => {
      if (context !== undefined) return `${name}()`
      const inner = query.contextFragment.slice(query.set.name.length)
      return `${name}${inner === '' ? '()' : inner}`
    })
  return [...new Set(names)]
}

/** `o(x(),y())` for collections of an object that is no entity. */
function objectNames(expand: readonly Expansion[]): readonly string[] {
  const objects = new Map(expand.map(({ within = [] }) => [pathKey(within), within]))
  return [...objects].flatMap(([key, within]) => {
    const names = expandedNames(expand.filter((each) => pathKey(each.within ?? []) === key))
    return within.reduceRight((inner, name) => [`${name}(${inner.join(',')})`], names)
  })
}

function withExpanded(fragment: string, names: readonly string[]): string {
  if (names.length === 0) return fragment
  return fragment.endsWith(')')
    ? `${fragment.slice(0, -1)},${names.join(',')})`
    : `${fragment}(${names.join(',')})`
}

/** What $compute names. */
export const computedOutput = ({ computed }: Scope, { compute = [] }: OptionSyntax) =>
  compute.map(({ name }, i): Output => {
    const value = computed.get(name)!
    return { name: `computed${i}`, path: [name], type: typeOf(value)!, value }
  })

/** The values of the rows, without the keys that entities stand for. */
const valueOutputs = (rows: ApplyRows, row: RowVariable): readonly Output[] =>
  rows.values
    .filter((value) => value.entity === undefined && !isInner(value))
    .map(({ path, property, mark, isNullObject }) => ({
      name: property.column.name,
      path,
      type: property.type,
      value: propertyOf(row, property),
      mark: mark && propertyOf(row, mark),
      isNullObject,
    }))

/** Without $select all values, and all that $compute names; values of one object stand side by side. */
function resultOutput(
  rows: ApplyRows,
  scope: Scope,
  { select, compute = [], expand = [] }: OptionSyntax,
) {
  const all: Output[] = [...valueOutputs(rows, scope.row), ...computedOutput(scope, { compute })]
  // An entity that is asked for is written whole, with the value that is beside it otherwise.
  const isWhole = (name: string) =>
    rows.added !== null && expand.some(({ path }) => path[0] === name)
  const own = all.filter(
    ({ path: [name = '', ...more] }) =>
      rows.joined?.has(name) !== true && !(more.length > 0 && isWhole(name)),
  )
  if (select === undefined) return neighbours(own, 0)
  const chosen = select.flatMap((item) => {
    const found = chosenBy(item, item.path.length > 1 ? all : own)
    const [name = ''] = item.path
    const isJoined = rows.joined?.has(name) === true && item.path.length === 1
    const isWithin = rows.values.some((value) => leadsToEntity(item.path, value))
    const isKnown = isJoined || isWithin || findNavigation(rows.set.type, name) !== undefined
    if (found.length === 0 && !isKnown) findProperty(rows.set.type, name, item.at)
    return found
  })
  return neighbours([...new Set(chosen)], 0)
}

/** `customer` means all that there is of the customer. */
function chosenBy({ path }: SelectItem, all: readonly Output[]): readonly Output[] {
  if (path[0] === '*') return all
  return all.filter((output) => path.every((name, i) => output.path[i] === name))
}

function neighbours(outputs: readonly Output[], depth: number): readonly Output[] {
  const byName = byNameAt(outputs, depth)
  return [...byName.values()].flatMap((same) =>
    same.length === 1 ? same : neighbours(same, depth + 1),
  )
}

/** Protocol 10.7, 10.8 and Data Aggregation 3.1.1: `shop_orders(customer(country),total)`. */
function resultFragment(
  rows: ApplyRows,
  { select, compute = [] }: OptionSyntax,
  outputs: readonly Named[],
): string {
  const { name } = rows.set
  if (rows.added === null || select !== undefined)
    return outputs.length === 0 ? name : `${name}(${listed(outputs, 0)})`
  const known = new Set(rows.values.map(({ path }) => pathKey(path)))
  const added = outputs.filter(({ path }) => {
    const key = pathKey(path)
    return path.length > 1 || !known.has(key) || rows.added!.includes(key)
  })
  return added.length + compute.length === 0 ? name : `${name}(*,${listed(added, 0)})`
}

function listed(outputs: readonly Named[], depth: number): string {
  const byName = byNameAt(outputs, depth)
  const items = Array.from(byName, ([name, inner]) => {
    const isValue = inner[0]!.path.length === depth + 1
    return isValue ? name : `${name}(${listed(inner, depth + 1)})`
  })
  return items.join(',')
}

function byNameAt<T extends Named>(outputs: readonly T[], depth: number): ReadonlyMap<string, T[]> {
  const byName = new Map<string, T[]>()
  for (const output of outputs) {
    const name = output.path[depth]!
    byName.set(name, [...(byName.get(name) ?? []), output])
  }
  return byName
}
