// The public port: events in, and whether the daemon is well.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { EventBuffer } from '../buffer/buffer.ts'
import type { RequestKey } from '../buffer/request-key.ts'
import type { ModelName } from '../core/names.ts'
import { logSender } from '../http/access-log.ts'
import { hasExpired } from '../http/auth.ts'
import { readBody } from '../http/body.ts'
import type { FrontRoutes, PostRoute, RequestHead } from '../http/head.ts'
import { RequestError } from '../http/request-error.ts'
import type { Handler } from '../http/server.ts'
import { bufferRefusal } from './buffer-refusal.ts'
import { requireProgram } from './callers.ts'
import type { BatchReaders, ReadBatch } from './read/batch-readers.ts'
import { type MediaType, mediaType, unsupported } from './read/media-type.ts'
import { readRequestKey } from './read/idempotency.ts'
import { notFound, requireMethod, splitPath } from './path.ts'
import { type Events, readEvent, readJsonBatch, readNdjsonBatch } from './read/read-events.ts'
import { requireSender, type Senders, webhookOf } from './senders.ts'
import { deliveryKey, readSignature, requireSigned } from './signature.ts'
import { type Validators, unknownTarget } from './targets.ts'
import { MisspeltFields, type Warning } from './validate/misspelt.ts'
import type { Validator } from './validate/validate-event.ts'

export interface IngestOptions {
  readonly buffer: EventBuffer
  readonly readers: BatchReaders
  /** The current validators. */
  readonly validators: () => Validators
  /** GET /health. */
  readonly health: Handler
  /** Address that the port is open on. */
  readonly host: string
  /** Origins of web pages that may send events to a loopback address. */
  readonly allowedOrigins: readonly string[]
  /** Who may send events now. */
  readonly senders: () => Senders
  readonly maxEventBytes: number
  readonly maxBatchBytes: number
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
      // What is signed has to be looked at before it is taken.
      if (webhookOf(options.senders(), head, targetOf(place)) !== null) return null
      return routeTo(options, head, place)
    } catch (error) {
      if (error instanceof RequestError) return null
      throw error
    }
  }
}

function routeTo(options: IngestOptions, head: RequestHead, place: EventsPlace): PostRoute {
  const senders = options.senders()
  const token = requireSender(senders, head, targetOf(place))
  // One text for all requests: maps find what they know without reading it again.
  const { target } = findValidator(options.validators(), place)
  const { read } = readerFor(head, place.isBatch, options)
  return {
    maxBodyBytes: maxBodyBytes(place, options),
    isCurrent: () => options.senders() === senders && (token === null || !hasExpired(token)),
    take(body) {
      const validators = options.validators()
      const validator = validators.get(target) ?? findValidator(validators, place).validator
      const misspelt = new MisspeltFields()
      const events = read(validator, body, misspelt)
      const ready = options.buffer.append(target, events, serverTime())
      return { body: acceptedBody(events.length, misspelt.warnings(target)), ready }
    },
    toRefusal: bufferRefusal,
  }
}

interface EventsPlace {
  readonly schema: string
  readonly table: string
  readonly isBatch: boolean
}

const targetOf = ({ schema, table }: Pick<EventsPlace, 'schema' | 'table'>): string =>
  `${schema}.${table}`

