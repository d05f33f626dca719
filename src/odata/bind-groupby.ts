// groupby, rollup and concat (Data Aggregation 4.0, sections 3.2.2 and 3.2.3).

import { sql } from '../core/sql.ts'
import {
  type ApplyContext,
  type ApplyRows,
  newProperty,
  pathKey,
  propertyValue,
  rowsOfValues,
  rowVariable,
  scopeOfRows,
  totalOrder,
  type ValueColumn,
  withinSize,
  withRowCount,
  withValues,
} from './apply-rows.ts'
import { bindAggregate } from './bind-aggregate.ts'
import { bindSequence } from './bind-apply.ts'
import { booleanConstant } from './bind-comparison.ts'
import { bindPath, findTarget } from './bind-path.ts'
import { type Expression, typeOf } from './bound.ts'
import type { NavigationProperty, Property } from './entity-model.ts'
import { odataError } from './errors.ts'
import { withinLimits } from './expression-size.ts'
import { commonNumericType, isNumber } from './numbers.ts'
import { orderSql } from './relation-sql.ts'
import { type Scope, unsupported } from './scope.ts'
import type { AggregateItem, PathSyntax, TransformationSyntax } from './syntax.ts'
import { edm, type EdmType } from './type-map.ts'

type GroupBySyntax = TransformationSyntax & { readonly kind: 'groupby' }

export function bindGroupBy(
  { groups: items, sequence }: GroupBySyntax,
  rows: ApplyRows,
  groups: readonly string[],
  context: ApplyContext,
): ApplyRows {
  const scope = scopeOfRows(rows, context)
  const keyed = items.map((item) => ({
    ...item,
    paths: item.paths.map((path) => groupPath(path, scope)),
  }))
  const [first, ...more] = groupings(keyed).map((paths) => {
    const ready = withKeys(rows, paths, context)
    const all = [...new Set([...groups, ...paths.map(({ names }) => pathKey(names))])]
    return sequence.length === 0
      ? bindAggregate([], ready, all, context)
      : bindSequence(sequence, ready, all, context)
  }) as [ApplyRows, ...ApplyRows[]]
  return more.length === 0 ? first : bindConcat([first, ...more], context)
}

/**
 * `amount with sum from month with average`: the sums of each month first, then the average of these (section 3.2.1.5).
 * The rows are grouped by everything at first, and by one `from` less at each step.
 */
export function bindFrom(
  items: readonly AggregateItem[],
  rows: ApplyRows,
  groups: readonly string[],
  context: ApplyContext,
): ApplyRows {
  const [item, ...others] = items as readonly [AggregateItem, ...AggregateItem[]]
  if (others.length > 0) throw unsupported('"from" beside other items of aggregate')
  const { name, at } = item
  const scope = scopeOfRows(rows, context)
  const from = item.from.map(({ paths, method }) => ({
    paths: paths.map((path) => groupPath(path, scope)),
    method,
  }))
  const keyed = withKeys(
    rows,
    from.flatMap(({ paths }) => paths),
    context,
  )
  const groupsAfter = (done: number) => [
    ...new Set([
      ...groups,
      ...from.slice(done).flatMap(({ paths }) => paths.map(({ names }) => pathKey(names))),
    ]),
  ]
  const first = bindAggregate([{ ...item, from: [] }], keyed, groupsAfter(0), context)
  return from.reduce((made, { method }, i) => {
    const value = { kind: 'path', names: [name], keys: new Map(), at } as const
    return bindAggregate([{ value, method, from: [], name, at }], made, groupsAfter(i + 1), context)
  }, first)
}

/** What rows are grouped by: a value, or the key of an entity that the rows lead to. */
type GroupPath = PathSyntax & { readonly entity?: NavigationProperty }

interface GroupPaths {
  readonly paths: readonly GroupPath[]
  readonly withTotal: boolean
}

function groupPath(path: PathSyntax, scope: Scope): GroupPath {
  if (path.names[0] === '$it') throw unsupported('$it in groupby')
  if (path.names.some((name) => name.includes('.'))) throw unsupported('a type cast in groupby')
  if (scope.computed.has(path.names.join('/'))) return path
  const target = findTarget(path, path.at, scope)
  if (target.kind !== 'one') return path
  const { navigation } = target
  if (navigation === null || path.names.length > 1)
    throw unsupported('an entity behind another in groupby')
  return { ...path, names: [...path.names, navigation.on.theirs.name], entity: navigation }
}

