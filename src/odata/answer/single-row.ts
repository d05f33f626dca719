// The only row of an answer. DuckDB returns it like rows elsewhere, `,{"name":value,…}`; what is sent is all of
// it but its ends, however long it is.

import type { JsonFormat } from '../protocol/negotiate.ts'
import type { Query } from '../engine/query.ts'
import type { EdmType } from '../edm/types.ts'

type FoundRow = Pick<Query, 'whole' | 'chunks'>

/** How a row is written: `head` stands for its first `skipped` bytes, and its last `dropped` are left out. */
export interface Frame {
  readonly head: string
  readonly skipped: number
  readonly dropped: number
}

export function framed(found: FoundRow, frame: Frame): Buffer | AsyncIterable<Buffer> {
  const { whole } = found
  return whole === null ? framedParts(found, frame) : framedRow(whole, frame)
}

export const framedRow = (row: Buffer, { head, skipped, dropped }: Frame): Buffer =>
  Buffer.concat([Buffer.from(head), row.subarray(skipped, row.length - dropped)])

async function* framedParts(
  found: FoundRow,
  { head, skipped, dropped }: Frame,
): AsyncGenerator<Buffer, void> {
  let skip = skipped
  let last: Buffer = Buffer.from(head)
  for await (const part of found.chunks()) {
    yield last
    last = part.subarray(skip)
    skip = 0
  }
  yield last.subarray(0, last.length - dropped)
}

/** The frame of an entity, or of a property as `value`. `row`: its beginning. `type`: that of a value, if it is shown. */
export function entityFrame(
  row: Buffer,
  contextUrl: string,
  { metadata }: JsonFormat,
  type: string | null = null,
): Frame {
  if (metadata === 'none') return { head: '', skipped: 1, dropped: 0 }
  const comma = row[2] === '}'.charCodeAt(0) ? '' : ','
  const typed = type === null ? '' : `,"@odata.type":${JSON.stringify(type)}`
  const head = `{"@odata.context":${JSON.stringify(contextUrl)}${typed}${comma}`
  return { head, skipped: ',{'.length, dropped: 0 }
}

const VALUE_NAME = ',{"value"'

const VALUE_START = `${VALUE_NAME}:`

const NULL_VALUE = Buffer.from(`${VALUE_START}null}`)

/** A complex value is written in place: its properties take the place of the only property of `row`, named `value`. */
export function complexFrame(row: Buffer, contextUrl: string, format: JsonFormat): Frame {
  const { head, skipped } = entityFrame(row.subarray(VALUE_NAME.length), contextUrl, format)
  return { head, skipped: VALUE_NAME.length + skipped, dropped: 1 }
}

/** Whether the only property of `row`, named `value`, is null. */
export const isNullValue = (row: Buffer): boolean => row.equals(NULL_VALUE)

/** Values that may be long are not written as JSON to be read again. */
export const isWrittenRaw = ({ name }: EdmType): boolean =>
  name === 'Edm.String' || name === 'Edm.Binary'

/** null for what is null. */
export const rawFrame = (text: Buffer): Frame | null =>
  text[0] === ','.charCodeAt(0) ? { head: '', skipped: 1, dropped: 0 } : null

/** The only property of `row`, whose value is short, without JSON around it. null when it is null. */
export function shortValue(row: Buffer): Buffer | null {
  if (isNullValue(row)) return null
  const value = row.subarray(VALUE_START.length, -1).toString('utf8')
  return Buffer.from(value.startsWith('"') ? (JSON.parse(value) as string) : value)
}