/** What a URL of this port means; null for nothing. */
function readPlace(url: string): EventsPlace | 'health' | null {
  const segments = splitPath(url)
  const [room, schema, table, batch] = segments
  if (room === 'collect' && schema !== undefined && table !== undefined) {
    if (segments.length === 3) return { schema, table, isBatch: false }
    if (segments.length === 4 && batch === 'batch') return { schema, table, isBatch: true }
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
  const requestKeyOf = requireKnownSender(options.senders(), request, targetOf(place))
  const known = findValidator(options.validators(), place)
  const reader = readerFor(request, place.isBatch, options)
  return readBody(request, maxBodyBytes(place, options), sizeHint(place))
    .then((body) => store(options, known, requestKeyOf(body), body, reader))
    .then((stored) => sendAccepted(response, stored), refuse)
}

/**
 * Throws 401 and 403 for a sender who may not post here. What it returns throws 401 for a body that is not signed, and
 * else gives the key of the request.
 */
function requireKnownSender(
  senders: Senders,
  request: IncomingMessage,
  target: string,
): (body: Buffer) => RequestKey | null {
  const webhook = webhookOf(senders, request, target)
  if (webhook === null) {
    requireSender(senders, request, target)
    return (body) => readRequestKey(request, body)
  }
  const signature = readSignature(webhook, request.headers)
  return (body) => {
    requireSigned(webhook, signature, body, Date.now())
    logSender(request, { webhook: webhook.name })
    return deliveryKey(webhook, body)
  }
}

const sizeHint = ({ isBatch }: EventsPlace) =>
  isBatch ? '(collect.max_batch_bytes); send several batches' : '(collect.max_event_bytes)'

interface Reader {
  readonly format: MediaType
  readonly isBatch: boolean
  readonly read: (validator: Validator, body: Buffer, misspelt: MisspeltFields) => Events
}

interface Stored {
  readonly count: number
  readonly warnings: readonly Warning[]
}

/**
 * The events are on disk when it resolves. In steps, each of which keeps nothing of the one before: many bodies would stay
 * in memory while they wait for the disk.
 */
function store(
  options: IngestOptions,
  known: KnownTarget,
  key: RequestKey | null,
  body: Buffer,
  reader: Reader,
): Promise<Stored> {
  if (key !== null) return storeOnce(options, known, key, body, reader)
  const { format, isBatch } = reader
  const { readers, maxEventBytes, maxBatchBytes } = options
  const batch = { ...known, format, body, maxEventBytes, maxBatchBytes }
  const apart = isBatch ? readers.read(batch) : null
  const put = (batch: ReadBatch) => storeBatch(options, known, batch)
  return apart === null ? put(readHere(known, body, reader)) : apart.then(put)
}

/** Only the first request with a key is read, at the moment when it is the first. */
function storeOnce(
  { buffer }: IngestOptions,
  { target, validator }: KnownTarget,
  key: RequestKey,
  body: Buffer,
  { read }: Reader,
): Promise<Stored> {
  const misspelt = new MisspeltFields()
  return buffer
    .appendOnce(target, key, () => read(validator, body, misspelt), serverTime())
    .then((count) => ({ count, warnings: misspelt.warnings(target) }))
}

function readHere({ target, validator }: KnownTarget, body: Buffer, { read }: Reader): ReadBatch {
  const misspelt = new MisspeltFields()
  const events = read(validator, body, misspelt)
  return { events, warnings: misspelt.warnings(target) }
}

function storeBatch(
  { buffer }: IngestOptions,
  { target }: KnownTarget,
  { events, warnings }: ReadBatch,
): Promise<Stored> {
  const count = events.length
  return buffer.append(target, events, serverTime()).then(() => ({ count, warnings }))
}

function refuse(error: unknown): never {
  throw bufferRefusal(error)
}

interface KnownTarget {
  readonly target: ModelName
  readonly validator: Validator
}

function findValidator(validators: Validators, { schema, table }: EventsPlace): KnownTarget {
  // Only names of models are keys, so another text is never found.
  const target = targetOf({ schema, table }) as ModelName
  const validator = validators.get(target)
  if (validator === undefined) throw unknownTarget(schema, table, validators.keys())
  return { target, validator }
}

function readerFor(
  request: RequestHead,
  isBatch: boolean,
  { maxEventBytes, maxBatchBytes, acceptTextPlain }: IngestOptions,
): Reader {
  const format = mediaType(request.headers['content-type'], acceptTextPlain)
  if (format === 'ndjson' && !isBatch)
    throw unsupported(
      'this path takes one event as JSON',
      'send NDJSON to the same path with /batch at the end',
    )
  const read = !isBatch ? readEvent : format === 'ndjson' ? readNdjsonBatch : readJsonBatch
  return {
    format,
    isBatch,
    read: (validator, body, misspelt) =>
      read(validator, body, maxEventBytes, maxBatchBytes, misspelt),
  }
}

/** 202, and only after the buffer has the events on disk (docs/collect.md, What 202 means). */
function sendAccepted(response: ServerResponse, { count, warnings }: Stored): void {
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

let timeMs = 0
let timeText = ''

/** Now, ISO 8601 in UTC with milliseconds. The text is made once a millisecond. */
function serverTime(): string {
  const now = Date.now()
  if (now !== timeMs) {
    timeMs = now
    timeText = new Date(now).toISOString()
  }
  return timeText
}
