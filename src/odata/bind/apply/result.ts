// What the options after $apply see and return: its result has other properties than the entity set.

import {
  type ApplyRows,
  type NestedRows,
  pathKey,
  rowVariable,
  scopeOfRows,
  searchedRow,
  totalOrder,
} from './rows.ts'
import { isLink } from './parents.ts'
import { askedOrder, boundFilter } from '../query.ts'
import { bindExpand } from '../expand.ts'
import {
  type BoundQuery,
  type Expansion,
  type OutputProperty,
  propertyOf,
  type RowVariable,
  typeOf,
} from '../bound.ts'
import { invalidOption, unsupported, optionNotAllowed } from '../../protocol/errors.ts'
import { withTarget } from '../../syntax/parse-option.ts'
import { findNavigation, findProperty, newRow, type RequestContext, type Scope } from '../scope.ts'
import type { ExpandItem, OptionSyntax, SelectItem } from '../../syntax/syntax.ts'
import { boundWindow } from '../expression/expression.ts'

interface Output extends OutputProperty {
  readonly path: readonly string[]
}

export function resultQuery(rows: ApplyRows, scope: Scope, asked: OptionSyntax): BoundQuery {
  const { joined, nested, options } = withTarget('$expand', () => splitExpand(rows, asked))
  const shown = withTarget('$select', () => resultOutput(rows, scope, options))
  const beside = withTarget('$expand', () => joined.map((item) => joinedOutput(rows, item)))
  const both = [...shown, ...beside.flat()].map((each) => [each.name, each] as const)
  const output = neighbours([...new Map(both).values()], 0)
  requireFreeNames(nested, output)
  const expand = [
    ...withTarget('$expand', () => expandedRows(rows, scope, options)),
    ...nested.map((one) => nestedExpansion(one, scope)),
  ]
  return {
    set: rows.set,
    relation: rows.relation,
    row: scope.row,
    output,
    expand,
    filter: boundFilter(scope, options, searchedRow(rows)),
    order: totalOrder(rows, askedOrder(scope, options)),
    ...boundWindow(options),
    contextFragment: withExpanded(resultFragment(rows, options, shown), [
      ...joined.map(({ path, options: { select } }, i) => {
        const chosen = select === undefined ? '' : listed(beside[i]!, 1)
        return `${path[0]}(${chosen})`
      }),
      ...expandedNames(expand),
    ]),
  }
}

/** `$expand` of entities that join has put beside the rows, which are there already, and of all others. */
function splitExpand(rows: ApplyRows, options: OptionSyntax) {
  const { joined: sets, nested = [] } = rows
  const { expand, ...others } = options
  if (expand === undefined) return { joined: [], nested, options }
  const isJoined = ({ path }: ExpandItem) => sets?.has(path[0]!) === true
  const nestedOf = ({ path }: ExpandItem) => nested.find(({ name }) => name === path[0])
  const joined = expand.filter(isJoined)
  const shown = expand.flatMap((item) => {
    const found = nestedOf(item)
    const isPlain = item.form === 'entities' && item.levels === 1 && item.path.length === 1
    if (found !== undefined && (!isPlain || Object.keys(item.options).length > 0))
      throw unsupported(`an option in $expand of ${found.name}, which addnested or nest makes,`)
    return found ?? []
  })
  for (const { path, form, levels, options: inner } of joined) {
    const more = Object.keys(inner).filter((option) => option !== 'select')
    if (path.length > 1 || form !== 'entities' || levels > 1 || more.length > 0)
      throw unsupported(`anything but $select in $expand of ${path[0]}, which join adds,`)
  }
  const rest = expand.filter((item) => !isJoined(item) && nestedOf(item) === undefined)
  return {
    joined,
    nested: shown,
    options: rest.length === 0 ? others : { ...others, expand: rest },
  }
}

function requireFreeNames(nested: readonly NestedRows[], output: readonly Output[]): void {
  const clash = nested.find(({ name }) => output.some(({ path }) => path[0] === name))
  if (clash !== undefined) throw invalidOption(`the name "${clash.name}" is taken`, '$apply')
}

/** A collection that nest or addnested has made, below the row of the scope. */
function nestedExpansion({ name, ours, link, rows }: NestedRows, scope: Scope): Expansion {
  const { request } = scope
  const query = queryOfRows(rows, newRow(scope, rows.set), request)
  return {
    name,
    many: true,
    countOnly: false,
    context: query.contextFragment,
    link: { ours: propertyOf(scope.row, ours), theirs: link },
    outer: [],
    query,
  }
}

