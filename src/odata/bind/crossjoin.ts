// $crossjoin(A,B): every pair of rows, as an object with the row of A and the row of B in it (URL conventions 4.15).
//
// The pairs are rows as $apply makes them, whose values stand at paths `A/name`: so all that may be said of such rows
// may be said of pairs, $apply too.

import {
  applyContext,
  type ApplyContext,
  type ApplyRows,
  newProperty,
  pathKey,
  propertyValue,
  searchedRow,
  totalOrder,
  type ValueColumn,
} from './apply/rows.ts'
import { scopeOfRows } from './apply/row-scope.ts'
import { bindSequence } from './apply/apply.ts'
import { askedOrder, boundFilter, openScope } from './query.ts'
import { computedOutput, resultQuery } from './apply/result.ts'
import type { BoundRequest, OutputProperty } from './bound-request.ts'
import { propertyOf } from './bound.ts'
import { entityIdOutput } from './control-information.ts'
import { unsupported, unknownProperty, unknownResource, invalidOption } from '../protocol/errors.ts'
import { withTarget } from '../syntax/parse-option.ts'
import { findSet, newRow, type RequestContext, scopeOfRow } from './scope.ts'
import type { ExpandItem, OptionSyntax, PathSegment } from '../syntax/syntax.ts'
import { boundWindow } from './expression/expression.ts'
import { narrowed } from './value.ts'
import type { EntitySet } from '../edm/model.ts'

/** `argument` is what stands in the parentheses, `rest` the segments after it. Throws RequestError 400, 404 or 501. */
export function bindCrossjoin(
  argument: string,
  rest: readonly PathSegment[],
  options: OptionSyntax,
  context: RequestContext,
): BoundRequest {
  const names = argument.split(',').map((name) => name.trim())
  if (new Set(names).size < names.length)
    throw unknownResource('$crossjoin takes each entity set once')
  const sets = names.map((name) => findSet(context.sets, name))
  const [end, ...more] = rest
  const isCount = end?.name === '$count' && end.argument === null && more.length === 0
  if (end !== undefined && !isCount) throw unsupported(`/${end.name} below $crossjoin`)
  const applied: ApplyContext = applyContext(context, sets)
  const pairs = crossRows(sets, applied)
  const kind = isCount ? 'count' : 'collection'
  const { apply } = options
  if (apply !== undefined) {
    const rows = withTarget('$apply', () =>
      bindSequence(apply, { rows: pairs, groups: [], context: applied }),
    )
    const scope = openScope(options, scopeOfRows(rows, context))
    return { kind, parent: null, query: resultQuery(rows, scope, options) }
  }
  const scope = openScope(options, scopeOfRows(pairs, context))
  const selected = withTarget('$select', () => selectedNames(sets, options))
  const expanded = withTarget('$expand', () => outputOf(pairs, sets, selected, options.expand))
  const query = {
    set: pairs.set,
    relation: pairs.relation,
    row: scope.row,
    output: [
      ...expanded,
      ...computedOutput(scope, options).filter(({ path: [name] }) => selected(name!)),
    ],
    expand: [],
    filter: boundFilter(scope, options, searchedRow(pairs)),
    order: totalOrder(pairs, askedOrder(scope, options)),
    ...boundWindow(options),
    contextFragment: CONTEXT,
  }
  return { kind, parent: null, query }
}

/** What pairs are in context URLs. */
const CONTEXT = 'Collection(Edm.ComplexType)'

