// The answer to one GET below the service root, on one snapshot: parse, bind, ask the engine, put the envelope around.

import { createHash } from 'node:crypto'
import { limits } from '../core/limits.ts'
import type { Resources } from '../core/resources.ts'
import { count, countOf, entity, requireParent, value } from './answer-one.ts'
import { bindRequest } from './bind.ts'
import type { Addressed, BoundRequest, OutputProperty } from './bound.ts'
import { csdlJson, csdlXml } from './csdl.ts'
import { odataError } from './errors.ts'
import { entityTextsSql } from './expand-sql.ts'
import {
  header,
  type JsonFormat,
  jsonContentType,
  negotiateCsdlVersion,
  negotiateJson,
  negotiateMetadata,
  type ODataVersion,
  parsePreferences,
  type Preferences,
  type RequestHeaders,
} from './negotiate.ts'
import type { OpenSnapshot } from './open-snapshot.ts'
import { nextLink, parseSkipToken, type SkipToken } from './paging.ts'
import { parseRequest } from './parse.ts'
import { type EngineAccess, Query } from './query.ts'
import type { QueryGate } from './query-gate.ts'
import type { Snapshots } from './snapshots.ts'
import { collectionHead, collectionTail } from './write-json.ts'

/** What stays the same for all requests. */
export interface ServiceContext {
  readonly snapshots: Snapshots
  readonly gate: QueryGate
  /** Rows of a page when the client asks for no other number. */
  readonly pageSize: number
  readonly maxPageSize: number
  readonly requestTimeoutMs: number
  /** Whether `orders/7` means `orders(7)`. */
  readonly keyAsSegment: boolean
  readonly now: () => Date
}

export interface ODataRequest {
  /** Path below the service root and query, as sent. */
  readonly target: string
  readonly headers: RequestHeaders
  readonly version: ODataVersion
  /** Absolute URL of the service as the client reaches it, with a slash at the end. */
  readonly root: string
  /** Aborted when the client is gone. */
  readonly gone: AbortSignal
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** null: no body. A stream that throws must not look complete to the client. */
  readonly body: Buffer | AsyncIterable<Buffer> | null
  /** Rows sent, for the log; complete when the body is. */
  readonly rows: () => number
}

/** One request while it is answered. `resources` own what the body reads from, so they outlive it. */
export interface Exchange {
  readonly service: ServiceContext
  readonly request: ODataRequest
  readonly resources: Resources
  readonly snapshot: OpenSnapshot
  readonly engine: EngineAccess
  readonly token: SkipToken | null
  readonly format: string | null
}

/**
 * `pinned` is the snapshot of the $batch that the request is part of. `resources` must be disposed of after the body
 * was read. Throws RequestError.
 */
export async function answerGet(
  service: ServiceContext,
  request: ODataRequest,
  resources: Resources,
  pinned: OpenSnapshot | null = null,
): Promise<Answer> {
  const syntax = parseRequest(request.target)
  const { skiptoken, format = null } = syntax.options
  const token = skiptoken === undefined ? null : parseSkipToken(skiptoken)
  const snapshot = resources.use(leaseFor(service.snapshots, token, pinned))
  const clock = { remainingMs: service.requestTimeoutMs }
  const engine = { snapshot, gate: service.gate, clock, gone: request.gone }
  const exchange = { service, request, resources, snapshot, engine, token, format }
  const bound = bindRequest(syntax, snapshot.model, {
    now: service.now(),
    version: request.version,
    keyAsSegment: service.keyAsSegment,
  })
  const plan = planAnswer(exchange, bound)
  const headers = commonHeaders(exchange, plan)
  if (isUnchanged(request.headers, headers['ETag']))
    return { status: 304, headers, body: null, rows: () => 0 }
  const { body, rows } = await plan.make()
  if (body === null) {
    // UI5 makes an ETag a property of the value, and ends with an error where there is none.
    const { ETag: _, ...others } = headers
    return { status: 204, headers: others, body, rows }
  }
  return { status: 200, headers: { ...headers, 'Content-Type': plan.contentType }, body, rows }
}

function leaseFor(
  snapshots: Snapshots,
  token: SkipToken | null,
  pinned: OpenSnapshot | null,
): OpenSnapshot {
  if (token === null) return pinned?.lease() ?? snapshots.lease()
  const snapshot = snapshots.leaseById(token.snapshotId)
  if (snapshot === null)
    throw odataError('snapshot-gone', 'the data of this next link were replaced; begin anew', {
      target: '$skiptoken',
    })
  return snapshot
}

export interface Content {
  /** null: there is no value, which is 204. */
  readonly body: Buffer | AsyncIterable<Buffer> | null
  readonly rows: () => number
}

interface AnswerPlan {
  readonly contentType: string
  readonly preferences: Preferences
  readonly make: () => Content | Promise<Content>
}

const NO_PREFERENCES: Preferences = { maxPageSize: null, applied: null }

