// How a row of a file becomes what a request asks for of it: its properties, what metadata=full says of them, and single
// entities that it leads to. null stands for whatever only the engine can tell; then the engine is asked for the answer.

import type { Expression, RowVariable } from '../../bind/bound.ts'
import type { BoundQuery, Expansion, OutputProperty } from '../../bind/bound-request.ts'
import type { EntitySet, Property } from '../../edm/model.ts'
import { isInteger } from '../../edm/numbers.ts'
import type { EdmName, EdmType } from '../../edm/types.ts'
import type { JsonFormat } from '../../protocol/negotiate.ts'
import { NEEDS_QUOTES } from '../../sql/json-value.ts'

/** The row of that set with a key, by the texts of its parts. */
export type FindRow = (set: EntitySet, key: readonly string[]) => Buffer | null

export type WriteRow = (row: Buffer) => Buffer | null

/** How rows of the set are written for the query. */
export function writerOf(query: BoundQuery, format: JsonFormat, find: FindRow): WriteRow | null {
  const { relation, set, output, expand, skip } = query
  if (relation.kind !== 'set' || relation.set !== set) return null
  if (skip > 0 || output.length === 0) return null
  const { properties } = set.type
  const isWhole =
    expand.length === 0 &&
    !format.ieee754 &&
    format.omitsNulls !== true &&
    output.length === properties.length &&
    output.every((each, i) => isAsStored(each, properties[i]!, query.row))
  if (isWhole) return (row) => row
  const members = membersOf(query, format, find)
  return members && ((row) => writtenRow(row, members, format.omitsNulls === true))
}

const isAsStored = (
  { name, type, value, path, mark }: OutputProperty,
  property: Property,
  row: RowVariable,
): boolean =>
  value.kind === 'property' &&
  value.row.alias === row.alias &&
  value.property === property &&
  name === property.name &&
  type === property.type &&
  path === undefined &&
  mark === undefined

/** What is said of a navigation property stands right before it, as in sql/expand.ts. */
function membersOf(query: BoundQuery, format: JsonFormat, find: FindRow) {
  const { output, expand, set, row } = query
  const members: WrittenMember[] = []
  for (const { name, type, value, path = [name], mark } of output) {
    if (path.length > 1 || mark !== undefined) return null
    const written = valueOf(value, { type, set, row, format })
    if (written === null) return null
    members.push({ name: path[0]!, value: written })
  }
  const isAbout = ({ name }: Expansion, member: WrittenMember) => member.name.startsWith(`${name}@`)
  const ordered = members.filter((member) => !expand.some((each) => isAbout(each, member)))
  for (const expansion of expand) {
    const value = relatedValue(expansion, set, format, find)
    if (value === null) return null
    ordered.push(...members.filter((member) => isAbout(expansion, member)))
    ordered.push({ name: expansion.name, value, isAlwaysThere: true })
  }
  return ordered
}

interface ValueOptions extends Pick<OutputProperty, 'type'> {
  readonly set: EntitySet
  readonly row: RowVariable
  readonly format: JsonFormat
}

function valueOf(
  value: Expression,
  { type, set, row, format }: ValueOptions,
): WrittenMember['value'] | null {
  if (value.kind === 'property') {
    const place = placeOf(value.property, value.row, { set, row })
    if (place < 0 || type !== value.property.type) return null
    return format.ieee754 ? valueForDoubles(type, place) : storedValue(place)
  }
  if (type.name !== 'Edm.String') return null
  const text = textIn(value, { set, row })
  return text && ((values) => Buffer.from(JSON.stringify(text(values))))
}

type OfRow = Pick<ValueOptions, 'set' | 'row'>

const placeOf = (property: Property, of: RowVariable, { set, row }: OfRow): number =>
  of.alias === row.alias ? set.type.properties.indexOf(property) : -1

