// The answer to a request for a collection: one page of it, and where the next one begins.

import { limits } from '../../../core/limits.ts'
import { isOutOfMemory } from '../../engine/admission.ts'
import { countOf, requireParent, modeFor } from './found.ts'
import type { BoundQuery, RowsRequest } from '../../bind/bound-request.ts'
import { asksForTime, type Content, contextUrl, type Exchange } from '../context.ts'
import { entityTextsSql } from '../../sql/expand.ts'
import { keysetWindow } from '../../sql/keyset.ts'
import type { JsonFormat } from '../../protocol/negotiate.ts'
import { deltaLink, nextLink, type SkipToken } from '../choose/link-tokens.ts'
import { Query } from '../../engine/query.ts'
import { pageFromFile } from './lookup.ts'
import { keysetOf, readPosition } from '../../bind/keyset.ts'
import { effortOf } from '../../bind/effort.ts'
import { relatedRowsOf } from '../../bind/size.ts'
import type { ChosenExchange } from '../choose/representation.ts'

/** What one answer returns of a collection, or of its changes. */
export interface ResultPage {
  /** Rows before it, counted after $skip. */
  readonly offset: number
  readonly size: number
  /** Rows that it has at most: fewer than its size where $top ends. */
  readonly limit: number
}

export async function answerPage(exchange: ChosenExchange, addressed: RowsRequest) {
  const { query } = addressed
  const { request, resources, token, chosen } = exchange
  const asked = pageOf(exchange, query)
  const known = storedPage(exchange, addressed, asked)
  if (known !== null) return known
  const count = query.withCount ? (token?.count ?? (await countOf(exchange, query))) : null
  const { page, found: opened } = await openLargestPage(exchange, query, asked)
  const found = resources.use(opened)
  await requireParent(exchange, addressed, found.whole?.length === 0)
  const isTracked = token?.isTracked ?? chosen.preferences.trackChanges
  const context = contextUrl(request, query.contextFragment)
  return pageText(exchange, page, { context, count, found, isTracked })
}

/** A page with all rows that have the keys which a request asks for. */
function storedPage(
  exchange: ChosenExchange,
  addressed: RowsRequest,
  { limit }: ResultPage,
): Content | null {
  const { request, token, chosen } = exchange
  const { query } = addressed
  if (token !== null || query.skip > 0 || chosen.preferences.trackChanges) return null
  const stored = pageFromFile(exchange, addressed, limit)
  if (stored === null) return null
  const { json } = chosen
  const context = contextUrl(request, query.contextFragment)
  const bodyWith = (rows: readonly Buffer[]) => {
    const count = query.withCount ? String(rows.length) : null
    const head = collectionHead({ contextUrl: context, count }, json)
    const parts = rows.map((row, i) => (i === 0 ? row.subarray(','.length) : row))
    return Buffer.concat([Buffer.from(head), ...parts, Buffer.from(collectionTail(null))])
  }
  const { rows, rowsOf, lookup } = stored
  const bodyOf = (key: readonly string[]) => {
    const others = rowsOf(key)
    return others?.length === rows.length ? bodyWith(others) : null
  }
  const content = { body: bodyWith(rows), rows: () => rows.length }
  return lookup === null ? content : { ...content, lookup: { ...lookup, bodyOf } }
}

interface PageParts {
  readonly context: string
  /** Decimal digits; null when the request has no $count. */
  readonly count: string | null
  /** null: there are no rows. */
  readonly found: Query | null
  /** Whether a delta link follows the last row. */
  readonly isTracked: boolean
}

export function pageText(exchange: ChosenExchange, page: ResultPage, parts: PageParts): Content {
  const { context, count, found } = parts
  const head = Buffer.from(collectionHead({ contextUrl: context, count }, exchange.chosen.json))
  // The link is known once the last row was read.
  const tail = () => Buffer.from(collectionTail(closingLink(exchange, page, parts)))
  if (found === null) return { body: Buffer.concat([head, tail()]), rows: () => 0 }
  const all = found.whole
  // Even a few rows, with expanded ones inside, may be too long to be copied once more.
  const isSmall = all !== null && all.length <= limits.cachedAnswerBytes
  const body = isSmall
    ? Buffer.concat([head, all.subarray(','.length), tail()])
    : streamed(head, found, tail)
  return { body, rows: () => found.rows }
}

export function pageOf(exchange: ChosenExchange, query: BoundQuery): ResultPage {
  const { service, token, since, chosen } = exchange
  const { maxPageSize } = chosen.preferences
  const offset = token?.given ?? 0
  const asked = maxPageSize ?? token?.pageSize ?? since?.pageSize ?? service.pageSize
  const size = Math.min(asked, service.maxPageSize, largestPage(query))
  return sizedPage(query, offset, size)
}

const sizedPage = ({ top }: BoundQuery, offset: number, size: number): ResultPage => ({
  offset,
  size,
  limit: Math.min(size, Math.max(0, (top ?? Infinity) - offset)),
})

/**
 * Rows with expanded ones inside are written only when the whole page is computed, so it is kept small. One level of them
 * is counted before it is written; with more, what is made before the count may be many times as much.
 */
