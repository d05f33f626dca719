// concat: the rows of several sequences, one after the other (Data Aggregation 4.0, section 3.2.2).

import { type Expression, NULL, nullOf } from '../bound.ts'
import {
  type ApplyContext,
  type ApplyRows,
  type ValueColumn,
  newProperty,
  pathKey,
  propertyValue,
  rowsOfValues,
  rowVariable,
  totalOrder,
  withRowCount,
  withinSize,
} from './rows.ts'
import { edm, type EdmType } from '../../edm/types.ts'
import type { NavigationProperty, Property } from '../../edm/model.ts'
import { commonNumericType, isNumberType } from '../../edm/numbers.ts'
import { booleanConstant, wholeNumber } from '../expression/constants.ts'
import { typeMismatch, unsupported } from '../../protocol/errors.ts'

/**
 * The parts follow each other, each in its own order. Where one lacks a value, it is null in its rows, and marked as
 * absent.
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
      throw unsupported(`grouping by ${entity.name} in only one part of concat`)
  const values = Array.from(types.values(), ({ path, type, entity }): ValueColumn => {
    const value = { path, property: newProperty(path.at(-1)!, type, context), entity }
    const own = parts.map((part) => ownValue(part, path))
    const isEverywhere = own.every((each) => each !== undefined && each.mark === undefined)
    return isEverywhere ? value : { ...value, mark: newProperty('mark', edm.Boolean, context) }
  })
  const collections = parts.flatMap(({ nested = [] }, of) =>
    nested.map((one) => ({
      of,
      one,
      ours: newProperty('link', one.ours.type, context),
      mark: newProperty('mark', edm.Boolean, context),
    })),
  )
  const order = [newProperty('part', edm.Int64, context), newProperty('place', edm.Int64, context)]
  const relation = {
    kind: 'union',
    parts: parts.map((part, i) => {
      const { columns, ...step } = projected(part, values)
      const places = [wholeNumber(i), part.order.length === 0 ? wholeNumber(0) : placeOf(part)]
      const sorted = order.map(({ column }, j) => ({ column: column.name, value: places[j]! }))
      const links = collections.flatMap(({ of, one, ours, mark }) => [
        {
          column: ours.column.name,
          value: of === i ? propertyValue(part, one.ours) : nullOf(ours.type),
        },
        { column: mark.column.name, value: isThere(part, of === i ? one : undefined) },
      ])
      return { ...step, columns: [...columns, ...links, ...sorted] }
    }),
  } as const
  const [first] = parts as readonly [ApplyRows, ...ApplyRows[]]
  const made = rowsOfValues(first, relation, values)
  const size = parts.reduce((sum, part) => sum + part.size + 1, 1)
  const count = parts.reduce((sum, { set }) => sum + set.relation.rows, 0)
  const nested = collections.map(({ one, ours, mark }) => ({ ...one, ours, mark }))
  const all = { ...made, ...(nested.length > 0 && { nested }), size, order: order.map(ascending) }
  return withRowCount(withinSize(all), count)
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

/** Whether a row of the part has the value or the collection; undefined: the part has none. */
const isThere = (part: ApplyRows, own: Pick<ValueColumn, 'mark'> | undefined): Expression =>
  own?.mark === undefined ? booleanConstant(own !== undefined) : propertyValue(part, own.mark)

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
    return [column, { column: mark.column.name, value: isThere(part, own) }]
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