/** Each rollup stands for its levels from the finest to the coarsest; several for all combinations. */
function groupings(items: readonly GroupPaths[]): readonly (readonly GroupPath[])[] {
  return items.reduce<readonly (readonly GroupPath[])[]>(
    (before, { paths, withTotal }) => {
      const isRollup = paths.length > 1 || withTotal
      const levels = isRollup
        ? Array.from({ length: paths.length + (withTotal ? 1 : 0) }, (_, i) =>
            paths.slice(0, paths.length - i),
          )
        : [paths]
      const combined = before.flatMap((start) => levels.map((level) => [...start, ...level]))
      return combined.map(withoutRepeats)
    },
    [[]],
  )
}

function withoutRepeats(paths: readonly GroupPath[]): readonly GroupPath[] {
  return [...new Map(paths.map((path) => [pathKey(path.names), path])).values()]
}

/** Properties behind navigation become values of the rows. */
function withKeys(rows: ApplyRows, paths: readonly GroupPath[], context: ApplyContext): ApplyRows {
  const scope = scopeOfRows(rows, context)
  const known = rows.values.map(({ path }) => pathKey(path))
  const added = paths.flatMap((path) => {
    const value = withinLimits(bindPath(path, scope))
    const type = typeOf(value)!
    if (type.kind !== 'primitive')
      throw odataError('type-mismatch', `rows cannot be grouped by ${type.name}`)
    if (known.includes(pathKey(path.names))) return []
    return [{ path: path.names, value, type, entity: path.entity }]
  })
  return added.length === 0 ? rows : withValues(rows, added, [], context)
}

/**
 * The parts follow each other, each in its own order. Where one lacks a value, it is null in its rows, and marked as one
 * that is not there.
 */
export function bindConcat(parts: readonly ApplyRows[], context: ApplyContext): ApplyRows {
  const types = new Map<string, Omit<ValueColumn, 'property'> & { readonly type: EdmType }>()
  for (const { path, property, entity } of parts.flatMap(({ values }) => values)) {
    const known = types.get(pathKey(path))
    const type = known === undefined ? property.type : commonType(known.type, property.type, path)
    types.set(pathKey(path), { path, type, entity: known?.entity ?? entity })
  }
  requireObjects([...types.values()])
  for (const { entity } of types.values())
    if (entity !== undefined && parts.some((part) => hasOwn(part, entity)))
      throw unsupported(`${entity.name} grouped by in one part of concat alone`)
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

const wholeNumber = (value: number): Expression => ({
  kind: 'constant',
  type: edm.Int64,
  value: String(value),
})

/** The number of a row in the order of its part. */
const placeOf = (part: ApplyRows): Expression => ({
  kind: 'call',
  name: 'place',
  type: edm.Int64,
  operands: [],
  sql: () => sql`row_number() OVER (${orderSql(totalOrder(part))})`,
  copies: [],
})

const ownValue = ({ values }: ApplyRows, path: readonly string[]) =>
  values.find((value) => pathKey(value.path) === pathKey(path))

function projected(part: ApplyRows, values: readonly ValueColumn[]) {
  const columns = values.flatMap(({ path, property, mark }) => {
    const own = ownValue(part, path)
    const operand =
      own === undefined ? ({ kind: 'null' } as const) : propertyValue(part, own.property)
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
  if (isNumber(a) && isNumber(b)) return commonNumericType(a, b)
  if (a.name === b.name) return a
  throw odataError(
    'type-mismatch',
    `${pathKey(path)} is ${a.name} in one part, ${b.name} in another`,
  )
}

/** A name is a value or an object with values. */
function requireObjects(values: readonly { readonly path: readonly string[] }[]): void {
  const single = new Set(values.filter(({ path }) => path.length === 1).map(({ path }) => path[0]))
  const clash = values.find(({ path }) => path.length > 1 && single.has(path[0]))
  if (clash !== undefined)
    throw odataError(
      'type-mismatch',
      `${clash.path[0]} is a value in one part, an object in another`,
    )
}