function largestPage(query: BoundQuery): number {
  if (query.expand.length === 0) return Infinity
  if (query.expand.every(({ query: inner }) => inner.expand.length === 0))
    return limits.wholeResultRows
  const rows = Math.floor(limits.expandedRows / relatedRowsOf(query))
  return Math.max(1, Math.min(rows, limits.wholeResultRows))
}

/** A page whose rows are too wide for the memory that there is becomes a smaller one, and so do those after it. */
async function openLargestPage(
  exchange: ChosenExchange,
  query: BoundQuery,
  page: ResultPage,
): Promise<{ readonly page: ResultPage; readonly found: Query }> {
  try {
    return { page, found: await openPage(exchange, query, page) }
  } catch (error) {
    const most = Math.min(page.limit, query.set.relation.rows)
    const size = Math.ceil(most / limits.smallerPage)
    if (!isOutOfMemory(error) || size === most) throw error
    return await openLargestPage(exchange, query, sizedPage(query, page.offset, size))
  }
}

async function openPage(
  exchange: ChosenExchange,
  query: BoundQuery,
  { offset, limit }: ResultPage,
) {
  const { engine, token, chosen } = exchange
  const { rows } = query.set.relation
  const most = Math.min(limit, rows)
  const mode = modeFor(most)
  // One row more than the page tells whether there is a next one; sql/query.ts never goes beyond $top. A stream in stored
  // order has no LIMIT, for which DuckDB would collect all rows before it gives the first; reading just stops.
  const hasNoLimit = mode === 'streamed' && query.order.length === 0
  const order = keysetOf(query)
  const from = token?.from ?? null
  // After the last row of $top, or of the whole table, there is no next page.
  const isLast = limit >= rows || (query.top !== null && offset + limit >= query.top)
  const keyset = order === null ? null : keysetWindow(order, from, isLast ? null : limit)
  const areMany = most >= limits.manyRows
  const window = { offset, limit: hasNoLimit ? null : limit + 1, shown: limit, keyset, areMany }
  const texts = entityTextsSql(query, window, chosen.json)
  const isLong = query.expand.length > 0
  const effort = effortOf(query, mode === 'whole' ? 'page' : 'more')
  return await Query.open(engine, texts, { maxRows: limit, mode, effort, isLong })
}

/** To the next page; after the last one to the changes, where they are tracked. */
function closingLink(exchange: Exchange, page: ResultPage, parts: PageParts): Link | null {
  const { request, service, snapshot } = exchange
  const { found, count, isTracked } = parts
  const following = found?.following ?? null
  if (following !== null)
    return { name: 'nextLink', url: linkBefore(exchange, page, following, { count, isTracked }) }
  if (!isTracked) return null
  const since = { snapshotId: snapshot.snapshot.id, pageSize: page.size }
  return { name: 'deltaLink', url: deltaLink(request, since, service.links) }
}

/** The link to a page that begins with the row after this one, of which DuckDB returned `following`. */
function linkBefore(
  { request, service, snapshot, now }: Exchange,
  { offset, size: pageSize, limit }: ResultPage,
  following: Buffer,
  carried: Pick<SkipToken, 'count' | 'isTracked'>,
): string {
  // Where there is no position, it is the whole row.
  const isPosition = following[0] === '['.charCodeAt(0)
  const token = {
    ...carried,
    snapshotId: snapshot.snapshot.id,
    pageSize,
    given: offset + limit,
    from: isPosition ? readPosition(following.toString('utf8')) : null,
    now: asksForTime(request) ? now.toISOString() : null,
  }
  return nextLink(request, token, service.links)
}

/** The link to what follows a page that is written in a format without a place for it; null when nothing follows. */
export async function linkAfter(
  exchange: ChosenExchange,
  query: BoundQuery,
  page: ResultPage,
): Promise<string | null> {
  // Only where the page ends counts, and that doesn't depend on what is written of its rows.
  const rows = { ...query, output: query.output.slice(0, 1) }
  await using found = await openPage(exchange, rows, page)
  for await (const _ of found.chunks());
  const { following } = found
  const carried = { count: null, isTracked: false }
  return following === null ? null : linkBefore(exchange, page, following, carried)
}

async function* streamed(head: Buffer, found: Query, tail: () => Buffer) {
  yield head
  let comma = ','.length
  for await (const rows of found.chunks()) {
    yield rows.subarray(comma)
    comma = 0
  }
  yield tail()
}

/** Everything before the first row. */
export function collectionHead(
  { contextUrl, count }: { readonly contextUrl: string; readonly count: string | null },
  { metadata, ieee754 }: JsonFormat,
): string {
  const context = metadata === 'none' ? '' : `"@odata.context":${JSON.stringify(contextUrl)},`
  const total = count === null ? '' : `"@odata.count":${ieee754 ? `"${count}"` : count},`
  return `{${context}${total}"value":[`
}

export function collectionTail(link: Link | null): string {
  return link === null ? ']}' : `],"@odata.${link.name}":${JSON.stringify(link.url)}}`
}

interface Link {
  readonly name: 'nextLink' | 'deltaLink'
  readonly url: string
}
