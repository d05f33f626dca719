// The answer to one GET below the service root, on one snapshot: its target is parsed and bound, a representation is
// chosen, and the answer is made in its format.

import type { Resources } from '../../core/resources.ts'
import { RequestError } from '../../http/request-error.ts'
import type { BoundRequest } from '../bind/bound-request.ts'
import { bindRequest } from '../bind/request.ts'
import type { OpenSnapshot } from '../engine/open-snapshot.ts'
import { changesGone, nextLinkGone, odataError } from '../protocol/errors.ts'
import { header, type RequestHeaders } from '../protocol/negotiate.ts'
import { copiesOf } from '../sql/expression.ts'
import { decodeAscii, parseRequest } from '../syntax/parse-request.ts'
import type { RequestSyntax, OptionSyntax } from '../syntax/syntax.ts'
import { parseDeltaToken, parseSkipToken } from './choose/link-tokens.ts'
import { chooseRepresentation, type AnswerFormat } from './choose/representation.ts'
import type { Answer, Exchange, ODataRequest, ServiceContext } from './context.ts'
import { answerFormats } from './make/formats.ts'
import type { FormatName } from '../protocol/formats.ts'

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
  const exchange = await openExchange({ service, request, resources }, syntax.options, pinned)
  const bound = await bindSyntax(exchange, syntax)
  const chosen = chooseRepresentation(exchange, bound)
  const { headersOf } = chosen
  const headers = headersOf(request.target)
  // A client that sends the tag has this answer. `*` means any answer: whether there is one is known when it is made.
  const known = unchangedBy(request.headers, headers['ETag'])
  if (known === 'tag') return unchanged(headers)
  // The format was chosen for requests of this kind.
  const make = answerFormats[chosen.format] as AnswerFormat<FormatName>
  const made = await make({ ...exchange, chosen }, bound as never)
  const { lookup, headers: own = {}, ...content } = made
  if (content.body === null) {
    // UI5 makes an ETag a property of the value, and ends with an error where there is none.
    const { ETag: _, 'Content-Type': __, ...others } = headers
    return { ...content, status: 204, headers: others }
  }
  if (known === 'any') return unchanged(headers)
  const answer = { ...content, status: 200, headers: { ...headers, ...own } }
  return lookup === undefined ? answer : { ...answer, lookup: { ...lookup, headersOf } }
}

export const unlessUnchanged = (asked: RequestHeaders, answer: Answer): Answer =>
  unchangedBy(asked, answer.headers['ETag']) === null ? answer : unchanged(answer.headers)

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

function unchanged(all: Answer['headers']): Answer {
  const { 'Content-Type': _, ...headers } = all
  return { status: 304, headers, body: null, rows: () => 0 }
}

async function openExchange(
  asked: Pick<Exchange, 'service' | 'request' | 'resources'>,
  options: OptionSyntax,
  pinned: OpenSnapshot | null,
): Promise<Exchange> {
  const { service, request, resources } = asked
  const { admission, streams, snapshots, links } = service
  const { skiptoken, deltatoken, format = null } = options
  const token = skiptoken === undefined ? null : parseSkipToken(skiptoken, request.target, links)
  const since = deltatoken === undefined ? null : parseDeltaToken(deltatoken, request.target, links)
  const leased =
    token === null
      ? (pinned?.lease() ?? snapshots.lease())
      : await snapshots.leaseById(token.snapshotId)
  if (leased === null) throw nextLinkGone()
  const snapshot = resources.use(leased)
  const { model } = await snapshots.viewOf(snapshot, service.reader)
  const clock = { remainingMs: service.requestTimeoutMs }
  const onDamage = (error: unknown) => void snapshots.reportDamage(snapshot.snapshot, error)
  const engine = { snapshot, admission, streams, clock, gone: request.gone, onDamage }
  const now = token?.now == null ? service.now() : new Date(token.now)
  return {
    ...asked,
    snapshot,
    model,
    engine,
    token,
    since,
    format,
    now,
    isInBatch: pinned !== null,
  }
}

/** A delta link was good for what was published then, so what is wrong with it now has changed since. */
async function bindSyntax(exchange: Exchange, syntax: RequestSyntax): Promise<BoundRequest> {
  const { model, now, since } = exchange
  const { conventions } = exchange.service
  const { version } = exchange.request
  try {
    return bindRequest(syntax, model, { now, version, conventions, copiesOf })
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    if (since !== null) throw changesGone()
    throw error.code === 'unknown-entity-set' ? ((await notBuilt(exchange)) ?? error) : error
  }
}

/** Says it of a set that is declared and was never built, to those who will see it. */
async function notBuilt({ service, request, snapshot }: Exchange): Promise<RequestError | null> {
  const [set = ''] = decodeAscii(request.target).split(/[/(?]/, 1)
  if (!service.reader.sees(set)) return null
  const model = await service.unbuilt.modelOf(snapshot.snapshot, set)
  if (model === null) return null
  return odataError(
    'unknown-entity-set',
    `the entity set "${set}" is not there yet: no build of its model ${model} has succeeded; "eider status" says why`,
  )
}
