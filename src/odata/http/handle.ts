// One HTTP request: authentication, routing, and the answer when it fails.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { limits } from '../../core/limits.ts'
import type { Logger } from '../../core/logger.ts'
import { Resources } from '../../core/resources.ts'
import type { Reader } from '../../access/reader.ts'
import { whenAnswered } from '../../http/request-end.ts'
import { acceptedCodings } from '../../http/content-coding.ts'
import { METRICS_TYPE, metricsText } from '../../http/prometheus.ts'
import { readBody } from '../../http/body.ts'
import { RequestError } from '../../http/request-error.ts'
import { sendError, sendJson, sendText } from '../../http/respond.ts'
import type { Repeats } from '../../http/repeats.ts'
import type { Handler } from '../../http/server.ts'
import type { SideDoor } from '../../http/side-door.ts'
import type { SidePages } from '../../http/side-pages.ts'
import { answerGet, unlessUnchanged } from '../answer/get.ts'
import { headersInKey } from './answers.ts'
import { noteEnd } from './note-end.ts'
import { offerAgain } from './offer-again.ts'
import { askWithin } from '../answer/ask-within.ts'
import { answerBatch } from './batch.ts'
import { batchFormat, parseContinueOnError } from './batch-format.ts'
import { errorPage, isForPerson } from './error-page.ts'
import { odataError, unknownResource } from '../protocol/errors.ts'
import type { Answer, ODataRequest, ServiceContext } from '../answer/context.ts'
import {
  isNavigationToRoot,
  requireHost,
  sendSeeOther,
  type KnownReaders,
  pageFor,
  requireAll,
  seenBy,
  readerAtOnce,
  readerFor,
} from './who-asks.ts'
import { health, type MetricSources, odataMetrics } from './metrics.ts'
import { negotiateVersion, type ODataVersion } from '../protocol/negotiate.ts'
import { splitTarget } from '../syntax/parse-request.ts'
import type { Fellows } from '../engine/fellows.ts'
import { ClientGone } from '../engine/query.ts'
import { csvAsFile, withRange } from './send-answer.ts'
import { sendAnswer } from './send-answer.ts'
import { ROOT_PATH, rootUrl } from '../protocol/service-root.ts'

interface HandlerContext extends ServiceContext, MetricSources {
  readonly maxBatchRequests: number
  /** The address that the service listens on. */
  readonly host: string
  /** Who may ask now. */
  readonly known: () => KnownReaders
  /** Whether a proxy before the service says how clients reach it. */
  readonly trustProxy: boolean
  /** Time in which a client must take a byte of its answer. */
  readonly stalledClientMs: number
  /** What people see who open the service in a browser; null for nothing. */
  readonly pages: SidePages | null
  /** Another protocol for the same answers; null for none. */
  readonly door: SideDoor | null
  readonly accessLog: boolean
  readonly logger: Logger
  readonly fellows: Fellows
  /** What may answer requests that come again. */
  readonly repeats: Repeats
}

/** What is known of a request while it is handled; the log line is written from it. */
interface HttpExchange {
  readonly context: HandlerContext
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** null until it is known who asks. */
  reader: Reader | null
  gone: AbortSignal
  version: ODataVersion
  rows: () => number
  refusedAs: string | null
}

const NEVER = new AbortController().signal

export function createHandler(context: HandlerContext): Handler {
  const handleNow = handlerOf(context)
  const handleInTurn: Handler = (request, response) => {
    const { pause } = context.fellows
    return pause === null
      ? handleNow(request, response)
      : pause.then(() => handleInTurn(request, response))
  }
  return handleInTurn
}

function handlerOf(context: HandlerContext): Handler {
  return (request, response) => {
    const exchange: HttpExchange = {
      context,
      request,
      response,
      reader: null,
      gone: NEVER,
      version: '4.01',
      rows: () => 0,
      refusedAs: null,
    }
    context.traffic.begin()
    whenAnswered(response, (end) => noteEnd(context, notedOf(exchange), end))
    const known = findKnown(exchange)
    return known === null ? handle(exchange) : answerKnown(exchange, known)
  }
}

const notedOf = ({ request: { method, url }, rows, refusedAs, reader }: HttpExchange) => {
  return { method, url, rows, refusedAs, reader }
}

async function handle(exchange: HttpExchange): Promise<void> {
  const gone = new AbortController()
  exchange.gone = gone.signal
  const stopWatching = watchClient(exchange, gone)
  exchange.response.once('close', () => {
    stopWatching()
    // An abort makes an error with a stack, even when nothing listens any more.
    if (!exchange.response.writableFinished) gone.abort()
  })
  try {
    exchange.version = negotiateVersion(exchange.request.headers)
    await route(exchange)
  } catch (error) {
    fail(exchange, error)
  }
}

/**
 * What is known is known by the Host header too, which was checked when the first answer was made.
 */
function findKnown(exchange: HttpExchange): Answer | null {
  const { context, request } = exchange
  const { snapshots, answers } = context
  const { method, url = '', headers } = request
  if (method !== 'GET' && method !== 'HEAD') return null
  if (context.pages !== null && isNavigationToRoot(request)) return null
  const reader = (exchange.reader = readerAtOnce(context, request))
  if (reader === null) return null
  return answers.find({ snapshotId: snapshots.currentId, url, headers, reader, gone: NEVER })
}

