// $apply: a sequence of transformations, each bound to the result of the one before it (Data Aggregation 4.0,
// section 3).
//
// Inside groupby a sequence works on each group alone. Nothing is split for that: the rows keep the columns that they
// are grouped by, and every transformation takes these `groups` into account.

import { bindAggregate } from './aggregate.ts'
import { bindRelatives, bindTraverse } from './hierarchy.ts'
import { bindRecursive } from './recursive.ts'
import { ofEachParent } from './parents.ts'
import { bindAddNested, bindNest } from './nest.ts'
import { bindJoin, ofJoined } from './join.ts'
import { bindExpression, bindOrder } from '../expression/expression.ts'
import { bindSearch } from '../expression/search.ts'
import { type Constant, type Expression, typeOf, NULL } from '../bound.ts'
import {
  applyContext,
  type ApplyRows,
  around,
  entityRows,
  type Input,
  isSortable,
  partitionOf,
  pathKey,
  propertyValue,
  rowVariable,
  scopeOfInput,
  scopeOfRows,
  searchedRow,
  totalOrder,
  withValues,
  type ApplyContext,
  newProperty,
  rowsOfValues,
  type ValueColumn,
  withinSize,
  withRowCount,
} from './rows.ts'
import { typeMismatch, unsupported } from '../../protocol/errors.ts'
import { withinLimits } from '../size.ts'
import { isInteger, isNumberType, commonNumericType } from '../../edm/numbers.ts'
import { newName, type RequestContext, type Scope } from '../scope.ts'
import type {
  AggregateItem,
  ComputeItem,
  HierarchySyntax,
  PathSyntax,
  TransformationSyntax,
} from '../../syntax/syntax.ts'
import { asCondition, booleanConstant, wholeNumber } from '../expression/constants.ts'
import type { EntitySet, NavigationProperty, Property } from '../../edm/model.ts'
import { bindPath, pathTarget } from '../expression/path.ts'
import { edm, type EdmType } from '../../edm/types.ts'

/** `within` is the condition for the rows of the set that the sequence begins with. Throws RequestError 400 or 501. */
export function bindApply(
  sequence: readonly TransformationSyntax[],
  set: EntitySet,
  within: Expression | null,
  context: RequestContext,
): ApplyRows {
  const all = entityRows(set)
  const rows = within === null ? all : filtered(all, within)
  return bindSequence(sequence, { rows, groups: [], context: applyContext(context, [set]) })
}

export const bindSequence = (sequence: readonly TransformationSyntax[], input: Input): ApplyRows =>
  sequence.reduce((rows, syntax) => transform(syntax, { ...input, rows }), input.rows)

function transform(syntax: TransformationSyntax, input: Input): ApplyRows {
  const { rows, context } = input
  switch (syntax.kind) {
    case 'identity':
      return rows
    case 'filter': {
      const { scope, made } = scopeOfInput(input)
      const condition = bindExpression(syntax.condition, scope)
      return made(filtered(rows, withinLimits(asCondition(condition, 'filter'), context)))
    }
    case 'search':
      return filtered(rows, withinLimits(bindSearch(syntax.search, searchedRow(rows)), context))
    case 'compute':
      return syntax.items.reduce((made, item) => computed(item, { ...input, rows: made }), rows)
    case 'orderby': {
      const { scope, made } = scopeOfInput(input)
      return made(withValues(input, [], bindOrder(syntax.items, scope).filter(isSortable)))
    }
    case 'top':
      return cut(input, 0, syntax.rows)
    case 'skip':
      return cut(input, syntax.rows, null)
    case 'ranked':
      return ranked(syntax, input)
    case 'aggregate':
      return ofEachParent(input, (given) =>
        syntax.items.some(({ from }) => from.length > 0)
          ? bindFrom(syntax.items, given)
          : bindAggregate(syntax.items, given),
      )
    case 'groupby':
      return bindGroupBy(syntax, input)
    case 'ancestors':
    case 'descendants':
      return bindRelatives(syntax, input, bindSequence)
    case 'traverse':
      return bindTraverse(syntax, input, bindSequence)
    case 'nest':
      return bindNest(syntax, input, bindSequence)
    case 'addnested':
      return bindAddNested(syntax, input, bindSequence)
    case 'join':
      return bindJoin(syntax, input, bindSequence)
    case 'concat':
      return bindConcat(
        syntax.branches.map((branch) => bindSequence(branch, input)),
        context,
      )
  }
}

