// An entity, or the value of a property, as JSON.

import type { RowsRequest, OutputProperty } from '../../bind/bound.ts'
import { shownType } from '../../bind/control-information.ts'
import type { JsonFormat } from '../../protocol/negotiate.ts'
import { type Content, contextUrl, type Exchange } from '../context.ts'
import { rowFromFile } from '../lookup.ts'
import { complexFrame, entityFrame, framed, framedRow, isNullValue } from '../single-row.ts'
import { NO_CONTENT, onlyRow, rowTexts } from './found.ts'

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