/** The texts of which control information consists (bind/control-information.ts). */
function textIn(value: Expression, of: OfRow): ((values: StoredValues) => string) | null {
  if (value.kind === 'constant') return value.type.name === 'Edm.String' ? () => value.value : null
  if (value.kind !== 'call') return null
  const [first, second] = value.operands
  if (value.name === 'concat') {
    const [a, b] = [textIn(first!, of), textIn(second!, of)]
    return a && b && ((values) => a(values) + b(values))
  }
  if (first?.kind !== 'property') return null
  const place = placeOf(first.property, first.row, of)
  if (place < 0) return null
  if (value.name === 'textInUrl')
    return (values) =>
      `'${inUrl((JSON.parse(values.at(place).toString()) as string).replaceAll("'", "''"))}'`
  const isPlain = value.name === 'valueInUrl' && LINKING.includes(first.type.name as EdmName)
  return isPlain ? (values) => inUrl(values.at(place).toString().replaceAll('"', '')) : null
}

/** The same text as url_encode() of DuckDB makes. */
const inUrl = (text: string): string =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  )

/** Types whose values have the same text in a file as key and as JSON, but for quotes around it. */
const LINKING: readonly EdmName[] = [
  'Edm.Byte',
  'Edm.Date',
  'Edm.Decimal',
  'Edm.Guid',
  'Edm.Int16',
  'Edm.Int32',
  'Edm.Int64',
  'Edm.SByte',
]

/** The entity that a row leads to, by the key that it holds. */
function relatedValue(
  { many, countOnly, outer, link, query }: Expansion,
  set: EntitySet,
  format: JsonFormat,
  find: FindRow,
): WrittenMember['value'] | null {
  if (many || countOnly || outer.length > 0) return null
  if (query.filter !== null || query.top !== null) return null
  const follow = followed(link.ours.property, link.theirs, set, query.set, find)
  const write = writerOf(query, format, find)
  if (follow === null || write === null) return null
  return (values) => {
    const place = set.type.properties.indexOf(link.ours.property)
    if (isNull(values.at(place))) return NULL
    const related = follow(values)
    return (related && write(related))?.subarray(','.length) ?? null
  }
}

const NULL = Buffer.from('null')

/** From the values of a row to the row of `target` whose key is what the row has in `ours`. */
export function followed(
  ours: Property,
  theirs: Property,
  from: EntitySet,
  target: EntitySet,
  find: FindRow,
): ((values: StoredValues) => Buffer | null) | null {
  const [key, ...more] = target.type.key
  const place = from.type.properties.indexOf(ours)
  if (more.length > 0 || key !== theirs || place < 0) return null
  const isSame =
    ours.type.name === theirs.type.name || (isInteger(ours.type) && isInteger(theirs.type))
  const isText = theirs.type.name === 'Edm.String'
  if (!isSame || !isComparedAsText(ours) || !isComparedAsText(theirs)) return null
  if (!isText && !LINKING.includes(theirs.type.name as EdmName)) return null
  return (values) => {
    const value = values.at(place)
    if (isNull(value)) return null
    const text = value.toString()
    return find(target, [text.startsWith('"') ? (JSON.parse(text) as string) : text])
  }
}

/** Whether two values are equal if and only if the engine writes them as the same text. */
export const isComparedAsText = ({ column, type, clamped }: Property): boolean =>
  type.kind === 'primitive' &&
  !OTHERWISE.includes(type.name) &&
  column.type === type.engine &&
  !clamped &&
  // The engine writes no zero before the point of such a number.
  (type.name !== 'Edm.Decimal' || type.precision !== type.scale)

/** The engine writes values of these in another way than constants, or in more than one. */
const OTHERWISE: readonly EdmName[] = [
  'Edm.Binary',
  'Edm.Boolean',
  'Edm.Double',
  'Edm.Duration',
  'Edm.Single',
]

// The members of a row as a file has it, `,{"id":7,"name":"a",…}`, written anew as the engine would write them for a request
// that asks for some of them, for numbers as strings, without nulls, or with what can be said of a row besides.

/** A member of an answer. */
interface WrittenMember {
  readonly name: string
  /** Its value; null where only the engine can tell. */
  readonly value: (values: StoredValues) => Buffer | null
  /** Whether it is written where it is null and others are not. */
  readonly isAlwaysThere?: boolean
}

