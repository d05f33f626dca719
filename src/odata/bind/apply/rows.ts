// The rows between two transformations of $apply: where they come from, which values they have, and what their
// expressions may name. A value stands at a path: alone, or inside an object where the rows were grouped by a property
// reached through a navigation property.

import { limits } from '../../../core/limits.ts'
import { foldCase } from '../../../core/names.ts'
import {
  type Expression,
  type ColumnValue,
  type OrderItem,
  propertyOf,
  type Relation,
  type RowVariable,
  typeOf,
} from '../bound.ts'
import { odataError } from '../../protocol/errors.ts'
import type { TransformationSyntax } from '../../syntax/syntax.ts'
import type { RequestContext } from '../scope.ts'
import type { EdmType } from '../../edm/types.ts'
import type { EntitySet, NavigationProperty, Property } from '../../edm/model.ts'

/** What a transformation gets. */
export interface Input {
  readonly rows: ApplyRows
  /** Paths of the values that the rows are grouped by at the moment. */
  readonly groups: readonly string[]
  readonly context: ApplyContext
  /** Entities among these, by the path of their key. */
  readonly entities?: ReadonlyMap<string, NavigationProperty>
  /** Groups, some of them perhaps without rows; absent: those of the rows. See parents.ts. */
  readonly parents?: ApplyRows
}

/** Applies a sequence; see apply.ts. */
export type BindSequence = (sequence: readonly TransformationSyntax[], input: Input) => ApplyRows

/** What is the same for all transformations of one request. */
export interface ApplyContext extends RequestContext {
  /** Columns added so far; each has a unique name. */
  readonly columns: { count: number }
  /** Columns of the sets that have such a name, in lower case. */
  readonly taken: ReadonlySet<string>
}

export function applyContext(context: RequestContext, sets: readonly EntitySet[]): ApplyContext {
  const names = sets.flatMap(({ type }) => type.properties.map(({ column }) => column.name))
  return { ...context, columns: { count: 0 }, taken: new Set(names.map(foldCase)) }
}

export interface ValueColumn {
  readonly path: readonly string[]
  readonly property: Property
  /** The value is the key of an entity that rows were grouped by: the entity is written in its place. */
  readonly entity?: NavigationProperty | undefined
  /** A Boolean: whether the row has this value at all; absent where each row has. */
  readonly mark?: Property | undefined
  /** Whether the object around it is null where the row has none of its values, and not left out. */
  readonly isNullObject?: boolean | undefined
}

interface SortColumn {
  readonly property: Property
  readonly descending: boolean
}

export interface ApplyRows {
  readonly relation: Relation
  /** Stands for these rows in expressions: its properties are the values with a path of one name. */
  readonly set: EntitySet
  readonly values: readonly ValueColumn[]
  /** Paths whose values are different in each row; null when there may be rows with equal values. */
  readonly unique: readonly string[] | null
  /** What orderby specifies; these columns need not be among the values. */
  readonly order: readonly SortColumn[]
  /** Names added to the properties of the entities; null when the rows are no longer entities of the set. */
  readonly added: readonly string[] | null
  /** The sets of the entities that join has put beside each row, by their names; their values stand below these. */
  readonly joined?: ReadonlyMap<string, EntitySet>
  /** Collections, or single entities, that each row has. */
  readonly nested?: readonly NestedRows[]
  /** What is said of each row besides its values, and is one of the answer's instance annotations. */
  readonly annotations?: readonly Annotation[]
  /** SELECTs in the relation as it is written. */
  readonly size: number
}

interface Annotation {
  /** Where it stands in the row; the last name has an at sign. One of an entity stands in that. */
  readonly path: readonly string[]
  readonly property: Property
}

/** The rows of a collection are those whose `link` is what the row has in `ours`. */
export interface NestedRows extends Pick<ValueColumn, 'path' | 'isNullObject'> {
  readonly many: boolean
  readonly ours: Property
  readonly link: Property
  readonly rows: ApplyRows
  /** As of values: a row that join has put nothing beside has no collections there. */
  readonly mark?: Property | undefined
}

export interface NewValue extends Omit<ValueColumn, 'property'> {
  readonly value: Expression
  readonly type: EdmType
}

