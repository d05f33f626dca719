// The rows that belong to a row, as an address of their set with the condition in it.

import { writeLiteral } from '../address/literal.ts'
import { writeOptions } from '../address/options.ts'
import type { Route } from '../address/route.ts'
import type { EntitySet, Navigation, Schema } from './schema.ts'
import { textOf, type Row } from './value.ts'

/** Undefined where the model does not say by which columns the two belong together. */
export function relatedRows(
  schema: Schema,
  set: EntitySet,
  navigation: Navigation,
  row: Row,
): Extract<Route, { view: 'rows' }> | undefined {
  const target = schema.set(navigation.target)
  const partner = target?.navigations.find(({ name }) => name === navigation.partner)
  if (target === undefined || partner === undefined || partner.constraint.length === 0)
    return undefined
  const conditions = partner.constraint.map(([theirs, ours]) => {
    const property = set.properties.find(({ name }) => name === ours)
    const value = row[ours]
    if (property === undefined || value === null || value === undefined) return undefined
    return `${theirs} eq ${writeLiteral(textOf(value), property.edm)}`
  })
  if (conditions.includes(undefined)) return undefined
  const query = writeOptions(new Map([['$filter', conditions.join(' and ')]]))
  return { view: 'rows', set: target.name, query }
}