function crossRows(sets: readonly EntitySet[], context: ApplyContext): ApplyRows {
  const [first] = sets as [EntitySet]
  const scope = scopeOfRow(context, { alias: 'it', set: first })
  const parts = sets.map((set) => newRow(scope, set))
  const made = parts.flatMap((row) =>
    row.set.type.properties.map((own) => {
      const property = newProperty(own.name, own.type, context)
      return { value: propertyOf(row, own), column: { path: [row.set.name, own.name], property } }
    }),
  )
  const values: readonly ValueColumn[] = made.map(({ column }) => column)
  const columns = made.map(({ value, column }) => ({ column: column.property.column.name, value }))
  const hasKeys = sets.every(({ type }) => type.key.length > 0)
  const keys = sets.flatMap(({ name, type }) => type.key.map((part) => pathKey([name, part.name])))
  const rows = sets.reduce((product, { relation }) => product * relation.rows, 1)
  const relation = { ...first.relation, rows: Math.min(rows, Number.MAX_SAFE_INTEGER) }
  const type = {
    ...first.type,
    name: '$crossjoin',
    key: [],
    properties: [],
    navigation: [],
    measures: [],
    hierarchies: [],
    levels: [],
  }
  return {
    relation: { kind: 'cross', parts, columns },
    set: { ...first, name: CONTEXT as EntitySet['name'], relation, type },
    values,
    unique: hasKeys ? keys : null,
    order: [],
    added: null,
    size: 1,
  }
}

/**
 * Whether a name is chosen by `$select`. A pair has one navigation property for each set, and what `$compute` adds; their
 * own properties are selected within `$expand`.
 */
function selectedNames(
  sets: readonly EntitySet[],
  { select, compute = [] }: OptionSyntax,
): (name: string) => boolean {
  const computed = compute.map(({ name }) => name)
  const known = [...sets.map(({ name }) => name as string), ...computed, '*']
  for (const { path, options, at } of select ?? []) {
    const [name = '', ...more] = path
    if (!known.includes(name))
      throw unknownProperty(
        `pairs have no property "${name}" (at character ${at + 1}): there are ${known.join(', ')}`,
      )
    if (more.length > 0 || options !== undefined)
      throw invalidOption(
        `write $expand=${name}($select=…) for properties of ${name} (at character ${at + 1})`,
      )
  }
  const isNamed = (name: string) => select?.some(({ path }) => path[0] === name) ?? true
  return (name) => isNamed(name) || (isNamed('*') && computed.includes(name))
}

/** The row for a set that is expanded, the id of the row for any other set. */
function outputOf(
  pairs: ApplyRows,
  sets: readonly EntitySet[],
  isSelected: (name: string) => boolean,
  expand: readonly ExpandItem[] = [],
): readonly OutputProperty[] {
  for (const { path, form, options, levels, at } of expand) {
    const isSet = path.length === 1 && sets.some(({ name }) => name === path[0])
    if (!isSet)
      throw unknownProperty(`${path.join('/')} is not one of the sets (at character ${at + 1})`)
    const others = Object.keys(options).filter((option) => option !== 'select')
    if (form !== 'entities' || levels > 1 || others.length > 0)
      throw unsupported('anything but $select within $expand of $crossjoin')
  }
  return sets.flatMap((set): readonly OutputProperty[] => {
    const own = pairs.values.filter(({ path }) => path[0] === set.name)
    const item = expand.find(({ path }) => path[0] === set.name)
    const hasLink = set.type.key.length > 0 && isSelected(set.name)
    if (item === undefined) return hasLink ? [linkOutput(pairs, set, own)] : []
    const { select } = item.options
    for (const { path, at } of select ?? [])
      if (path[0] !== '*' && !own.some((value) => value.path[1] === path[0]))
        throw unknownProperty(`${set.name} has no property "${path[0]}" (at character ${at + 1})`)
    return own.flatMap(({ path, property }) => {
      const asked = (select ?? [{ path: ['*'], at: 0 }]).filter(
        ({ path: [name] }) => name === '*' || name === path[1],
      )
      if (asked.length === 0) return []
      const parts = asked.map(({ path: [name, ...parts_], at }) => ({
        path: name === '*' ? [] : parts_,
        at,
      }))
      return {
        name: property.column.name,
        path,
        type: narrowed(property.type, parts),
        value: propertyValue(pairs, property),
      }
    })
  })
}

function linkOutput(pairs: ApplyRows, set: EntitySet, own: readonly ValueColumn[]): OutputProperty {
  const key = set.type.key.map((part) => own.find(({ path }) => path[1] === part.name)!.property)
  const row = { alias: 'it', set: { ...set, type: { ...set.type, key } } }
  return { ...entityIdOutput(row), name: `${set.name}@odata.navigationLink` }
}
