// The answer to one GET below the service root, on one snapshot: parse, bind, query DuckDB, wrap in the envelope.

import { hash } from 'node:crypto'
import type { Resources } from '../../core/resources.ts'
import { RequestError } from '../../http/request-error.ts'
import { bindRequest } from '../bind/request.ts'
import { changesGone, nextLinkGone } from '../protocol/errors.ts'
import {
  type Answer,
  asksForTime,
  type Exchange,
  type ODataRequest,
  type ServiceContext,
} from './context.ts'
import { header, negotiateCsdlVersion, type RequestHeaders } from '../protocol/negotiate.ts'
import type { OpenSnapshot } from '../engine/open-snapshot.ts'
import { parseDeltaToken, parseSkipToken, type SkipToken } from './link-tokens.ts'
import { copiesOf } from '../sql/copies.ts'
import { parseRequest } from '../syntax/parse-request.ts'
import { type AnswerPlan, planAnswer } from './representation.ts'
import { shownPreferences } from '../protocol/preferences.ts'
import type { Snapshots } from '../engine/current-snapshot.ts'
import type { RequestSyntax } from '../syntax/syntax.ts'

/** Headers of a request that its answer depends on. */
const varying = [
  'Accept',
  'Accept-Encoding',
  'OData-MaxVersion',
  'OData-Version',
  'Origin',
  'Prefer',
]
const Vary = varying.join(', ')

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
  const syntax = parseRequest(request.target, request.root)
  const { skiptoken, deltatoken, format = null } = syntax.options
  const token =
    skiptoken === undefined ? null : parseSkipToken(skiptoken, request.target, service.links)
  const since =
    deltatoken === undefined ? null : parseDeltaToken(deltatoken, request.target, service.links)
  const snapshot = resources.use(await leaseFor(service.snapshots, token, pinned))
  const { model } = await service.snapshots.viewOf(snapshot, service.reader)
  const clock = { remainingMs: service.requestTimeoutMs }
  const { admission, streams, snapshots } = service
  const onDamage = (error: unknown) => void snapshots.reportDamage(snapshot.snapshot, error)
  const engine = { snapshot, admission, streams, clock, gone: request.gone, onDamage }
  const now = token?.now == null ? service.now() : new Date(token.now)
  const isInBatch = pinned !== null
  const asked = { token, since, format, now, isInBatch }
  const exchange = { service, request, resources, snapshot, model, engine, ...asked }
  const bound = bindAsked(exchange, syntax)
  const plan = planAnswer(exchange, bound)
  const headersOf = commonHeaders(exchange, plan)
  const headers = headersOf(request.target)
  const unchanged = { status: 304, headers, body: null, rows: () => 0 }
  // A client that sends the tag has this answer. `*` means any answer: whether there is one is known when it is made.
  const known = unchangedBy(request.headers, headers['ETag'])
  if (known === 'tag') return unchanged
  const { body, rows, file, lookup } = await plan.make()
  if (known === 'any' && body !== null) return unchanged
  if (body === null) {
    // UI5 makes an ETag a property of the value, and ends with an error where there is none.
    const { ETag: _, ...others } = headers
    return { status: 204, headers: others, body, rows }
  }
  const typed = (common: Readonly<Record<string, string>>) => ({
    ...common,
    'Content-Type': plan.contentType,
  })
  const answer = { status: 200, headers: typed(headers), body, rows }
  if (lookup !== undefined)
    return {
      ...answer,
      lookup: { ...lookup, headersOf: (target) => typed(headersOf(target)) },
    }
  return file === undefined ? answer : { ...answer, file }
}

/** A delta link was good for what was published then, so what is wrong with it now has changed since. */
function bindAsked({ service, request, model, now, since }: Exchange, syntax: RequestSyntax) {
  try {
    const { keyAsSegment } = service
    return bindRequest(syntax, model, {
      now,
      version: request.version,
      keyAsSegment,
      copiesOf,
    })
  } catch (error) {
    throw since !== null && error instanceof RequestError ? changesGone() : error
  }
}

async function leaseFor(
  snapshots: Snapshots,
  token: SkipToken | null,
  pinned: OpenSnapshot | null,
): Promise<OpenSnapshot> {
  if (token === null) return pinned?.lease() ?? snapshots.lease()
  const snapshot = await snapshots.leaseById(token.snapshotId)
  if (snapshot === null) throw nextLinkGone()
  return snapshot
}

/** By the target of a request, if that is all that differs. */
function commonHeaders(
  { request, snapshot, service }: Exchange,
  { contentType, preferences, isFile = false, headers: own = {} }: AnswerPlan,
): (target: string) => Readonly<Record<string, string>> {
  const { id } = snapshot.snapshot
  const same: Record<string, string> = {
    'OData-Version': request.version,
    'Eider-Snapshot': id,
    'Cache-Control': 'no-cache',
    Vary,
    ...own,
  }
  const applied = shownPreferences(preferences)
  if (applied !== null) same['Preference-Applied'] = applied
  const { root, version, headers: asked } = request
  const versions = [version, negotiateCsdlVersion(asked)]
  const { pageSize, maxPageSize, keyAsSegment, links } = service
  const settings = [pageSize, maxPageSize, keyAsSegment, links.mark]
  return (target) => {
    // The same request on the same snapshot has the same answer, unless it asks for the time. After a start with another
    // page size, other paths or another secret, what clients have cached has other rows, or an invalid link.
    if (asksForTime({ target })) return same
    const of = [id, root, target, ...versions, contentType, applied, ...settings]
    const tag = hash('sha256', JSON.stringify(of), 'base64url').slice(0, 22)
    // Parts of a file fit together only when all bytes are the same.
    return { ...same, ETag: `${isFile ? '' : 'W/'}"${tag}"` }
  }
}

/** The answer, or 304 where the client has it. */
export function unlessUnchanged(asked: RequestHeaders, answer: Answer): Answer {
  if (unchangedBy(asked, answer.headers['ETag']) === null) return answer
  const { 'Content-Type': _, ...headers } = answer.headers
  return { status: 304, headers, body: null, rows: () => 0 }
}

/**
 * How the If-None-Match header names the answer with that tag: by the tag itself, or by `*`. null when it does not name
 * it. The comparison is weak: `W/` counts for nothing (RFC 9110, 13.1.2).
 */
function unchangedBy(headers: RequestHeaders, etag: string | undefined): 'tag' | 'any' | null {
  const condition = header(headers, 'if-none-match')
  if (condition === null || etag === undefined) return null
  if (condition.trim() === '*') return 'any'
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '')
  return condition.split(',').map(opaque).includes(opaque(etag)) ? 'tag' : null
}
