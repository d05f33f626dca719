// $batch in JSON (JSON Format 4.01, 19): several GET requests in one, answered in their order on one snapshot.

import { Resources } from '../core/resources.ts'
import { limits } from '../core/limits.ts'
import { errorBody, type RequestError } from '../http/request-error.ts'
import { type Answer, answerGet, type ODataRequest, type ServiceContext } from './answer.ts'
import { odataError } from './errors.ts'
import { header, negotiateVersion, parseMediaRanges, type RequestHeaders } from './negotiate.ts'
import type { OpenSnapshot } from './open-snapshot.ts'
import { ClientGone } from './query.ts'
import { targetBelowRoot } from './service-root.ts'

export interface BatchRequest {
  readonly id: string
  readonly method: string
  readonly url: string
  readonly headers: RequestHeaders
  /** Ids of requests that must have succeeded before. */
  readonly dependsOn: readonly string[]
}

export interface BatchOptions {
  /** The request that carries the batch; its target is `$batch`. */
  readonly carrier: ODataRequest
  readonly snapshot: OpenSnapshot
  /** Gives what an error that is no RequestError is shown as, and logs it. */
  readonly toRequestError: (error: unknown) => RequestError
}

/** Throws 415 unless the body is said to be JSON. */
export function requireJsonBody(headers: RequestHeaders): void {
  const type = header(headers, 'content-type') ?? ''
  if (parseMediaRanges(type)[0]?.type === 'application/json') return
  throw odataError('unsupported-media-type', '$batch takes application/json', {
    target: 'Content-Type',
  })
}

/** Throws RequestError 400 or 413 (rows Q106, Q107, Q127). */
export function parseBatch(body: Buffer, maxRequests: number): readonly BatchRequest[] {
  let document: unknown
  try {
    document = JSON.parse(body.toString('utf8'))
  } catch {
    throw odataError('invalid-body', 'the body is no JSON')
  }
  const requests = isObject(document) ? document['requests'] : undefined
  if (!Array.isArray(requests)) throw invalid('"requests" must be an array', 'requests')
  if (requests.length > maxRequests)
    throw odataError('too-large', `a batch holds at most ${maxRequests} requests`, {
      target: 'requests',
    })
  const parsed = requests.map(parseBatchRequest)
  const before = new Set<string>()
  for (const [i, { id, dependsOn }] of parsed.entries()) {
    if (before.has(id)) throw invalid(`the id "${id}" is given twice`, `requests/${i}/id`)
    for (const other of dependsOn)
      if (!before.has(other))
        throw invalid(`no request before it has the id "${other}"`, `requests/${i}/dependsOn`)
    before.add(id)
  }
  return parsed
}

function parseBatchRequest(value: unknown, i: number): BatchRequest {
  const at = `requests/${i}`
  if (!isObject(value)) throw invalid('a request must be an object', at)
  const { id, method, url, headers = {}, dependsOn = [] } = value
  if (typeof id !== 'string' || id === '') throw invalid('"id" must be a string', `${at}/id`)
  if (typeof method !== 'string') throw invalid('"method" must be a string', `${at}/method`)
  if (typeof url !== 'string') throw invalid('"url" must be a string', `${at}/url`)
  if (!isObject(headers) || !Object.values(headers).every(isString))
    throw invalid('"headers" must be an object of strings', `${at}/headers`)
  if (!Array.isArray(dependsOn) || !dependsOn.every(isString))
    throw invalid('"dependsOn" must be an array of ids', `${at}/dependsOn`)
  const lowerCase = Object.entries(headers as Record<string, string>).map(
    ([name, text]) => [name.toLowerCase(), text] as const,
  )
  return { id, method, url, headers: Object.fromEntries(lowerCase), dependsOn }
}

const isString = (value: unknown): value is string => typeof value === 'string'

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const invalid = (message: string, target: string) =>
  odataError('invalid-batch', message, { target })

/**
 * The body of the response. A request that fails is one response with its status and hurts no other: pages within a
 * batch are small enough to be computed whole before their first byte.
 */
export async function* answerBatch(
  service: ServiceContext,
  requests: readonly BatchRequest[],
  options: BatchOptions,
): AsyncGenerator<Buffer, void> {
  const whole = { ...service, maxPageSize: limits.wholeResultRows }
  const failed = new Set<string>()
  let separator = '{"responses":['
  for (const request of requests) {
    await using resources = new Resources()
    const answer = await answerOne(whole, request, failed, options, resources)
    if (answer.status >= 400) failed.add(request.id)
    yield Buffer.from(`${separator}${responseHead(request.id, answer, options.carrier)}`)
    yield* responseBody(answer)
    yield Buffer.from('}')
    separator = ','
  }
  yield Buffer.from(requests.length === 0 ? '{"responses":[]}' : ']}')
}

async function answerOne(
  service: ServiceContext,
  { method, url, headers, dependsOn }: BatchRequest,
  failed: ReadonlySet<string>,
  { carrier, snapshot, toRequestError }: BatchOptions,
  resources: Resources,
): Promise<Answer> {
  try {
    if (dependsOn.some((id) => failed.has(id)))
      throw odataError('failed-dependency', 'a request that this one depends on has failed')
    if (method.toUpperCase() !== 'GET')
      throw odataError('method-not-allowed', 'only GET is possible within a batch', {
        headers: { Allow: 'GET' },
      })
    const target = targetBelowRoot(url)
    if (/^(\$|%24)batch(\?|$)/i.test(target))
      throw odataError('method-not-allowed', 'a batch holds no batches', {
        headers: { Allow: 'POST' },
      })
    const version = negotiateVersion({ 'odata-maxversion': carrier.version, ...headers })
    const request = { ...carrier, target, headers, version }
    return await answerGet(service, request, resources, snapshot)
  } catch (error) {
    if (error instanceof ClientGone) throw error
    return errorAnswer(toRequestError(error))
  }
}

function errorAnswer(error: RequestError): Answer {
  const headers = { ...error.headers, 'Content-Language': 'en', 'Content-Type': 'application/json' }
  return { status: error.status, headers, body: Buffer.from(errorBody(error)), rows: () => 0 }
}

function responseHead(id: string, { status, headers }: Answer, { version }: ODataRequest): string {
  const all = { 'OData-Version': version, ...headers }
  const lowerCase = Object.entries(all).map(([name, value]) => [name.toLowerCase(), value] as const)
  const shown = JSON.stringify(Object.fromEntries(lowerCase))
  return `{"id":${JSON.stringify(id)},"status":${status},"headers":${shown}`
}

/** JSON as it is, so that its digits stay exact; text as a string; anything else as base64url. */
async function* responseBody({ headers, body }: Answer): AsyncGenerator<Buffer, void> {
  if (body === null) return
  yield Buffer.from(',"body":')
  const type = headers['Content-Type'] ?? ''
  if (!Buffer.isBuffer(body)) yield* body
  else if (type.startsWith('application/json')) yield body
  else if (type.startsWith('text/')) yield Buffer.from(JSON.stringify(body.toString('utf8')))
  else yield Buffer.from(`"${body.toString('base64url')}"`)
}
