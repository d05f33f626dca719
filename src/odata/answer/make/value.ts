// Values alone, without JSON around them: the number of rows, and the value of a property.

import type { RowsRequest, OutputProperty } from '../../bind/bound.ts'
import { rawTextsSql } from '../../sql/query.ts'
import { type Content, type Exchange, whole } from '../context.ts'
import type { AnswerFormat, RequestFor } from './answer-format.ts'
import { countOf, NO_CONTENT, onlyRow, requireParent } from './found.ts'
import { framed, isWrittenRaw, rawFrame, shortValue } from '../single-row.ts'

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
