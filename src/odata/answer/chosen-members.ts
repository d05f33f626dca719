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
