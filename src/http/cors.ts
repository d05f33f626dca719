// CORS: which web pages of other origins have access. Off unless a setting names some.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { UsageError } from '../core/failures.ts'
import type { Headers } from './respond.ts'
import type { Handler } from './server.ts'

interface CorsRules {
  /** `*` for any. */
  readonly origins: readonly string[]
  readonly methods: string
  /** Headers that a page may send. */
  readonly allowedHeaders: string
  /** Headers of an answer that a page may read, beyond those that every page may. */
  readonly exposedHeaders?: string
}

/** Browsers repeat the preflight after this time; none caches it for longer than two hours. */
const PREFLIGHT_SECONDS = 7_200

/** Throws UsageError, naming `setting`, for an origin that no browser sends, and for `*` together with a token. */
export function requireSoundOrigins(
  setting: string,
  origins: readonly string[],
  token: string | null,
): void {
  for (const origin of origins) {
    if (origin === '*' || isOrigin(origin)) continue
    throw new UsageError(`${setting}: "${origin}" is not an origin`, {
      hint: 'an origin is a scheme and a host, such as https://shop.example, without a path',
    })
  }
  if (!origins.includes('*') || token === null) return
  throw new UsageError(`${setting}: "*" lets any page in, but a token is set`, {
    hint: 'name the origins, or remove the token',
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

/** Headers of an answer that a page of `origin` may read; none for other pages. */
export function pageHeaders(origins: readonly string[], origin: string | undefined): Headers {
  if (origin === undefined) return {}
  if (origins.includes('*')) return { 'Access-Control-Allow-Origin': '*' }
  return origins.includes(origin) ? { 'Access-Control-Allow-Origin': origin } : {}
}

/** The handler, and the headers that let pages of `origins` read its answers. Without origins it is the handler itself. */
export function withCors(rules: CorsRules, handle: Handler): Handler {
  const { origins, exposedHeaders } = rules
  if (origins.length === 0) return handle
  return (request, response) => {
    const own = Object.entries(pageHeaders(origins, request.headers.origin))
    for (const [name, value] of [...Object.entries(originHeaders(origins)), ...own])
      response.setHeader(name, value)
    if (own.length > 0) {
      if (isPreflight(request)) return answerPreflight(response, rules)
      if (exposedHeaders !== undefined)
        response.setHeader('Access-Control-Expose-Headers', exposedHeaders)
    }
    return handle(request, response)
  }
}

const isPreflight = ({ method, headers }: IncomingMessage) =>
  method === 'OPTIONS' && headers['access-control-request-method'] !== undefined

function answerPreflight(response: ServerResponse, { methods, allowedHeaders }: CorsRules): void {
  response.writeHead(204, {
    'Access-Control-Allow-Methods': methods,
    'Access-Control-Allow-Headers': allowedHeaders,
    'Access-Control-Max-Age': String(PREFLIGHT_SECONDS),
  })
  response.end()
}
