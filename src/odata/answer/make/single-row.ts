// The only row of an answer. DuckDB returns it like rows elsewhere, `,{"name":value,…}`; what is sent is all of
// it but its ends, however long it is.

import type { JsonFormat } from '../../protocol/negotiate.ts'
import type { Query } from '../../engine/query.ts'
import type { EdmType } from '../../edm/types.ts'
import type { RowsRequest, OutputProperty } from '../../bind/bound.ts'
import { shownType } from '../../bind/control-information.ts'
import { type Content, contextUrl, type Exchange, whole } from '../context.ts'
import { rowFromFile } from './lookup.ts'
import { NO_CONTENT, onlyRow, rowTexts, countOf, requireParent } from './found.ts'
import { rawTextsSql } from '../../sql/query.ts'
import type { AnswerFormat, RequestFor } from '../choose/representation.ts'

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

const framedRow = (row: Buffer, { head, skipped, dropped }: Frame): Buffer =>
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
const isNullValue = (row: Buffer): boolean => row.equals(NULL_VALUE)

/** Values that may be long are not written as JSON to be read again. */
const isWrittenRaw = ({ name }: EdmType): boolean => name === 'Edm.String' || name === 'Edm.Binary'

/** null for what is null. */
const rawFrame = (text: Buffer): Frame | null =>
  text[0] === ','.charCodeAt(0) ? { head: '', skipped: 1, dropped: 0 } : null

/** The only property of `row`, whose value is short, without JSON around it. null when it is null. */
function shortValue(row: Buffer): Buffer | null {
  if (isNullValue(row)) return null
  const value = row.subarray(VALUE_START.length, -1).toString('utf8')
  return Buffer.from(value.startsWith('"') ? (JSON.parse(value) as string) : value)
}

// An entity, or the value of a property, as JSON.

export async function answerEntity(
  exchange: Exchange,
  addressed: RowsRequest,
  format: JsonFormat,
): Promise<Content> {
  const { query } = addressed
  const context = contextUrl(exchange.request, query.contextFragment)
  const stored = rowFromFile(exchange, addressed, format)
  if (stored !== null) {
    const { row, lookup, shown } = stored
    const bodyOf = (other: Buffer) => {
      const written = shown(other)
      return framedRow(written, entityFrame(written, context, format))
    }
    return { body: bodyOf(row), lookup: { ...lookup, bodyOf }, rows: () => 1 }
  }
  const found = await onlyRow(exchange, addressed, {
    texts: rowTexts(query, format),
    isLong: query.expand.length > 0,
  })
  if (found === null) return NO_CONTENT
  return { body: framed(found, entityFrame(found.first, context, format)), rows: () => 1 }
}

export async function answerProperty(
  exchange: Exchange,
  addressed: RowsRequest,
  format: JsonFormat,
): Promise<Content> {
  const { request } = exchange
  const { query } = addressed
  const [{ type }] = query.output as readonly [OutputProperty]
  const context = contextUrl(request, query.contextFragment)
  const texts = rowTexts(query, format)
  const found = await onlyRow(exchange, addressed, { texts, isLong: true })
  if (found === null || isNullValue(found.first)) return NO_CONTENT
  const shown = format.metadata === 'full' ? shownType(type, request.version) : null
  const frame =
    type.kind === 'complex'
      ? complexFrame(found.first, context, format)
      : entityFrame(found.first, context, format, shown)
  return { body: framed(found, frame), rows: () => 1 }
}

// Values alone, without JSON around them: the number of rows, and the value of a property.

export const text: AnswerFormat<RequestFor<'text'>> = {
  make: (exchange, bound) =>
    bound.kind === 'count' ? answerCount(exchange, bound) : answerValue(exchange, bound),
}

export const bytes: AnswerFormat<RequestFor<'bytes'>> = { make: answerValue }

async function answerCount(exchange: Exchange, addressed: RowsRequest): Promise<Content> {
  const digits = await countOf(exchange, addressed.query)
  await requireParent(exchange, addressed, digits === '0')
  return whole(digits)
}

async function answerValue(exchange: Exchange, bound: RowsRequest): Promise<Content> {
  const { query } = bound
  const [{ type }] = query.output as readonly [OutputProperty]
  if (!isWrittenRaw(type)) {
    const found = await onlyRow(exchange, bound)
    const body = found === null ? null : shortValue(found.first)
    return body === null ? NO_CONTENT : { body, rows: () => 1 }
  }
  const found = await onlyRow(exchange, bound, { texts: rawTextsSql(query), isLong: true })
  const frame = found === null ? null : rawFrame(found.first)
  return frame === null ? NO_CONTENT : { body: framed(found!, frame), rows: () => 1 }
}