export const pathKey = (path: readonly string[]) => path.join('/')

/** Values that rows are linked or grouped by on the way, and no client sees: no property has a space in its name. */
export const isInner = ({ path }: Pick<ValueColumn, 'path'>) => path[0]!.includes(' ')

export function entityRows(set: EntitySet): ApplyRows {
  let rows = rowsOfSets.get(set)
  if (rows === undefined) rowsOfSets.set(set, (rows = newEntityRows(set)))
  return rows
}

/** The same for all requests on a snapshot. */
const rowsOfSets = new WeakMap<EntitySet, ApplyRows>()

function newEntityRows(set: EntitySet): ApplyRows {
  const { key, properties } = set.type
  return {
    relation: { kind: 'set', set },
    set,
    values: properties.map((property) => ({ path: [property.name], property })),
    unique: key.length === 0 ? null : key.map(({ name }) => name),
    order: [],
    added: [],
    size: 1,
  }
}

export const rowVariable = ({ set }: ApplyRows): RowVariable => ({ alias: 'it', set })

/** The row that `$search` looks at, with nested values. */
export function searchedRow(rows: ApplyRows, row = rowVariable(rows)): RowVariable {
  const { set, values } = rows
  const properties = values.filter((each) => !isInner(each)).map(({ property }) => property)
  return { ...row, set: { ...set, type: { ...set.type, properties } } }
}

export const propertyValue = (rows: ApplyRows, property: Property) =>
  propertyOf(rowVariable(rows), property)

/** What the rows of one of the `groups` have in common, in that row. */
export const partitionOf = (rows: ApplyRows, groups: readonly string[], row = rowVariable(rows)) =>
  rows.values
    .filter(({ path }) => groups.includes(pathKey(path)))
    .flatMap(({ property, mark }) => (mark === undefined ? [property] : [property, mark]))
    .map((property) => propertyOf(row, property))

export function newProperty(name: string, type: EdmType, context: ApplyContext): Property {
  const { columns, taken } = context
  do columns.count++
  while (taken.has(`c${columns.count}`))
  const column = { name: `c${columns.count}`, type: type.engine, nullable: true }
  return { name, column, type, nullable: true, clamped: false, isCalculated: true }
}

/** `rows` with another relation around theirs, which keeps the columns. */
export function around(rows: ApplyRows, relation: Relation): ApplyRows {
  return withinSize({ ...rows, relation, size: rows.size + 1 })
}

/** concat repeats everything before it, so a short request could mean an endless statement. */
export function withinSize(rows: ApplyRows): ApplyRows {
  if (rows.size <= limits.applySize) return rows
  throw odataError('expression-too-deep', '$apply has too many transformations')
}

/** Rows with these values and nothing else of what `rows` had. */
export function rowsOfValues(
  rows: ApplyRows,
  relation: Relation,
  values: readonly ValueColumn[],
): ApplyRows {
  const { type } = rows.set
  const properties = values.filter(({ path }) => path.length === 1).map(({ property }) => property)
  const navigation = values.flatMap(({ path, entity, property }) =>
    entity === undefined || path.length > 2
      ? []
      : [{ ...entity, on: { ...entity.on, ours: property } }],
  )
  const set = {
    ...rows.set,
    type: { ...type, key: [], properties, navigation, isResult: true as const },
  }
  return withinSize({
    relation,
    set,
    values,
    unique: null,
    order: [],
    added: null,
    size: rows.size + 1,
  })
}

/** The same rows with more values, in the order of `sorted` first and of what they were sorted by after. */
export function withValues(
  { rows, context }: Input,
  added: readonly NewValue[],
  sorted: readonly OrderItem[],
): ApplyRows {
  const { columns, renamed, make, keep, keepValues, keepOrder } = projectionOf(rows, context)
  const values = keepValues()
  const fresh = added.map(({ path, value, type, entity, mark, isNullObject }) => ({
    path,
    property: make(path.at(-1)!, type, value),
    entity,
    mark: mark && keep(mark),
    isNullObject,
  }))
  const sort = ({ value, descending }: OrderItem) => ({
    property:
      value.kind === 'property' ? keep(value.property) : make('sort', typeOf(value)!, value),
    descending,
  })
  const order = [...sorted.map(sort), ...keepOrder()]
  const row = rowVariable(rows)
  const relation = { kind: 'project', from: rows.relation, row, columns } as const
  const result = rowsOfValues(rows, relation, [...values, ...fresh])
  const set = withNavigation(result.set, rows.set.type.navigation, renamed)
  return { ...result, set, unique: rows.unique, order, added: rows.added, ...besides(rows, keep) }
}