/** The row as it is asked for; null where only the engine can tell. */
export function writtenRow(
  row: Buffer,
  members: readonly WrittenMember[],
  omitsNulls: boolean,
): Buffer | null {
  const values = new StoredValues(row)
  const parts: Buffer[] = []
  for (const { name, value, isAlwaysThere = false } of members) {
    const bytes = value(values)
    if (bytes === null) return null
    if (omitsNulls && !isAlwaysThere && isNull(bytes)) continue
    parts.push(Buffer.from(`${parts.length === 0 ? ',{' : ','}${JSON.stringify(name)}:`), bytes)
  }
  parts.push(Buffer.from(parts.length === 0 ? ',{}' : '}'))
  return Buffer.concat(parts)
}

/** The value of the property at that place in the row. */
export const storedValue =
  (place: number): WrittenMember['value'] =>
  (values) =>
    values.at(place)

/** The same as a string, if it is not null. */
const quotedValue =
  (place: number): WrittenMember['value'] =>
  (values) => {
    const value = values.at(place)
    return isNull(value) ? value : Buffer.concat([ONE_QUOTE, value, ONE_QUOTE])
  }

/** How a value that the file has is written with IEEE754Compatible=true; null where numbers are inside of it. */
function valueForDoubles(type: EdmType, place: number): WrittenMember['value'] | null {
  if (type.kind === 'primitive')
    return NEEDS_QUOTES.includes(type.name) ? quotedValue(place) : storedValue(place)
  return holdsAny(type, NEEDS_QUOTES) ? null : storedValue(place)
}

function holdsAny(type: EdmType, names: readonly EdmName[]): boolean {
  switch (type.kind) {
    case 'primitive':
      return names.includes(type.name)
    case 'collection':
      return holdsAny(type.item, names)
    case 'complex':
      return type.properties.some((part) => holdsAny(part.type, names))
  }
}

const isNull = (value: Buffer): boolean => value[0] === LETTER_N

const [QUOTE, BACKSLASH, COMMA, COLON, LETTER_N] = Array.from('"\\,:n', (c) => c.charCodeAt(0))
const OPENING: readonly number[] = Array.from('{[', (c) => c.charCodeAt(0))
const CLOSING: readonly number[] = Array.from('}]', (c) => c.charCodeAt(0))
const ONE_QUOTE = Buffer.from('"')

/** The values of a row, by the places of their properties. They are looked for as far as they are asked for. */
export class StoredValues {
  readonly #row: Buffer
  /** Where each value begins and ends, one after the other. */
  readonly #ends: number[] = []
  #next = ',{'.length

  constructor(row: Buffer) {
    this.#row = row
  }

  at(place: number): Buffer {
    while (this.#ends.length <= 2 * place) this.#findNext()
    return this.#row.subarray(this.#ends[2 * place], this.#ends[2 * place + 1])
  }

  #findNext(): void {
    const row = this.#row
    const start = endOfString(row, this.#next) + 2
    if (row[start - 1] !== COLON) throw notJson()
    let depth = 0
    let end = start
    for (; end < row.length; end++) {
      const byte = row[end]!
      if (byte === QUOTE) end = endOfString(row, end)
      else if (OPENING.includes(byte)) depth++
      else if (depth > 0 && CLOSING.includes(byte)) depth--
      else if (depth === 0 && (byte === COMMA || CLOSING.includes(byte))) break
    }
    this.#ends.push(start, end)
    this.#next = end + 1
  }
}

/** The quote that closes the string whose first one stands at `start`. */
function endOfString(row: Buffer, start: number): number {
  let end = row.indexOf(QUOTE!, start + 1)
  while (isEscaped(row, end)) end = row.indexOf(QUOTE!, end + 1)
  if (end < 0) throw notJson()
  return end
}

const notJson = () => new Error('a row of a file with rows is not JSON')

function isEscaped(row: Buffer, at: number): boolean {
  let backslashes = 0
  while (row[at - 1 - backslashes] === BACKSLASH) backslashes++
  return backslashes % 2 === 1
}