function filtered(rows: ApplyRows, condition: Expression): ApplyRows {
  const { relation: from } = rows
  return around(rows, { kind: 'filter', from, row: rowVariable(rows), condition })
}

/** Later names may use earlier ones. */
function computed(item: ComputeItem, input: Input): ApplyRows {
  const { scope, made: madeOf } = scopeOfInput(input)
  const name = newName(item, scope)
  const value = withinLimits(bindExpression(item.value, scope), input.context)
  const type = typeOf(value)
  if (type === null) throw typeMismatch(`"${name}" is always null`)
  const made = madeOf(withValues(input, [{ path: [name], value, type }], []))
  return { ...made, added: made.added === null ? null : [...made.added, name] }
}

function cut({ rows, groups }: Input, skip: number, top: number | null): ApplyRows {
  const { relation: from } = rows
  const partition = partitionOf(rows, groups)
  const order = totalOrder(rows)
  return around(rows, { kind: 'window', from, row: rowVariable(rows), partition, order, skip, top })
}

type Ranked = TransformationSyntax & { readonly kind: 'ranked' }

/** Section 3.3.1. The service may choose the order of the result: it is the one in which the rows were chosen. */
function ranked(syntax: Ranked, input: Input): ApplyRows {
  const { isTop, until } = syntax
  const { rows, groups, context } = input
  const method = `${isTop ? 'top' : 'bottom'}${until}`
  const { scope, made } = scopeOfInput(input)
  const value = withinLimits(bindExpression(syntax.value, scope), context)
  const limit = rankLimit(until, method, bindExpression(syntax.limit, scope))
  const type = typeOf(value)
  if (type === null || (until !== 'count' && !isNumberType(type)))
    throw typeMismatch(`${method} does not take ${type?.name ?? 'null'}`)
  const order = [{ value, descending: isTop }]
  const sorted = made(withValues({ ...input, rows: { ...rows, order: [] } }, [], order))
  if (until === 'count') return cut({ ...input, rows: sorted }, 0, Number(limit.value))
  const [first] = sorted.order
  return around(sorted, {
    kind: 'running',
    from: sorted.relation,
    row: rowVariable(sorted),
    partition: partitionOf(sorted, groups),
    order: totalOrder(sorted),
    value: first === undefined ? value : propertyValue(sorted, first.property),
    limit,
    isPercent: until === 'percent',
  })
}

function rankLimit(until: Ranked['until'], method: string, limit: Expression): Constant {
  if (limit.kind === 'constant' && isNumberType(limit.type)) {
    const number = Number(limit.value)
    const isAllowed = {
      count: isInteger(limit.type) && number >= 1 && Number.isSafeInteger(number),
      sum: Number.isFinite(number),
      percent: number > 0 && number <= 100,
    }
    if (isAllowed[until]) return limit
  }
  const wanted = { count: 'a whole number above 0', sum: 'a number', percent: 'a number up to 100' }
  throw typeMismatch(`the first argument of ${method} must be ${wanted[until]}`)
}

type GroupBy = TransformationSyntax & { readonly kind: 'groupby' }

/** groupby, rollup and rolluprecursive (sections 3.2.3 and 6.3). */
function bindGroupBy({ groups: items, sequence }: GroupBy, input: Input): ApplyRows {
  const { rows, context } = input
  const scope = scopeOfRows(rows, context)
  const keyed = items.map((item) => ({
    ...item,
    paths: item.paths.map((path) => groupPath(path, scope)),
  }))
  const recursive = keyed.flatMap(({ nodes }) => nodes ?? [])
  const ofGroups = (paths: readonly GroupPath[], given: Input) => {
    const ready =
      paths.length === 0
        ? given
        : {
            rows: withKeys(given, paths),
            groups: groupsWith(given, paths),
            context: given.context,
          }
    return sequence.length === 0
      ? (ready.parents ?? bindAggregate([], ready))
      : bindSequence(sequence, ready)
  }
  const ofNodes = (
    [first, ...others]: readonly HierarchySyntax[],
    paths: readonly GroupPath[],
    given: Input,
  ): ApplyRows =>
    first === undefined
      ? ofGroups(paths, given)
      : bindRecursive(first, given, bindSequence, (within) => ofNodes(others, paths, within))
  const [first, ...more] = groupings(keyed).map((paths) => ofNodes(recursive, paths, input)) as [
    ApplyRows,
    ...ApplyRows[],
  ]
  return more.length === 0 ? first : bindConcat([first, ...more], context)
}

