// The key of a row as OData writes it between the parentheses of its address.

import { textOf, type EntitySet, type Row } from '../model/schema.ts'
import { splitTopLevel, writeLiteral } from './literal.ts'

/** Undefined where the set has no key, or the row lacks a part of it. */
export function keyOf(set: EntitySet, row: Row): string | undefined {
  const parts = set.key.map((name) => {
    const value = row[name]
    const property = set.properties.find((one) => one.name === name)
    if (property === undefined || value === null || value === undefined) return undefined
    return { name, literal: writeLiteral(textOf(value), property.edm) }
  })
  if (parts.length === 0 || parts.some((part) => part === undefined)) return undefined
  if (parts.length === 1) return parts[0]!.literal
  return parts.map((part) => `${part!.name}=${part!.literal}`).join(',')
}

/** The same row as a condition, for tools that read sets and no single rows. */
export function filterOfKey(set: EntitySet, key: string): string {
  const [first = ''] = set.key
  const parts = splitTopLevel(key, ',').map((part) => {
    const [, name = first, literal = part] = /^([^'()=]+)=(.*)$/s.exec(part) ?? []
    return `${name} eq ${literal}`
  })
  return parts.join(' and ')
}
