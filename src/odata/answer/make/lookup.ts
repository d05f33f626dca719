// A lookup: a request for one row by its key, with properties as they are stored. Its answer may come from a file.

import { type BoundQuery, conjunctsOf, type Constant, type RowsRequest } from '../../bind/bound.ts'
import type { EdmName } from '../../edm/types.ts'
import type { EntitySet, Property } from '../../edm/model.ts'
import type { RowLookup } from '../../engine/rows-by-key.ts'
import type { ChosenExchange } from '../choose/representation.ts'

/** A row as a file has it. */
interface StoredRow {
  readonly row: Buffer
  readonly lookup: RowLookup
  /** The part of such a row that is asked for, in that order, as the engine writes it. */
  readonly shown: (row: Buffer) => Buffer
}

/** null where the engine is to be asked. */
export function rowFromFile(
  { service, snapshot, chosen }: ChosenExchange,
  { query, parent }: RowsRequest,
): StoredRow | null {
  const { ieee754, omitsNulls } = chosen.json
  if (parent !== null || ieee754 || omitsNulls === true) return null
  const places = storedPlaces(query)
  const key = places === null ? null : keyTexts(query)
  if (places === null || key === null) return null
  const { set } = query
  const lookup = { snapshot, set, key }
  const row = service.rowsByKey.find(lookup)
  if (row === null) return null
  const isWhole = places.length === set.type.properties.length && places.every((at, i) => at === i)
  return {
    row,
    lookup,
    shown: isWhole ? (whole) => whole : (whole) => chosenMembers(whole, places),
  }
}

/** Which properties of the type the answer has, in its order; null where it has anything else. */
function storedPlaces(query: BoundQuery): readonly number[] | null {
  const { relation, set, row, output, expand, order, skip } = query
  if (relation.kind !== 'set' || relation.set !== set) return null
  if (expand.length > 0 || skip > 0 || output.length === 0) return null
  const { properties, key } = set.type
  // Rows with the same key are in any order of that.
  const isInOrder = order.every(
    ({ value }) => value.kind === 'property' && key.includes(value.property),
  )
  if (!isInOrder) return null
  const isAll = output.length === properties.length
  const places: number[] = []
  for (const [i, { name, type, value, path, mark }] of output.entries()) {
    if (value.kind !== 'property' || value.row.alias !== row.alias) return null
    const { property } = value
    const at = isAll && properties[i] === property ? i : properties.indexOf(property)
    const isStored = name === property.name && type === property.type
    if (at < 0 || !isStored || path !== undefined || mark !== undefined) return null
    places.push(at)
  }
  return places
}

/** The texts of the key that the row must have, in the order of its parts; null where anything else is asked of it. */
function keyTexts({ set, filter, row }: BoundQuery): readonly string[] | null {
  const given = new Map<Property, Constant>()
  for (const condition of conjunctsOf(filter)) {
    if (condition.kind !== 'compare' || condition.operator !== 'eq') return null
    const { left, right } = condition
    if (left.kind !== 'property' || left.row.alias !== row.alias) return null
    if (right.kind !== 'constant' || right.type.name !== left.type.name) return null
    if (given.has(left.property)) return null
    given.set(left.property, right)
  }
  return given.size === 0 || given.size !== set.type.key.length ? null : textsOf(set, given)
}

function textsOf({ type }: EntitySet, given: ReadonlyMap<Property, Constant>) {
  const texts: string[] = []
  for (const property of type.key) {
    const value = given.get(property)
    if (value === undefined || !isComparedAsText(property)) return null
    texts.push(textOf(value))
  }
  return texts
}

/** Whether two values are equal if and only if the engine writes them as the same text. */
const isComparedAsText = ({ column, type, clamped }: Property): boolean =>
  type.kind === 'primitive' &&
  !OTHERWISE.includes(type.name) &&
  column.type === type.engine &&
  !clamped &&
  // The engine writes no zero before the point of such a number.
  (type.name !== 'Edm.Decimal' || type.precision !== type.scale)

/** Of these the engine writes another text than that of a constant, or more than one. */
const OTHERWISE: readonly EdmName[] = [
  'Edm.Binary',
  'Edm.Boolean',
  'Edm.Double',
  'Edm.Duration',
  'Edm.Single',
]

/** A constant of a bound request as the engine writes such a value. What differs is not found, and the engine is asked. */
function textOf({ type, value }: Constant): string {
  if (type.name === 'Edm.Guid') return value.toLowerCase()
  // The engine writes no zeros at the end of a fraction of a second.
  const isTime = type.name === 'Edm.DateTimeOffset' || type.name === 'Edm.TimeOfDay'
  return isTime ? value.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '') : value
}

// Some members of a row that is written already, `,{"id":7,"name":"a",…}`, as if no others had been asked for.

const [QUOTE, BACKSLASH, COMMA] = Array.from('"\\,', (c) => c.charCodeAt(0))
const OPENING: readonly number[] = Array.from('{[', (c) => c.charCodeAt(0))
const CLOSING: readonly number[] = Array.from('}]', (c) => c.charCodeAt(0))

/** `places`: which of its members, from 0 on, in the order in which they are written. */
export function chosenMembers(row: Buffer, places: readonly number[]): Buffer {
  const ends = memberEnds(row)
  const parts: Buffer[] = [Buffer.from(',{')]
  for (const at of places) {
    if (parts.length > 1) parts.push(Buffer.from(','))
    parts.push(row.subarray(at === 0 ? ',{'.length : ends[at - 1]! + 1, ends[at]))
  }
  parts.push(Buffer.from('}'))
  return Buffer.concat(parts)
}

/** Where the comma or bracket after each member stands. */
function memberEnds(row: Buffer): readonly number[] {
  const ends: number[] = []
  let depth = 0
  for (let i = ',{'.length; i < row.length; i++) {
    const byte = row[i]!
    if (byte === QUOTE) i = endOfString(row, i)
    else if (OPENING.includes(byte)) depth++
    else if (depth > 0 && CLOSING.includes(byte)) depth--
    else if (depth === 0 && (byte === COMMA || CLOSING.includes(byte))) ends.push(i)
  }
  return ends
}

/** The quote that closes the string whose first one stands at `start`. */
function endOfString(row: Buffer, start: number): number {
  let end = row.indexOf(QUOTE!, start + 1)
  while (isEscaped(row, end)) end = row.indexOf(QUOTE!, end + 1)
  if (end < 0) throw new Error('a row of a file with rows is not JSON')
  return end
}

function isEscaped(row: Buffer, at: number): boolean {
  let backslashes = 0
  while (row[at - 1 - backslashes] === BACKSLASH) backslashes++
  return backslashes % 2 === 1
}