/**
 * `amount with sum from month with average`: the sums of each month first, then the average of these (section 3.2.1.5).
 * The rows are grouped by everything at first, and by one `from` less at each step.
 */
function bindFrom(items: readonly AggregateItem[], input: Input): ApplyRows {
  const [item, ...others] = items as readonly [AggregateItem, ...AggregateItem[]]
  if (others.length > 0) throw unsupported('"from" combined with other items of aggregate')
  const { name, at } = item
  const { context } = input
  const scope = scopeOfRows(input.rows, context)
  const from = item.from.map(({ paths, method }) => ({
    paths: paths.map((path) => groupPath(path, scope)),
    method,
  }))
  const pathsAfter = (done: number) => from.slice(done).flatMap(({ paths }) => paths)
  const step = (own: AggregateItem, rows: ApplyRows, done: number) =>
    bindAggregate([own], { rows, groups: groupsWith(input, pathsAfter(done)), context })
  const first = step({ ...item, from: [] }, withKeys(input, pathsAfter(0)), 0)
  return from.reduce((made, { method }, i) => {
    const value = { kind: 'path', names: [name], keys: new Map(), at } as const
    return step({ value, method, from: [], name, at }, made, i + 1)
  }, first)
}

/** What rows are grouped by: a value, or the key of an entity that the rows lead to. */
type GroupPath = PathSyntax & { readonly entity?: NavigationProperty }

const groupsWith = ({ groups }: Input, paths: readonly GroupPath[]): readonly string[] => [
  ...new Set([...groups, ...paths.map(({ names }) => pathKey(names))]),
]

function groupPath(path: PathSyntax, scope: Scope): GroupPath {
  if (path.names[0] === '$it') throw unsupported('$it in groupby')
  if (path.names.some((name) => name.includes('.'))) throw unsupported('a type cast in groupby')
  if (scope.computed.has(path.names.join('/'))) return path
  const target = pathTarget(path, path.at, scope)
  if (target.kind === 'row') throw unsupported('an entity that join adds in groupby')
  if (target.kind !== 'one') return path
  const { navigation } = target
  if (navigation === null || path.names.length > 1)
    throw unsupported('an entity reached through another in groupby')
  return { ...path, names: [...path.names, navigation.on.theirs.name], entity: navigation }
}

interface GroupPaths {
  readonly paths: readonly GroupPath[]
  readonly withTotal: boolean
}

/** Each rollup stands for its levels from the finest to the coarsest; several for all combinations. */
function groupings(items: readonly GroupPaths[]): readonly (readonly GroupPath[])[] {
  let made: readonly (readonly GroupPath[])[] = [[]]
  for (const { paths, withTotal } of items) {
    const isRollup = paths.length > 1 || withTotal
    const count = isRollup ? paths.length + (withTotal ? 1 : 0) : 1
    const levels = Array.from({ length: count }, (_, i) => paths.slice(0, paths.length - i))
    const combined = made.flatMap((start) => levels.map((level) => [...start, ...level]))
    made = combined.map((all) => [
      ...new Map(all.map((path) => [pathKey(path.names), path])).values(),
    ])
  }
  return made
}

/** Properties reached through navigation become values of the rows. */
function withKeys(input: Input, paths: readonly GroupPath[]): ApplyRows {
  const { rows, context } = input
  const scope = scopeOfRows(rows, context)
  const known = rows.values.map(({ path }) => pathKey(path))
  const added = paths.flatMap((path) => {
    const value = withinLimits(bindPath(path, scope), context)
    const type = typeOf(value)!
    if (type.kind !== 'primitive') throw typeMismatch(`rows cannot be grouped by ${type.name}`)
    if (known.includes(pathKey(path.names))) return []
    return [{ path: path.names, value, type, entity: path.entity, ...ofJoined(rows, path.names) }]
  })
  return added.length === 0 ? rows : withValues(input, added, [])
}

// concat: the rows of several sequences, one after the other (Data Aggregation 4.0, section 3.2.2).

/**
 * The parts follow each other, each in its own order. Where one lacks a value, it is null in its rows, and marked as
 * absent.
 */
