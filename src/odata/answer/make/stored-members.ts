// The members of a row as a file has it, `,{"id":7,"name":"a",…}`, written anew as the engine would write them for a request
// that asks for some of them, for numbers as strings, without nulls, or with what can be said of a row besides.

import type { EdmName, EdmType } from '../../edm/types.ts'
import { NEEDS_QUOTES } from '../../sql/json-value.ts'

/** A member of an answer. */
export interface WrittenMember {
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
export function valueForDoubles(type: EdmType, place: number): WrittenMember['value'] | null {
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

export const isNull = (value: Buffer): boolean => value[0] === LETTER_N

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