/** All that there is of the rows. */
function queryOfRows(rows: ApplyRows, row: RowVariable, context: RequestContext): BoundQuery {
  const scope = scopeOfRows(rows, context, row)
  const hidden = rows.joined
  const own = valueOutputs(rows, row).filter(({ path }) => hidden?.has(path[0]!) !== true)
  const output = neighbours(own, 0)
  const expand = [
    ...expandedRows(rows, scope, {}),
    ...(rows.nested ?? []).map((one) => nestedExpansion(one, scope)),
  ]
  return {
    set: rows.set,
    relation: rows.relation,
    row,
    output,
    expand,
    filter: null,
    order: totalOrder(rows, [], row),
    ...boundWindow({}),
    contextFragment: withExpanded(resultFragment(rows, {}, output), expandedNames(expand)),
  }
}

/** The values of the entity beside a row. */
function joinedOutput(rows: ApplyRows, { path: [name], options }: ExpandItem): readonly Output[] {
  const own = valueOutputs(rows).filter(({ path }) => path[0] === name)
  const { select } = options
  if (select === undefined) return own
  return select.flatMap((item) => {
    const found = chosenBy(
      { ...item, path: item.path[0] === '*' ? [name!] : [name!, ...item.path] },
      own,
    )
    if (found.length === 0) findProperty(rows.joined!.get(name!)!.type, item.path[0] ?? '', item.at)
    return found
  })
}

/** Only entities have navigation properties, and rows that are grouped by entities: these are expanded by default. */
function expandedRows(rows: ApplyRows, scope: Scope, { expand }: OptionSyntax) {
  const entities = rows.values.flatMap(({ entity }) => (entity === undefined ? [] : [entity.name]))
  const isObject = ({ path, entity }: ApplyRows['values'][number]) =>
    entity === undefined && path.length > 1 && entities.includes(path[0]!)
  if (rows.values.some(isObject))
    throw unsupported('an entity combined with its own properties in groupby')
  if (rows.added === null && entities.length === 0 && expand !== undefined)
    throw optionNotAllowed('the result of $apply has no entities')
  const asked = expand ?? entities.map((name) => ({ ...EXPANDED, path: [name] }))
  return bindExpand(asked, scope)
}

const EXPANDED: ExpandItem = {
  path: [],
  form: 'entities',
  options: {},
  aliases: new Map(),
  levels: 1,
  at: 0,
}

const expandedNames = (expand: readonly Expansion[]): readonly string[] =>
  expand
    .filter(({ countOnly }) => !countOnly)
    .map(({ name, context, query }) => {
      if (context !== undefined) return `${name}()`
      const inner = query.contextFragment.slice(query.set.name.length)
      return `${name}${inner === '' ? '()' : inner}`
    })

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
const valueOutputs = (rows: ApplyRows, row = rowVariable(rows)): readonly Output[] =>
  rows.values
    .filter((value) => value.entity === undefined && !isLink(value))
    .map(({ path, property, mark, isNullObject }) => ({
      name: property.column.name,
      path,
      type: property.type,
      value: propertyOf(row, property),
      mark: mark && propertyOf(row, mark),
      isNullObject,
    }))

/** Without $select all values, and all that $compute names; values of one object stand side by side. */
function resultOutput(rows: ApplyRows, scope: Scope, { select, compute = [] }: OptionSyntax) {
  const all: Output[] = [...valueOutputs(rows), ...computedOutput(scope, { compute })]
  const own = all.filter(({ path }) => rows.joined?.has(path[0]!) !== true)
  if (select === undefined) return neighbours(own, 0)
  const chosen = select.flatMap((item) => {
    const found = chosenBy(item, item.path.length > 1 ? all : own)
    const [name = ''] = item.path
    const isLink = rows.joined?.has(name) === true && item.path.length === 1
    if (found.length === 0 && !isLink && findNavigation(rows.set.type, name) === undefined)
      findProperty(rows.set.type, name, item.at)
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
  outputs: readonly Output[],
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

function listed(outputs: readonly Output[], depth: number): string {
  const byName = byNameAt(outputs, depth)
  const items = Array.from(byName, ([name, inner]) => {
    const isValue = inner[0]!.path.length === depth + 1
    return isValue ? name : `${name}(${listed(inner, depth + 1)})`
  })
  return items.join(',')
}

function byNameAt(outputs: readonly Output[], depth: number): ReadonlyMap<string, Output[]> {
  const byName = new Map<string, Output[]>()
  for (const output of outputs) {
    const name = output.path[depth]!
    byName.set(name, [...(byName.get(name) ?? []), output])
  }
  return byName
}
