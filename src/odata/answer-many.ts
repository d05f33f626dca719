// The answer to a request for a collection: one page of it, and where the next one begins.

import { limits } from '../core/limits.ts'
import { asksForTime, contextUrl, type Exchange } from './answer.ts'
import { countOf, requireParent } from './answer-one.ts'
import type { Addressed, BoundQuery } from './bound.ts'
import { entityTextsSql } from './expand-sql.ts'
import { keysetOf, keysetWindow } from './keyset.ts'
import type { JsonFormat } from './negotiate.ts'
import { nextLink, readPosition } from './paging.ts'
import type { Content } from './plan-answer.ts'
import type { Preferences } from './preferences.ts'
import { Query } from './query.ts'
import { collectionHead, collectionTail } from './write-json.ts'

interface Page {
  /** Rows before it, counted after $skip. */
  readonly offset: number
  readonly size: number
  /** Rows that it has at most: fewer than its size where $top ends. */
  readonly limit: number
}

export async function collection(
  exchange: Exchange,
  addressed: Addressed,
  format: JsonFormat,
  preferences: Preferences,
): Promise<Content> {
  const { query } = addressed
  const { request, resources } = exchange
  const page = pageOf(exchange, query, preferences)
  const total = query.withCount ? (exchange.token?.count ?? (await countOf(exchange, query))) : null
  const found = resources.use(await openPage(exchange, query, page, format))
  await requireParent(exchange, addressed, found.whole?.length === 0)
  const context = contextUrl(request, query.contextFragment)
  const head = Buffer.from(collectionHead({ contextUrl: context, count: total }, format))
  const tail = () => Buffer.from(collectionTail(linkBehind(exchange, page, found, total)))
  const all = found.whole
  const body =
    all === null
      ? streamed(head, found, tail)
      : Buffer.concat([head, all.subarray(','.length), tail()])
  return { body, rows: () => found.rows }
}

function pageOf(
  { service, token }: Exchange,
  { expand, top }: BoundQuery,
  { maxPageSize }: Preferences,
): Page {
  const offset = token?.given ?? 0
  const asked = maxPageSize ?? token?.pageSize ?? service.pageSize
  // Rows with others inside are written only when all of a page are at hand.
  const largest = expand.length === 0 ? service.maxPageSize : limits.wholeResultRows
  const size = Math.min(asked, service.maxPageSize, largest)
  return { offset, size, limit: Math.min(size, Math.max(0, (top ?? Infinity) - offset)) }
}

async function openPage(
  { engine, token }: Exchange,
  query: BoundQuery,
  { offset, limit }: Page,
  format: JsonFormat,
): Promise<Query> {
  const atMost = Math.min(limit, query.set.relation.rows)
  const mode = atMost <= limits.wholeResultRows ? 'whole' : 'streamed'
  // One row more than the page tells whether there is a next one; to-sql never goes beyond $top. A stream in stored
  // order is left when the page is full: the engine would collect the rows of a LIMIT before it gives the first.
  const isLeft = mode === 'streamed' && query.order.length === 0
  const order = keysetOf(query)
  const keyset = order === null ? null : keysetWindow(order, token?.from ?? null, limit)
  const window = { offset, limit: isLeft ? null : limit + 1, keyset }
  return await Query.open(engine, entityTextsSql(query, window, format), { maxRows: limit, mode })
}

/** null behind the last page. */
function linkBehind(
  { request, service, snapshot, now }: Exchange,
  { offset, size, limit }: Page,
  { following }: Query,
  count: string | null,
): string | null {
  if (following === null) return null
  const text = following.toString('utf8')
  const token = {
    snapshotId: snapshot.snapshot.id,
    pageSize: size,
    given: offset + limit,
    from: text.startsWith('[') ? readPosition(text) : null,
    count,
    now: asksForTime(request) ? now.toISOString() : null,
    isTracked: false,
  }
  return nextLink(request.root, request.target, token, service.links)
}

async function* streamed(
  head: Buffer,
  found: Query,
  tail: () => Buffer,
): AsyncGenerator<Buffer, void> {
  let before: Buffer | null = head
  for await (const rows of found.chunks()) {
    yield before === null ? rows : Buffer.concat([before, rows.subarray(','.length)])
    before = null
  }
  yield tail()
}