/** What there is of `rows` besides their values, over new columns. */
export const besides = (
  { joined, nested, annotations }: ApplyRows,
  keep: (old: Property) => Property,
): Pick<ApplyRows, 'joined' | 'nested' | 'annotations'> => ({
  ...(joined && { joined }),
  ...(nested && {
    nested: nested.map((one) => ({
      ...one,
      ours: keep(one.ours),
      mark: one.mark && keep(one.mark),
    })),
  }),
  ...(annotations && {
    annotations: annotations.map((each) => ({ ...each, property: keep(each.property) })),
  }),
})

/** New columns over `rows`: `make` adds one, `keep` gives the one that an old column has become, in the order of these calls. */
export function projectionOf(rows: ApplyRows, context: ApplyContext) {
  const columns: ColumnValue[] = []
  const renamed = new Map<Property, Property>()
  const make = (name: string, type: EdmType, value: Expression) => {
    const property = newProperty(name, type, context)
    columns.push({ column: property.column.name, value })
    return property
  }
  const keep = (old: Property) => {
    const property = renamed.get(old) ?? make(old.name, old.type, propertyValue(rows, old))
    renamed.set(old, property)
    return property
  }
  const keepValues = () =>
    rows.values.map((each) => ({
      ...each,
      property: keep(each.property),
      mark: each.mark && keep(each.mark),
    }))
  const keepOrder = () =>
    rows.order.map(({ property, descending }) => ({ property: keep(property), descending }))
  return { columns, renamed, make, keep, keepValues, keepOrder }
}

/** `set` with what led elsewhere before, as far as the columns that it started at are still there. */
export function withNavigation(
  set: EntitySet,
  before: readonly NavigationProperty[],
  renamed: ReadonlyMap<Property, Property>,
): EntitySet {
  const { navigation } = set.type
  const others = before.filter(({ name }) => !navigation.some((each) => each.name === name))
  const all = [...navigation, ...others.flatMap((each) => moved(each, renamed))]
  return { ...set, type: { ...set.type, navigation: all } }
}

/** Navigation starts at a column; where that has a new name, so does the start. */
function moved(navigation: NavigationProperty, renamed: ReadonlyMap<Property, Property>) {
  const ours = renamed.get(navigation.on.ours)
  return ours === undefined ? [] : [{ ...navigation, on: { ...navigation.on, ours } }]
}

/** Sorted as requested, with ties broken by what makes the rows different: the same in each request. */
export function totalOrder(
  rows: ApplyRows,
  first: readonly OrderItem[] = [],
  row = rowVariable(rows),
): readonly OrderItem[] {
  const isTie = ({ path }: ValueColumn) => rows.unique?.includes(pathKey(path)) ?? true
  // A null inside of an object is not the same as a null in its place.
  const ties = rows.values
    .filter(isTie)
    .flatMap(({ property, mark, isNullObject }) =>
      mark && isNullObject ? [mark, property] : [property],
    )
    .map((property) => ({ property, descending: false }))
  const seen = new Set(
    first.map(({ value }) => (value.kind === 'property' ? value.property : undefined)),
  )
  const columns = [...rows.order, ...ties].filter(({ property }) => {
    const isNew = !seen.has(property)
    seen.add(property)
    return isNew
  })
  return [
    ...first,
    ...columns.map(({ property, descending }) => ({
      value: propertyOf(row, property),
      descending,
    })),
  ]
}

/** Constants do not order rows. */
export const isSortable = ({ value }: OrderItem) =>
  value.kind !== 'null' && value.kind !== 'constant'

/** Rows of a set whose number is known; the service decides by it how to send them. */
export function withRowCount(rows: ApplyRows, count: number): ApplyRows {
  const { set } = rows
  return { ...rows, set: { ...set, relation: { ...set.relation, rows: count } } }
}
