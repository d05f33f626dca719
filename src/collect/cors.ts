// Web pages of other origins: which may send events. Off unless the setting names some.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { UsageError } from '../core/failures.ts'
import type { Headers } from '../http/respond.ts'
import type { Handler } from '../http/server.ts'

const ALLOWED_HEADERS = 'Authorization, Content-Type, Content-Encoding, Idempotency-Key'
/** Browsers ask again after this time; none keeps an answer for longer than two hours. */
const PREFLIGHT_SECONDS = 7_200

/** Throws UsageError for an origin that no browser sends, and for `*` together with a token. */
export function requireSoundOrigins(origins: readonly string[], token: string | null): void {
  for (const origin of origins) {
    if (origin === '*' || isOrigin(origin)) continue
    throw new UsageError(`collect.cors_origins: "${origin}" is not an origin`, {
      hint: 'an origin is a scheme and a host, such as https://shop.example, without a path',
    })
  }
  if (!origins.includes('*') || token === null) return
  throw new UsageError('collect.cors_origins: "*" lets any page in, but a token is set', {
    hint: 'name the origins, or do without the token',
  })
}

function isOrigin(text: string): boolean {
  try {
    return new URL(text).origin === text
  } catch {
    return false
  }
}

/** Headers of every answer, also to a request that is of no page. */
export function originHeaders(origins: readonly string[]): Headers {
  return origins.length === 0 || origins.includes('*') ? {} : { Vary: 'Origin' }
}

/** The handler, and the headers that let pages of `origins` read its answers. Without origins it is the handler itself. */
export function withCors(origins: readonly string[], handle: Handler): Handler {
  if (origins.length === 0) return handle
  const allowsAny = origins.includes('*')
  return (request, response) => {
    const { origin } = request.headers
    for (const [name, value] of Object.entries(originHeaders(origins)))
      response.setHeader(name, value)
    if (origin !== undefined && (allowsAny || origins.includes(origin))) {
      response.setHeader('Access-Control-Allow-Origin', allowsAny ? '*' : origin)
      if (isPreflight(request)) return answerPreflight(response)
    }
    return handle(request, response)
  }
}

const isPreflight = ({ method, headers }: IncomingMessage) =>
  method === 'OPTIONS' && headers['access-control-request-method'] !== undefined

function answerPreflight(response: ServerResponse): void {
  response.writeHead(204, {
    'Access-Control-Allow-Methods': 'GET, POST',
    'Access-Control-Allow-Headers': ALLOWED_HEADERS,
    'Access-Control-Max-Age': String(PREFLIGHT_SECONDS),
  })
  response.end()
}
