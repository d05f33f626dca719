// The request target (RFC 9112, section 3.2). Handlers see the origin form, `/path?query`, and one host.

import type { IncomingMessage } from 'node:http'
import { RequestError } from './request-error.ts'
import { hostName } from './web-pages.ts'

const ABSOLUTE = /^https?:\/\/([^/?#]*)([^#]*)$/i

/**
 * Brings the absolute form, which clients send to a proxy, into the origin form. The host of the target counts, and what
 * the Host header says does not (section 3.2.2). Throws RequestError 400 where the target names no host.
 */
export function toOriginForm(request: IncomingMessage): void {
  const [, host, rest] = ABSOLUTE.exec(request.url ?? '') ?? []
  if (host === undefined || rest === undefined) return
  if (hostName(host) === null)
    throw new RequestError(400, 'bad-request', 'the URL of the request has no host')
  request.headers.host = host
  request.url = rest.startsWith('/') ? rest : `/${rest}`
}
