// Answers of one thing: an entity, the value of a property, a number of rows.

import type { Addressed, BoundQuery, Expression, OutputProperty } from '../bind/bound.ts'
import { odataError } from '../protocol/errors.ts'
import { type Content, contextUrl, type Exchange, whole } from './context.ts'
import { entityTextsSql } from '../sql/expand.ts'
import { shownType } from '../bind/control-information.ts'
import type { JsonFormat } from '../protocol/negotiate.ts'
import {
  complexFrame,
  entityFrame,
  type Frame,
  framed,
  framedRow,
  isNullValue,
  isWrittenRaw,
  rawFrame,
  shortValue,
} from './single-row.ts'
import { rowFromFile, type StoredRow } from './lookup.ts'
import { Query } from '../engine/query.ts'
import { isSmallQuery } from './cost.ts'
import { countTextSql, rawTextsSql } from '../sql/query.ts'

export async function countOf(exchange: Exchange, query: BoundQuery): Promise<string> {
  const isSmall = isSmallQuery(query, 'page')
  const options = { maxRows: 1, mode: 'whole', isSmall } as const
  await using counted = await Query.open(exchange.engine, countTextSql(query), options)
  return String(counted.whole)
}

export async function answerCount(exchange: Exchange, addressed: Addressed): Promise<Content> {
  const digits = await countOf(exchange, addressed.query)
  await requireParent(exchange, addressed, digits === '0')
  return whole(digits)
}

export async function answerEntity(
  exchange: Exchange,
  bound: Addressed & { readonly kind: string },
  format: JsonFormat,
): Promise<Content> {
  const { query, kind } = bound
  const context = contextUrl(exchange.request, query.contextFragment)
  const stored = kind === 'entity' ? await rowFromFile(exchange, bound, format) : null
  if (stored !== null) return answerStored(stored, (row) => entityFrame(row, context, format))
  const isLong = kind === 'property' || query.expand.length > 0
  const found = await onlyRow(exchange, bound, { texts: entityTexts(query, format), isLong })
  if (found === null || (kind === 'property' && isNullValue(found.first))) return NO_CONTENT
  const isComplex = kind === 'property' && query.output[0]!.type.kind === 'complex'
  const frame = isComplex
    ? complexFrame(found.first, context, format)
    : entityFrame(found.first, context, format, valueType(exchange, bound, format))
  return { body: framed(found, frame), rows: () => 1 }
}

function answerStored({ row, lookup, shown }: StoredRow, frame: (row: Buffer) => Frame): Content {
  const bodyOf = (stored: Buffer) => {
    const whole = shown(stored)
    return framedRow(whole, frame(whole))
  }
  return { body: bodyOf(row), lookup: { ...lookup, bodyOf }, rows: () => 1 }
}

/** null where it is not shown. */
function valueType(
  { request }: Exchange,
  { kind, query }: Addressed & { readonly kind: string },
  { metadata }: JsonFormat,
): string | null {
  const [property] = query.output
  const isShown = kind === 'property' && metadata === 'full' && property !== undefined
  return isShown ? shownType(property.type, request.version) : null
}

/** The value of a property, without JSON around it. */
export async function answerValue(exchange: Exchange, bound: Addressed): Promise<Content> {
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

const NO_CONTENT: Content = { body: null, rows: () => 0 }

export const noEntity = ({ set, filter }: BoundQuery) =>
  odataError(
    'entity-not-found',
    isAtPlace(filter)
      ? `${set.name} has no entity at this position`
      : `no entity of ${set.name} has this key`,
  )

/** The conditions of a key hold literals, those of a position what the n-th row has. */
function isAtPlace(filter: Expression | null): boolean {
  if (filter?.kind === 'logical') return filter.operands.some(isAtPlace)
  return filter?.kind === 'compare' && filter.right.kind === 'nth'
}

const entityTexts = (
  query: BoundQuery,
  format: JsonFormat = { metadata: 'none', ieee754: false },
) => entityTextsSql(query, { offset: 0, limit: 1 }, format)

/** null when the entity that leads to it is there and has none. Throws 404. */
async function onlyRow(
  exchange: Exchange,
  addressed: Addressed,
  { texts, isLong } = { texts: entityTexts(addressed.query), isLong: false },
): Promise<Query | null> {
  const { engine, resources } = exchange
  const { query, parent } = addressed
  const isSmall = isSmallQuery(query, 'one')
  const found = await Query.open(engine, texts, { maxRows: 1, mode: 'whole', isSmall, isLong })
  resources.use(found)
  if (found.first.length > 0) return found
  if (parent === null) throw noEntity(query)
  await requireParent(exchange, addressed, true)
  return null
}

/**
 * Rows below an entity that does not exist are not an empty collection but 404. A row that was found shows that the
 * entity exists, unless $apply has made the row: an aggregate has one even when there is nothing to add up.
 */
export async function requireParent(
  exchange: Exchange,
  { query, parent }: Addressed,
  isEmpty: boolean,
): Promise<void> {
  if (parent === null || (!isEmpty && query.relation.kind === 'set')) return
  await onlyRow(exchange, { query: parent, parent: null })
}
