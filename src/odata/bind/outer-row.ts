// `$it` within $expand: the row of the request, as the rows that are written into it see it.
//
// Related rows are read once for all parents, where no such row is at hand. So an expansion that speaks of it is read
// for each parent, and the properties that it speaks of are handed down from level to level, as columns `it <name>`.

import {
  type BoundQuery,
  type Expression,
  type OutputProperty,
  propertyOf,
  type RowVariable,
} from './bound.ts'
import { operandsOf } from './size.ts'
import type { EntitySet, NavigationProperty, Property } from '../edm/model.ts'

/** The alias of the parent's rows where they are joined with those of an expansion. */
export const OUTER = 'outer'

const outerColumn = ({ name }: Property): string => `it ${name}`

/** Stands for `row` within $expand. */
export function outerRow({ set }: RowVariable): RowVariable {
  const moved = new Map(set.type.properties.map((property) => [property, asHandedDown(property)]))
  const navigation = set.type.navigation.map((each): NavigationProperty => ({
    ...each,
    on: { ...each.on, ours: moved.get(each.on.ours)! },
  }))
  const handedDown: EntitySet = {
    ...set,
    type: { ...set.type, properties: [...moved.values()], navigation },
  }
  return { alias: OUTER, set: handedDown }
}

const asHandedDown = (property: Property): Property => ({
  ...property,
  column: { ...property.column, name: outerColumn(property), type: property.type.engine },
  clamped: false,
})

/**
 * What must be handed down to `query`, because it, or what it expands, speaks of the outer row. `above` is that row as
 * the level above has it.
 */
export function handedDownTo(query: BoundQuery, above: RowVariable): readonly OutputProperty[] {
  const names = new Set(query.expand.flatMap(({ outer }) => outer.map(({ name }) => name)))
  const seen = new Set<Expression>()
  const visit = (expression: Expression) => {
    if (seen.has(expression)) return
    seen.add(expression)
    if (expression.kind === 'property' && expression.row.alias === OUTER)
      names.add(outerColumn(expression.property))
    for (const operand of operandsOf(expression)) visit(operand)
  }
  if (query.filter !== null) visit(query.filter)
  for (const { value } of [...query.order, ...query.output]) visit(value)
  return above.set.type.properties
    .filter((property) => names.has(outerColumn(property)))
    .map((property) => ({
      name: outerColumn(property),
      type: property.type,
      value: propertyOf(above, property),
    }))
}
