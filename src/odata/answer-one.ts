// Answers of one thing: an entity, the value of a property, a number of rows.

import { sql } from '../core/sql.ts'
import { contextUrl, type Exchange } from './answer.ts'
import type { Addressed, BoundQuery, OutputProperty } from './bound.ts'
import { odataError } from './errors.ts'
import { entityTextsSql } from './expand-sql.ts'
import { shownType } from './full-metadata.ts'
import type { JsonFormat } from './negotiate.ts'
import { type Content, whole } from './plan-answer.ts'
import { Query } from './query.ts'
import { isSmallQuery } from './query-work.ts'
import { countSql } from './to-sql.ts'
import { complexText, entityText, isNullValue, rawValue } from './write-json.ts'

export async function countOf(exchange: Exchange, query: BoundQuery): Promise<string> {
  const texts = sql`SELECT CAST("count" AS VARCHAR) FROM (${countSql(query)})`
  const isSmall = isSmallQuery(query)
  const options = { maxRows: 1, mode: 'whole', isSmall } as const
  await using counted = await Query.open(exchange.engine, texts, options)
  return String(counted.whole)
}

export async function count(exchange: Exchange, addressed: Addressed): Promise<Content> {
  const digits = await countOf(exchange, addressed.query)
  await requireParent(exchange, addressed, digits === '0')
  return whole(digits)
}

export async function entity(
  exchange: Exchange,
  bound: Addressed & { readonly kind: string },
  format: JsonFormat,
): Promise<Content> {
  const row = await onlyRow(exchange, bound, format)
  if (row === null || (bound.kind === 'property' && isNullValue(row))) return NO_CONTENT
  const context = contextUrl(exchange.request, bound.query.contextFragment)
  const isComplex = bound.kind === 'property' && bound.query.output[0]!.type.kind === 'complex'
  const text = isComplex ? complexText(row) : row
  return valueContent(entityText(text, context, format, valueType(exchange, bound, format)))
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
export async function value(exchange: Exchange, bound: Addressed): Promise<Content> {
  const [{ type }] = bound.query.output as readonly [OutputProperty]
  return valueContent(rawValue(await onlyRow(exchange, bound), type))
}

const NO_CONTENT: Content = { body: null, rows: () => 0 }

const valueContent = (body: Buffer | null): Content =>
  body === null ? NO_CONTENT : { body, rows: () => 1 }

export const noEntity = ({ set }: BoundQuery) =>
  odataError('entity-not-found', `no entity of ${set.name} has this key`)

/** null when the entity that leads to it is there and has none. Throws 404. */
async function onlyRow(
  exchange: Exchange,
  addressed: Addressed,
  format: JsonFormat = { metadata: 'none', ieee754: false },
): Promise<Buffer | null> {
  const { query, parent } = addressed
  const texts = entityTextsSql(query, { offset: 0, limit: 1 }, format)
  const options = { maxRows: 1, mode: 'whole', isSmall: isSmallQuery(query, true) } as const
  await using found = await Query.open(exchange.engine, texts, options)
  if (found.rows === 0) {
    if (parent === null) throw noEntity(query)
    await requireParent(exchange, addressed, true)
    return null
  }
  const pieces: Buffer[] = []
  for await (const piece of found.chunks()) pieces.push(piece)
  return Buffer.concat(pieces)
}

/**
 * Rows below an entity that is not there are not an empty collection: they are nothing (404). A row that was found tells
 * that it is there, unless $apply has made the row: it can make one of nothing.
 */
export async function requireParent(
  exchange: Exchange,
  { query, parent }: Addressed,
  isEmpty: boolean,
): Promise<void> {
  if (parent === null || (!isEmpty && query.relation.kind === 'set')) return
  await onlyRow(exchange, { query: parent, parent: null })
}
