// Columns that a chart can be made of: those of the set, and those of the entities that each row leads to.

import { type EntitySet, type Property, type Schema } from '../model/schema.ts'
import { canBeColour, canBeX, type ChartableSet } from './chart-state.ts'

export interface PathColumn {
  /** `status`, or `customer/country`. */
  readonly path: string
  readonly property: Property
}

export interface ColumnGroup {
  /** The navigation that leads there; null for the set's own columns. */
  readonly navigation: string | null
  readonly columns: readonly PathColumn[]
}

export function columnGroups(schema: Schema, set: EntitySet): readonly ColumnGroup[] {
  const own = set.properties.map((property) => ({ path: property.name, property }))
  const others = set.navigations.flatMap(({ name, isMany, target }) => {
    const properties = isMany ? undefined : schema.set(target)?.properties
    if (properties === undefined) return []
    const columns = properties.map((property) => ({ path: `${name}/${property.name}`, property }))
    return [{ navigation: name, columns }]
  })
  return [{ navigation: null, columns: own }, ...others]
}

export const groupsForX = (groups: readonly ColumnGroup[]) =>
  withColumns(groups, ({ property }) => canBeX(property))

export const groupsForColour = (groups: readonly ColumnGroup[]) =>
  withColumns(groups, ({ property }) => canBeColour(property))

function withColumns(
  groups: readonly ColumnGroup[],
  isWanted: (column: PathColumn) => boolean,
): readonly ColumnGroup[] {
  return groups
    .map((group) => ({ ...group, columns: group.columns.filter(isWanted) }))
    .filter(({ columns }) => columns.length > 0)
}

/** undefined for what an address names and no set has. */
export function columnAt(groups: readonly ColumnGroup[], path: string): Property | undefined {
  return groups.flatMap(({ columns }) => columns).find((column) => column.path === path)?.property
}

export function chartable(set: EntitySet): ChartableSet {
  const foreignKeys = set.navigations
    .filter(({ isMany }) => !isMany)
    .flatMap(({ constraint }) => constraint.map(([own]) => own))
  return { columns: set.properties, key: set.key, foreignKeys }
}
