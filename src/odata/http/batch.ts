// $batch: several GET requests in one, answered in their order on one snapshot. How they are written in the body is the
// matter of batch-json.ts and batch-multipart.ts.

import { Resources } from '../../core/resources.ts'
import { limits } from '../../core/limits.ts'
import { errorBody, type RequestError } from '../../http/request-error.ts'
import { answerGet, unlessUnchanged } from '../answer/get.ts'
import { odataError } from '../protocol/errors.ts'
import type { Answer, ODataRequest, ServiceContext } from '../answer/context.ts'
import { header, negotiateVersion, type RequestHeaders } from '../protocol/negotiate.ts'
import type { OpenSnapshot } from '../engine/open-snapshot.ts'
import { ClientGone } from '../engine/query.ts'
import { ROOT_PATH, requireOwnHost, targetBelowRoot } from '../protocol/service-root.ts'
import { splitTarget } from '../syntax/parse-request.ts'
import { type Answers, headersInKey } from './answers.ts'

export interface BatchRequest {
  readonly id: string
  readonly method: string
  readonly url: string
  readonly headers: RequestHeaders
  /** Ids of requests, or names of groups, that must have succeeded before. */
  readonly dependsOn: readonly string[]
  /** Requests that succeed or fail together. */
  readonly atomicityGroup: string | null
  /** The error for a part that does not request data. */
  readonly refusal?: RequestError
}

interface BatchOptions {
  /** The request that carries the batch; its target is `$batch`. */
  readonly carrier: ODataRequest
  readonly snapshot: OpenSnapshot
  /** What may know an answer already. */
  readonly answers: Answers
  /** Whether requests after one that failed are answered. */
  readonly continueOnError: boolean
  /** Logs an error that is not a RequestError, and returns what is shown for it. */
  readonly toRequestError: (error: unknown) => RequestError
}

/** An answer is good until the next one is asked for. */
export type BatchAnswers = AsyncGenerator<
  { readonly request: BatchRequest; readonly answer: Answer },
  void
>

export function requireFew(requests: number, maxRequests: number): void {
  if (requests > maxRequests)
    throw odataError('too-large', `a batch may contain at most ${maxRequests} requests`, 'requests')
}

/**
 * A request that fails is one response with its status: pages within a batch are small enough to be
 * computed whole before their first byte.
 */
export async function* answerBatch(
  service: ServiceContext,
  requests: readonly BatchRequest[],
  options: BatchOptions,
): BatchAnswers {
  const whole = { ...service, maxPageSize: limits.wholeResultRows }
  const before: Before = { failed: new Set(), paths: new Map() }
  const { failed } = before
  for (const request of requests) {
    await using resources = new Resources()
    const { headers, ...answer } = await answerOne(whole, request, before, options, resources)
    yield {
      request,
      answer: { ...answer, headers: { 'OData-Version': options.carrier.version, ...headers } },
    }
    if (answer.status < 400) continue
    if (!options.continueOnError) return
    failed.add(request.id)
    if (request.atomicityGroup !== null) failed.add(request.atomicityGroup)
  }
}

/** What is known of the requests that were answered. */
interface Before {
  /** Ids of requests, and names of groups with one, that failed. */
  readonly failed: Set<string>
  /** Where the requests that succeeded lead, below the root and without options, by id. */
  readonly paths: Map<string, string>
}

async function answerOne(
  service: ServiceContext,
  { id, method, url, headers, dependsOn, atomicityGroup, refusal }: BatchRequest,
  { failed, paths }: Before,
  options: BatchOptions,
  resources: Resources,
): Promise<Answer> {
  const { carrier, toRequestError } = options
  try {
    if (refusal !== undefined) throw refusal
    const needed = atomicityGroup === null ? dependsOn : [...dependsOn, atomicityGroup]
    if (needed.some((id) => failed.has(id))) throw failedDependency()
    if (method.toUpperCase() !== 'GET')
      throw odataError('method-not-allowed', 'only GET is allowed within a batch', {
        headers: { Allow: 'GET' },
      })
    const host = header(headers, 'host')
    if (host !== null) requireOwnHost(host, carrier.root)
    const target = withReference(targetBelowRoot(url, carrier.root), { failed, paths })
    if (/^(\$|%24)batch(\?|$)/i.test(target))
      throw odataError('method-not-allowed', 'a batch cannot contain another batch', {
        headers: { Allow: 'POST' },
      })
    const version = negotiateVersion({ 'odata-maxversion': carrier.version, ...headers })
    const request = { ...carrier, target, headers, version }
    const answer = await answerPart(service, request, options, resources)
    if (id !== '') paths.set(id, splitTarget(target)[0].replace(/\/$/, ''))
    return withETagOfObjectsOnly(answer)
  } catch (error) {
    if (error instanceof ClientGone) throw error
    return errorAnswer(toRequestError(error))
  }
}

/**
 * As it is answered alone, also from what is known. That differs from what is known for requests that are alone: a page
 * may be larger here, and the root and the version are those of the batch.
 */
async function answerPart(
  service: ServiceContext,
  request: ODataRequest,
  { carrier, snapshot, answers }: BatchOptions,
  resources: Resources,
): Promise<Answer> {
  const { target, headers, gone } = request
  const snapshotId = snapshot.snapshot.id
  const make = () =>
    answerGet(service, { ...request, headers: headersInKey(headers) }, resources, snapshot)
  // What is known of the current snapshot would be forgotten for a batch that began before it.
  if (snapshotId !== service.snapshots.currentId) return await make()
  const asked = {
    snapshotId,
    url: `${ROOT_PATH}/${target}`,
    headers: { 'odata-maxversion': carrier.version, ...headers, host: carrier.root },
    reader: { key: `$batch ${service.reader.key}` },
    gone,
  }
  const known = answers.find(asked)
  return known === null ? await answers.answer(asked, make) : unlessUnchanged(headers, known)
}

/** `$1/customer` goes on from where the request with the id 1 leads. Names of the protocol come before ids. */
function withReference(target: string, { failed, paths }: Before): string {
  const [, name = '', rest = ''] = /^\/?(?:\$|%24)([^/?(]+)(.*)$/s.exec(target) ?? []
  if (name === '' || SYSTEM_NAMES.includes(name.toLowerCase())) return target
  if (failed.has(name)) throw failedDependency()
  const path = paths.get(name)
  return path === undefined ? target : `${path}${rest}`
}

const SYSTEM_NAMES: readonly string[] = [
  'all',
  'batch',
  'crossjoin',
  'entity',
  'metadata',
  'openapi',
  'root',
]

const failedDependency = () =>
  odataError(
    'failed-dependency',
    'a request that this one depends on, or one of its group, has failed',
  )

/** UI5 makes the ETag of a response a property of its value, and fails where that is the number of a $count. */
function withETagOfObjectsOnly(answer: Answer): Answer {
  const isObject = answer.headers['Content-Type']?.startsWith('application/json') ?? false
  if (isObject || answer.status === 304) return answer
  const { ETag: _, ...headers } = answer.headers
  return { ...answer, headers }
}

function errorAnswer(error: RequestError): Answer {
  const headers = { ...error.headers, 'Content-Language': 'en', 'Content-Type': 'application/json' }
  return { status: error.status, headers, body: Buffer.from(errorBody(error)), rows: () => 0 }
}
