// The public port: events in, and whether the daemon is well.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Who } from '../access/credential.ts'
import { hasExpired } from '../access/hashed-tokens.ts'
import { signatureHeaders } from '../access/signed-senders.ts'
import type { RequestKey } from '../buffer/request-key.ts'
import type { ModelName } from '../core/names.ts'
import { logSender } from '../http/access-log.ts'
import { challenging } from '../http/auth.ts'
import { pageHeaders } from '../http/cors.ts'
import { readBody } from '../http/body.ts'
import type { FrontRoutes, PostAnswer, PostRoute, RequestHead } from '../http/head.ts'
import { RequestError } from '../http/request-error.ts'
import type { Handler } from '../http/server.ts'
import { unreadHeaders } from '../http/unread-headers.ts'
import {
  accept,
  acceptHere,
  acceptOnce,
  type AcceptOptions,
  type BodyFormat,
  findTarget,
  type Receipt,
} from './accept.ts'
import { bufferRefusal } from './buffer-refusal.ts'
import { mediaType, unsupportedMedia } from './read/media-type.ts'
import { deliveryKey, readRequestKey } from './read/idempotency.ts'
import { notFound, requireMethod, splitPath } from './path.ts'
import { requireProgram, requireSender, type Senders } from './senders.ts'
import type { Validators } from './targets.ts'
import type { Warning } from './validate/misspelt.ts'

export interface IngestOptions extends AcceptOptions {
  readonly validators: () => Validators
  readonly health: Handler
  /** Address that the port is open on. */
  readonly host: string
  /** Origins of web pages that may send events to a loopback address. */
  readonly allowedOrigins: readonly string[]
  readonly senders: () => Senders
  readonly acceptTextPlain: boolean
}

export function createIngest(options: IngestOptions): Handler {
  return (request, response) => {
    requireProgram(request, options.host, options.allowedOrigins)
    const place = readPlace(request.url!)
    if (place === null) throw notFound(request.url!, meantPath(request.url!, options.validators()))
    if (place === 'health') return options.health(request, response)
    return collect(options, request, response, place)
  }
}

/** The same for the fast path: it asks once per head, and what is rejected here is rejected by the handler above. */
export function createRoutes(options: IngestOptions): FrontRoutes['routeOf'] {
  return (head) => {
    try {
      requireProgram(head, options.host, options.allowedOrigins)
      const place = readPlace(head.url)
      if (place === null || place === 'health') return null
      const senders = options.senders()
      const who = requireSender(senders, head, place.target)
      // A key that has to be fetched takes longer than this path has.
      if (who instanceof Promise) {
        who.catch(() => undefined)
        return null
      }
      const route = routeTo(options, head, place, senders, who)
      const { origin } = head.headers
      if (origin === undefined) return route
      return { ...route, answerHeaders: pageHeaders(options.allowedOrigins, origin) }
    } catch (error) {
      if (error instanceof RequestError) return null
      throw error
    }
  }
}

function routeTo(
  options: IngestOptions,
  head: RequestHead,
  place: EventsPlace,
  senders: Senders,
  who: Who,
): PostRoute {
  // One text for all requests: maps find what they know without reading it again.
  const { target } = findTarget(options.validators(), place.schema, place.table)
  const format = formatOf(head, place.isBatch, options)
  const isTold = who?.requireBody !== undefined || 'idempotency-key' in head.headers
  return {
    maxBodyBytes: maxBodyBytes(place, options),
    isTold,
    isCurrent: () => options.senders() === senders && (who === null || !hasExpired(who)),
    take(body, told) {
      const validators = options.validators()
      const validator = validators.get(target)
      const to =
        validator === undefined
          ? findTarget(validators, place.schema, place.table)
          : { target, validator }
      const key = isTold ? keyOf(who, { headers: told }, body) : null
      if (key !== null) return answerOnce(acceptOnce(options, to, format, body, key))
      const { count, warnings, ready } = acceptHere(options, to, format, body)
      return { body: acceptedBody(count, warnings), ready }
    },
    toRefusal: bufferRefusal,
  }
}

/**
 * Headers that differ from request to request and say nothing of who sends what where: what gives a request its key, its
 * signature, and what proxies and tracers add.
 */
export const changingHeaders: readonly string[] = [
  'idempotency-key',
  ...signatureHeaders,
  'x-github-delivery',
  'x-hub-signature',
  'forwarded',
  ...unreadHeaders,
]

/** What is answered is known when the events are stored, by this request or by an earlier one. */
function answerOnce(stored: Promise<Receipt>): PostAnswer {
  let body = ''
  const ready = stored.then(({ count, warnings }) => {
    body = acceptedBody(count, warnings)
  })
  return { body: () => body, ready }
}