function bindConcat(parts: readonly ApplyRows[], context: ApplyContext): ApplyRows {
  if (parts.some(({ nested }) => nested !== undefined))
    throw unsupported('a collection that nest or addnested makes, within concat or rollup,')
  const types = new Map<string, Omit<ValueColumn, 'property'> & { readonly type: EdmType }>()
  for (const { path, property, entity } of parts.flatMap(({ values }) => values)) {
    const known = types.get(pathKey(path))
    const type = known === undefined ? property.type : commonType(known.type, property.type, path)
    types.set(pathKey(path), { path, type, entity: known?.entity ?? entity })
  }
  requireObjects([...types.values()])
  for (const { entity } of types.values())
    if (entity !== undefined && parts.some((part) => hasOwn(part, entity)))
      throw unsupported(`grouping by ${entity.name} in only one part of concat`)
  const values = Array.from(types.values(), ({ path, type, entity }): ValueColumn => {
    const value = { path, property: newProperty(path.at(-1)!, type, context), entity }
    const own = parts.map((part) => ownValue(part, path))
    const isEverywhere = own.every((each) => each !== undefined && each.mark === undefined)
    return isEverywhere ? value : { ...value, mark: newProperty('mark', edm.Boolean, context) }
  })
  const order = [newProperty('part', edm.Int64, context), newProperty('place', edm.Int64, context)]
  const relation = {
    kind: 'union',
    parts: parts.map((part, i) => {
      const { columns, ...step } = projected(part, values)
      const places = [wholeNumber(i), part.order.length === 0 ? wholeNumber(0) : placeOf(part)]
      const sorted = order.map(({ column }, j) => ({ column: column.name, value: places[j]! }))
      return { ...step, columns: [...columns, ...sorted] }
    }),
  } as const
  const [first] = parts as readonly [ApplyRows, ...ApplyRows[]]
  const made = rowsOfValues(first, relation, values)
  const size = parts.reduce((sum, part) => sum + part.size + 1, 1)
  const count = parts.reduce((sum, { set }) => sum + set.relation.rows, 0)
  return withRowCount(withinSize({ ...made, size, order: order.map(ascending) }), count)
}

/** The rows lead to entities by this property without being grouped by them. */
const hasOwn = ({ set, values }: ApplyRows, { name }: NavigationProperty) =>
  set.type.navigation.some((navigation) => navigation.name === name) &&
  !values.some(({ entity }) => entity?.name === name)

const ascending = (property: Property) => ({ property, descending: false })

/** The number of a row in the order of its part. */
const placeOf = (part: ApplyRows): Expression => ({
  kind: 'rowNumber',
  type: edm.Int64,
  order: totalOrder(part),
})

const ownValue = ({ values }: ApplyRows, path: readonly string[]) =>
  values.find((value) => pathKey(value.path) === pathKey(path))

function projected(part: ApplyRows, values: readonly ValueColumn[]) {
  const columns = values.flatMap(({ path, property, mark }) => {
    const own = ownValue(part, path)
    const operand = own === undefined ? NULL : propertyValue(part, own.property)
    const isCast = own?.property.type.engine !== property.type.engine
    const column = {
      column: property.column.name,
      value: isCast ? ({ kind: 'cast', type: property.type, operand } as const) : operand,
    }
    if (mark === undefined) return [column]
    const isThere =
      own?.mark === undefined ? booleanConstant(own !== undefined) : propertyValue(part, own.mark)
    return [column, { column: mark.column.name, value: isThere }]
  })
  return { kind: 'project', from: part.relation, row: rowVariable(part), columns } as const
}

function commonType(a: EdmType, b: EdmType, path: readonly string[]): EdmType {
  if (isNumberType(a) && isNumberType(b)) return commonNumericType(a, b)
  if (a.name === b.name) return a
  throw typeMismatch(`${pathKey(path)} is ${a.name} in one part, ${b.name} in another`)
}

/** A name is a value or an object with values. */
function requireObjects(values: readonly { readonly path: readonly string[] }[]): void {
  const single = new Set(values.filter(({ path }) => path.length === 1).map(({ path }) => path[0]))
  const clash = values.find(({ path }) => path.length > 1 && single.has(path[0]))
  if (clash !== undefined)
    throw typeMismatch(`${clash.path[0]} is a value in one part, an object in another`)
}