function planAnswer(exchange: Exchange, bound: BoundRequest): AnswerPlan {
  const { request, format, snapshot, service } = exchange
  if (bound.kind === 'count') {
    const make = () => count(exchange, bound)
    return { contentType: 'text/plain;charset=utf-8', preferences: NO_PREFERENCES, make }
  }
  if (bound.kind === 'metadata') {
    const isXml = negotiateMetadata(request.headers, format) === 'xml'
    return {
      contentType: isXml ? 'application/xml' : 'application/json',
      preferences: NO_PREFERENCES,
      make: () =>
        whole(
          isXml
            ? csdlXml(snapshot.model, negotiateCsdlVersion(request.headers), service)
            : csdlJson(snapshot.model, request.version, service),
        ),
    }
  }
  if (bound.kind === 'property' && bound.raw) {
    const [{ type }] = bound.query.output as readonly [OutputProperty]
    const isBinary = type.name === 'Edm.Binary'
    return {
      contentType: isBinary ? 'application/octet-stream' : 'text/plain;charset=utf-8',
      preferences: NO_PREFERENCES,
      make: () => value(exchange, bound),
    }
  }
  const json = negotiateJson(request.headers, format)
  const contentType = jsonContentType(json)
  if (bound.kind === 'collection') {
    const preferences = parsePreferences(request.headers)
    const make = () => collection(exchange, bound, json, preferences)
    return { contentType, preferences, make }
  }
  const make =
    bound.kind === 'service-document'
      ? () => whole(serviceDocument(exchange, json))
      : () => entity(exchange, bound, json)
  return { contentType, preferences: NO_PREFERENCES, make }
}

export const whole = (body: Buffer | string): Content => ({
  body: Buffer.from(body),
  rows: () => 0,
})

function commonHeaders(
  { request, snapshot }: Exchange,
  { contentType, preferences }: AnswerPlan,
): Record<string, string> {
  const { id } = snapshot.snapshot
  const headers: Record<string, string> = {
    'OData-Version': request.version,
    'Eider-Snapshot': id,
    'Cache-Control': 'no-cache',
    Vary: 'Accept, OData-MaxVersion, OData-Version, Origin, Prefer',
  }
  if (preferences.applied !== null) headers['Preference-Applied'] = preferences.applied
  // The same request on the same snapshot has the same answer, unless it asks for the time.
  if (!/now(\(|%28)/i.test(request.target)) {
    const { root, target, version, headers: asked } = request
    const versions = [version, negotiateCsdlVersion(asked)]
    const of = [id, root, target, ...versions, contentType, preferences.maxPageSize]
    const hash = createHash('sha256').update(JSON.stringify(of)).digest('base64url')
    headers['ETag'] = `W/"${hash.slice(0, 22)}"`
  }
  return headers
}

function isUnchanged(headers: RequestHeaders, etag: string | undefined): boolean {
  const known = (header(headers, 'if-none-match') ?? '').split(',').map((tag) => tag.trim())
  return etag !== undefined && known.includes(etag)
}

function serviceDocument({ request, snapshot }: Exchange, format: JsonFormat): string {
  const context = format.metadata === 'none' ? {} : { '@odata.context': contextUrl(request) }
  const value = Array.from(snapshot.model.sets.values(), ({ name, relation }) => ({
    name,
    kind: 'EntitySet',
    url: name,
    ...(relation.description === null ? {} : { title: relation.description }),
  }))
  return JSON.stringify({ ...context, value })
}

export const contextUrl = ({ root }: ODataRequest, fragment?: string): string =>
  `${root}$metadata${fragment === undefined ? '' : `#${fragment}`}`

async function collection(
  exchange: Exchange,
  addressed: Addressed,
  format: JsonFormat,
  { maxPageSize }: Preferences,
): Promise<Content> {
  const { query } = addressed
  const { service, request, token, resources, snapshot } = exchange
  const offset = token?.offset ?? 0
  const asked = maxPageSize ?? token?.pageSize ?? service.pageSize
  // Rows with others inside are written only when all of a page are at hand.
  const largest = query.expand.length === 0 ? service.maxPageSize : limits.wholeResultRows
  const pageSize = Math.min(asked, service.maxPageSize, largest)
  const limit = Math.min(pageSize, Math.max(0, (query.top ?? Infinity) - offset))
  const total = query.withCount ? await countOf(exchange, query) : null
  const atMost = Math.min(limit, query.set.relation.rows)
  const mode = atMost <= limits.wholeResultRows ? 'whole' : 'streamed'
  // One row more than the page tells whether there is a next one; to-sql never goes beyond $top. A stream in stored
  // order is left when the page is full: the engine would collect the rows of a LIMIT before it gives the first.
  const isLeft = mode === 'streamed' && query.order.length === 0
  const texts = entityTextsSql(query, { offset, limit: isLeft ? null : limit + 1 }, format)
  const found = resources.use(await Query.open(exchange.engine, texts, { maxRows: limit, mode }))
  await requireParent(exchange, addressed, found.whole?.length === 0)
  const context = contextUrl(request, query.contextFragment)
  const head = Buffer.from(collectionHead({ contextUrl: context, count: total }, format))
  const tail = () => {
    const next = { offset: offset + limit, pageSize, snapshotId: snapshot.snapshot.id }
    const link = found.hasMore ? nextLink(request.root, request.target, next) : null
    return Buffer.from(collectionTail(link))
  }
  const all = found.whole
  const body =
    all === null
      ? streamed(head, found, tail)
      : Buffer.concat([head, all.subarray(','.length), tail()])
  return { body, rows: () => found.rows }
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