interface EventsPlace {
  readonly schema: string
  readonly table: string
  /** Of both. */
  readonly target: string
  readonly isBatch: boolean
}

/** What a URL of this port means; null for nothing. */
function readPlace(url: string): EventsPlace | 'health' | null {
  const segments = splitPath(url)
  const [room, schema, table, batch] = segments
  if (room === 'collect' && schema !== undefined && table !== undefined) {
    const target = `${schema}.${table}`
    const isBatch = segments.length === 4 && batch === 'batch'
    if (isBatch || segments.length === 3) return { schema, table, target, isBatch }
  }
  return room === 'health' && segments.length === 1 ? 'health' : null
}

/** For a path that leads nowhere, the one that was most likely meant. */
function meantPath(url: string, validators: Validators): string {
  const segments = splitPath(url).filter((segment) => segment !== '' && segment !== 'collect')
  const isBatch = segments.at(-1) === 'batch'
  const [schema, table] = segments.flatMap((segment) => segment.split('.'))
  const target = `${schema}.${table}` as ModelName
  if (validators.has(target))
    return `did you mean /collect/${schema}/${table}${isBatch ? '/batch' : ''}?`
  if (['metrics', 'flush'].includes(segments[0] ?? ''))
    return `/${segments[0]} is on the admin port (collect.admin_port)`
  return 'events go to POST /collect/{schema}/{table}'
}

const maxBodyBytes = ({ isBatch }: EventsPlace, options: IngestOptions) =>
  isBatch ? options.maxBatchBytes : options.maxEventBytes

function collect(
  options: IngestOptions,
  request: IncomingMessage,
  response: ServerResponse,
  place: EventsPlace,
): Promise<void> {
  requireMethod(request.method, ['POST'])
  const who = requireSender(options.senders(), request, place.target)
  const collectFrom = (sender: Who) => collectOf(sender, options, request, response, place)
  return who instanceof Promise ? who.then(collectFrom) : collectFrom(who)
}

function collectOf(
  who: Who,
  options: IngestOptions,
  request: IncomingMessage,
  response: ServerResponse,
  place: EventsPlace,
): Promise<void> {
  const to = findTarget(options.validators(), place.schema, place.table)
  const format = formatOf(request, place.isBatch, options)
  return readBody(response, maxBodyBytes(place, options), sizeHint(place))
    .then((body) => {
      const key = keyOf(who, request, body)
      if (who?.requireBody !== undefined) logSender(request, { webhook: who.name })
      return accept(options, to, format, body, key)
    })
    .then(
      (stored) => sendAccepted(response, stored),
      (error: unknown) => {
        throw bufferRefusal(error)
      },
    )
}

/** The key of a request, if it has one. Throws 401 for a body that is not signed as it should be. */
function keyOf(who: Who, request: RequestHead, body: Buffer): RequestKey | null {
  if (who?.requireBody === undefined) return readRequestKey(request, body)
  challenging(() => who.requireBody!(body, request.headers, Date.now()))
  return deliveryKey(who.name, body)
}

const sizeHint = ({ isBatch }: EventsPlace) =>
  isBatch ? '(collect.max_batch_bytes); send several batches' : '(collect.max_event_bytes)'

function formatOf(
  { headers }: RequestHead,
  isBatch: boolean,
  { acceptTextPlain }: IngestOptions,
): BodyFormat {
  const format = mediaType(headers['content-type'], acceptTextPlain)
  if (isBatch) return format
  if (format === 'json') return 'event'
  throw unsupportedMedia(
    'this path takes one event as JSON',
    'send NDJSON to the same path with /batch at the end',
  )
}

/** 202, and only after the buffer has the events on disk (docs/collect.md, What 202 means). */
function sendAccepted(response: ServerResponse, { count, warnings }: Receipt): void {
  const body = acceptedBody(count, warnings)
  response.writeHead(202, ['Content-Type', 'application/json', 'Content-Length', body.length])
  // Written before the end, head and body are one string and one system call; Node corks the socket otherwise.
  response.write(body, 'latin1')
  response.socket?.uncork()
  response.end()
}

const ONE_ACCEPTED = '{"accepted":1}'

/** In ASCII, since its length is counted in characters; names of fields may have others. */
const acceptedBody = (count: number, warnings: readonly Warning[]) =>
  warnings.length === 0
    ? count === 1
      ? ONE_ACCEPTED
      : `{"accepted":${count}}`
    : `{"accepted":${count},"warnings":${toAscii(JSON.stringify(warnings))}}`

const toAscii = (json: string) =>
  json.replaceAll(
    /[^\0-\x7f]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
