// The only row of an answer. DuckDB returns it like rows elsewhere, `,{"name":value,…}`; what is sent is all of
// it but its ends, however long it is.

import { isGeoName } from '../../edm/geo.ts'
import type { JsonFormat } from '../../protocol/negotiate.ts'
import type { Query } from '../../engine/query.ts'
import type { OutputProperty, RowsRequest } from '../../bind/bound-request.ts'
import { shownType } from '../../bind/control-information.ts'
import { type Content, contextUrl, whole } from '../context.ts'
import { rowFromFile, type StoredRow } from './lookup.ts'
import { NO_CONTENT, onlyRow, rowTexts, countOf, requireParent } from './found.ts'
import { rawTextsSql } from '../../sql/query.ts'
import type { AnswerFormat, ChosenExchange } from '../choose/representation.ts'

type FoundRow = Pick<Query, 'whole' | 'chunks'>

/** How a row is written: `head` stands for its first `skipped` bytes, and its last `dropped` are left out. */
export interface Frame {
  readonly head: string
  readonly skipped: number
  readonly dropped: number
}

const WITHOUT_COMMA: Frame = { head: '', skipped: 1, dropped: 0 }

export function framed(found: FoundRow, frame: Frame): Buffer | AsyncIterable<Buffer> {
  const { whole } = found
  return whole === null ? framedParts(found, frame) : framedRow(whole, frame)
}

const framedRow = (row: Buffer, { head, skipped, dropped }: Frame): Buffer =>
  Buffer.concat([Buffer.from(head), row.subarray(skipped, row.length - dropped)])

async function* framedParts(found: FoundRow, { head, skipped, dropped }: Frame) {
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
  if (metadata === 'none') return WITHOUT_COMMA
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

/** The only property of `row`, whose value is short and not null, without JSON around it. */
function shortValue(row: Buffer): Buffer {
  const value = row.subarray(VALUE_START.length, -1).toString('utf8')
  return Buffer.from(value.startsWith('"') ? (JSON.parse(value) as string) : value)
}

const ONE = () => 1

export async function answerEntity(exchange: ChosenExchange, addressed: RowsRequest) {
  const { query } = addressed
  const { request, chosen } = exchange
  const context = contextUrl(request, query.contextFragment)
  const frameOf = (row: Buffer) => entityFrame(row, context, chosen.json)
  const stored = rowFromFile(exchange, addressed)
  if (stored !== null) {
    const { row, rowOf, lookup } = stored
    const bodyOf = (key: readonly string[]) => {
      const other = rowOf(key)
      return other && framedRow(other, frameOf(other))
    }
    return { body: framedRow(row, frameOf(row)), lookup: { ...lookup, bodyOf }, rows: ONE }
  }
  const isLong = query.expand.length > 0
  const found = await onlyRow(exchange, addressed, rowTexts(query, chosen.json), isLong)
  return found === null ? NO_CONTENT : { body: framed(found, frameOf(found.first)), rows: ONE }
}

export async function answerProperty(exchange: ChosenExchange, addressed: RowsRequest) {
  const { request, chosen } = exchange
  const { json: format } = chosen
  const { query } = addressed
  const [{ type }] = query.output as readonly [OutputProperty]
  const shown = format.metadata === 'full' ? shownType(type, request.version) : null
  const frameOf = (row: Buffer, fragment: string) => {
    const context = contextUrl(request, fragment)
    return type.kind === 'complex'
      ? complexFrame(row, context, format)
      : entityFrame(row, context, format, shown)
  }
  const stored = rowFromFile(exchange, addressed)
  if (stored !== null) {
    const write = (row: Buffer, path: string) => framedRow(row, frameOf(row, path))
    return valueFromFile(stored, query.contextFragment, request.target, write)
  }
  const found = await onlyRow(exchange, addressed, rowTexts(query, format), true)
  if (found === null || isNullValue(found.first)) return NO_CONTENT
  return { body: framed(found, frameOf(found.first, query.contextFragment)), rows: ONE }
}

/** The context of a value is the path of the request, where that has nothing else in it. */
function valueFromFile(
  { row, rowOf, lookup }: StoredRow,
  fragment: string,
  target: string,
  write: (row: Buffer, fragment: string) => Buffer,
): Content {
  if (isNullValue(row)) return NO_CONTENT
  const pathOf = (url: string) => url.split('?', 1)[0]!
  const body = write(row, fragment)
  if (fragment !== pathOf(target)) return { body, rows: ONE }
  const bodyOf = (key: readonly string[], other: string) => {
    const found = rowOf(key)
    return found === null || isNullValue(found) ? null : write(found, pathOf(other))
  }
  return { body, lookup: { ...lookup, bodyOf }, rows: ONE }
}

/** Values alone, without JSON around them: the number of rows, and the value of a property. */
export const text: AnswerFormat<'text'> = (exchange, bound) =>
  bound.kind === 'count' ? answerCount(exchange, bound) : bytes(exchange, bound)

async function answerCount(exchange: ChosenExchange, addressed: RowsRequest): Promise<Content> {
  const digits = await countOf(exchange, addressed.query)
  await requireParent(exchange, addressed, digits === '0')
  return whole(digits)
}

export const bytes: AnswerFormat<'bytes'> = async (exchange, bound) => {
  const { query } = bound
  const [{ type }] = query.output as readonly [OutputProperty]
  const isPlace = isGeoName(type.name)
  const stored = type.name === 'Edm.Binary' || isPlace ? null : rowFromFile(exchange, bound)
  if (stored !== null) {
    const { row, rowOf, lookup } = stored
    const bodyOf = (key: readonly string[]) => {
      const other = rowOf(key)
      return other === null || isNullValue(other) ? null : shortValue(other)
    }
    if (isNullValue(row)) return NO_CONTENT
    return { body: shortValue(row), lookup: { ...lookup, bodyOf }, rows: ONE }
  }
  // Values that may be long are not written as JSON to be read again.
  if (type.name === 'Edm.String' || type.name === 'Edm.Binary' || isPlace) {
    const found = await onlyRow(exchange, bound, rawTextsSql(query), true)
    const isThere = found !== null && found.first[0] === ','.charCodeAt(0)
    return isThere ? { body: framed(found, WITHOUT_COMMA), rows: ONE } : NO_CONTENT
  }
  const found = await onlyRow(exchange, bound)
  return found === null || isNullValue(found.first)
    ? NO_CONTENT
    : { body: shortValue(found.first), rows: ONE }
}