async function answerKnown(exchange: HttpExchange, known: Answer): Promise<void> {
  try {
    const learn = offerAgain(exchange, known)
    const answer = unlessUnchanged(exchange.request.headers, known)
    const body = await send(exchange, answer)
    learn?.(answer, body)
  } catch (error) {
    fail(exchange, error)
  }
}

/**
 * A client may close its sending side and still wait for the answer, or it may be gone: both look the same. One whose
 * answer has not begun a moment later is taken to be gone, so that its query does not keep DuckDB busy.
 */
function watchClient({ request, response }: HttpExchange, gone: AbortController): () => void {
  let timer: NodeJS.Timeout | undefined
  const onEnd = () => {
    timer = setTimeout(() => {
      if (!response.headersSent) gone.abort()
    }, limits.halfClosedMs)
  }
  const { socket } = request
  if (socket.readableEnded) onEnd()
  else socket.once('end', onEnd)
  return () => {
    socket.off('end', onEnd)
    clearTimeout(timer)
  }
}

async function route(exchange: HttpExchange): Promise<void> {
  const { context, request, response } = exchange
  const host = requireHost(request, context.host)
  const url = request.url ?? ''
  const [path = ''] = url.split('?', 1)
  if (path === '/health') {
    requireMethod(request, ['GET', 'HEAD'])
    const body = await health(context)
    sendJson(response, body.status === 'failed' ? 503 : 200, body, versionHeader(exchange))
    return
  }
  const asked = exchange.reader ?? readerFor(context, request)
  const reader = (exchange.reader = asked instanceof Promise ? await asked : asked)
  if (path === '/metrics') {
    requireAll(reader)
    requireMethod(request, ['GET', 'HEAD'])
    const families = await context.fellows.addUp(await odataMetrics(context))
    const text = metricsText(families)
    return sendText(response, 200, METRICS_TYPE, text, versionHeader(exchange))
  }
  const root = rootUrl(host, context.trustProxy ? request.headers : {})
  if (path === context.door?.path) return await throughDoor(exchange, context.door, root)
  if (path !== ROOT_PATH && !path.startsWith(`${ROOT_PATH}/`)) return await sendPage(exchange)
  if (context.pages !== null && isNavigationToRoot(request))
    return sendSeeOther(response, path === ROOT_PATH ? './' : '../')
  await routeBelowRoot(exchange, {
    target: url.slice(ROOT_PATH.length).replace(/^\//, ''),
    root,
    headers: request.headers,
    version: exchange.version,
    gone: exchange.gone,
    wantsFile: wantsFile(request),
  })
}

/** With the links of who asks, which route() has found out. */
const serviceFor = (exchange: HttpExchange): HandlerContext =>
  seenBy(exchange.context, exchange.reader!)

async function throughDoor(exchange: HttpExchange, door: SideDoor, root: string): Promise<void> {
  let rows = 0
  exchange.rows = () => rows
  const onRows = (more: number) => (rows += more)
  const asked = askWithin(serviceFor(exchange), { root, gone: exchange.gone, onRows })
  await door.handle(exchange.request, exchange.response, asked)
}

async function sendPage(exchange: HttpExchange): Promise<void> {
  const { context, request } = exchange
  const [path] = splitTarget(request.url ?? '')
  const page = await pageFor(context, exchange.reader!, path)
  if (page === null) {
    const place = context.pages === null ? '' : ', the explorer /'
    throw unknownResource(
      `there is nothing at ${path.slice(0, 60)}; the service root is ${ROOT_PATH}${place}`,
    )
  }
  requireMethod(request, ['GET', 'HEAD'])
  const headers = { ...page.headers, Vary: 'Accept-Encoding, Origin' }
  await send(exchange, unlessUnchanged(request.headers, { ...page, headers, rows: () => 0 }))
}

/** Readers of files by URL ask how long one is, and then for its parts. */
const wantsFile = ({ method, headers }: IncomingMessage) =>
  headers['range'] !== undefined ||
  (method === 'HEAD' && acceptedCodings(headers['accept-encoding'])?.best === 'identity')

async function routeBelowRoot(exchange: HttpExchange, asked: ODataRequest): Promise<void> {
  const { request, response } = exchange
  const [path = ''] = asked.target.split('?', 1)
  await using resources = new Resources()
  if (/^(\$|%24)batch\/?$/i.test(path)) return await sendBatch(exchange, asked, resources)
  if (request.method === 'POST' && /\/(\$|%24)query$/i.test(path)) {
    const query = await longQuery(exchange, asked)
    await send(exchange, await answerGet(serviceFor(exchange), query, resources))
    return
  }
  requireMethod(request, ['GET', 'HEAD', 'OPTIONS'])
  if (request.method === 'OPTIONS') {
    response.writeHead(204, { ...versionHeader(exchange), Allow: 'GET, HEAD, OPTIONS' }).end()
    return
  }
  await send(exchange, await answerOf(exchange, request.url ?? '', asked, resources))
}

/** `url` is that of `asked` from the root of the server. */
function answerOf(exchange: HttpExchange, url: string, asked: ODataRequest, resources: Resources) {
  const { answers, snapshots } = exchange.context
  const { headers, gone } = asked
  const service = serviceFor(exchange)
  const { reader } = service
  const make = () => answerGet(service, { ...asked, headers: headersInKey(headers) }, resources)
  return answers.answer({ snapshotId: snapshots.currentId, url, headers, reader, gone }, make)
}

/** A query too long for a URL stands in the body, as it would in the URL (URL conventions 4.17). */
async function longQuery(
  { request, response }: HttpExchange,
  asked: ODataRequest,
): Promise<ODataRequest> {
  const [type = ''] = (request.headers['content-type'] ?? '').split(';', 1)
  if (!['text/plain', 'application/x-www-form-urlencoded'].includes(type.trim().toLowerCase()))
    throw odataError(
      'unsupported-media-type',
      '$query takes text/plain or application/x-www-form-urlencoded',
      'Content-Type',
    )
  const body = await readBody(response, limits.urlBytes)
  const [path, query] = splitTarget(asked.target)
  const all = [query, body.toString('utf8').trim().replace(/^\?/, '')].filter((part) => part !== '')
  return { ...asked, target: `${path.replace(/\/[^/]*$/, '')}?${all.join('&')}` }
}

async function sendBatch(exchange: HttpExchange, carrier: ODataRequest, resources: Resources) {
  const { context, request, response } = exchange
  requireMethod(request, ['POST', 'HEAD', 'OPTIONS'])
  if (request.method !== 'POST') {
    // SAP Cloud SDK requests a CSRF token this way before it posts.
    const status = request.method === 'HEAD' ? 200 : 204
    response.writeHead(status, { ...versionHeader(exchange), Allow: 'POST, HEAD, OPTIONS' }).end()
    return
  }
  const format = batchFormat(request.headers)
  const body = await readBody(response, limits.batchBodyBytes)
  const requests = format.parse(body, context.maxBatchRequests)
  const snapshot = resources.use(context.snapshots.lease())
  const toRequestError = (error: unknown) => shownError(exchange, error)
  const { continueOnError, applied } = parseContinueOnError(
    request.headers,
    format.continuesOnError,
  )
  const headers = {
    ...versionHeader(exchange),
    'Content-Type': format.contentType,
    'Eider-Snapshot': snapshot.snapshot.id,
    Vary: 'Accept-Encoding, Origin',
    ...(applied === null ? {} : { 'Preference-Applied': applied }),
  }
  const { answers: known } = context
  const options = { carrier, snapshot, answers: known, continueOnError, toRequestError }
  const answers = format.write(answerBatch(serviceFor(exchange), requests, options))
  await send(exchange, { status: 200, headers, body: answers, rows: () => 0 })
}

async function send(exchange: HttpExchange, found: Answer): Promise<Buffer | null> {
  const { context, request, response, gone } = exchange
  exchange.rows = found.rows
  const { file = wantsFile(request) ? csvAsFile(found) : undefined } = found
  const codings = acceptedCodings(request.headers['accept-encoding'])
  if (codings === null || (file !== undefined && !codings.identity))
    throw odataError(
      'not-acceptable',
      'answers are sent as br, gzip or identity',
      'Accept-Encoding',
    )
  const answer =
    file === undefined ? found : withRange(request.method, request.headers, { ...found, file })
  const { answers, traffic, stalledClientMs } = context
  const receiver = {
    gone,
    codings,
    answers,
    stalledClientMs,
    onBytes: (bytes: number) => traffic.send(bytes),
  }
  return await sendAnswer(response, answer, receiver)
}

const versionHeader = ({ version }: HttpExchange) => ({ 'OData-Version': version })

function fail(exchange: HttpExchange, error: unknown): void {
  const { writableEnded: isAnswered, req } = exchange.response
  // The server has refused the rest of a request that is no HTTP: the answer of its handler is too late, which is no bug.
  if (isAnswered && !req.complete) return
  if (error instanceof ClientGone || exchange.gone.aborted) return void exchange.response.destroy()
  const shown = shownError(exchange, error)
  exchange.refusedAs = shown.code
  exchange.context.traffic.refuse(shown.code)
  const { request, response } = exchange
  const page = isForPerson(request) ? errorPage(shown, request.url ?? '') : undefined
  sendError(response, shown, versionHeader(exchange), page)
}

/** Words of DuckDB go to the log, never to the client. */
function shownError({ context, request }: HttpExchange, error: unknown): RequestError {
  if (error instanceof RequestError) return error
  context.logger.error('request-failed', { url: request.url, error })
  return odataError('internal-error', 'the request failed; the log of the server says why')
}

function requireMethod({ method = '' }: IncomingMessage, allowed: readonly string[]): void {
  if (allowed.includes(method)) return
  const why = allowed.includes('POST') ? 'send POST' : 'the data is read-only'
  throw odataError('method-not-allowed', `${method} is not allowed here: ${why}`, {
    headers: { Allow: allowed.join(', ') },
  })
}
