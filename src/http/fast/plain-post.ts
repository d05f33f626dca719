// The one shape of a request that the fast path (post-front.ts) answers itself, so strictly that no two readers could
// disagree about it:
//
//   POST <path> HTTP/1.1 CRLF, then lines `<name>: <value>` CRLF, then CRLF
//
// path: letters, digits and . _ ~ % - /, so no query. name: an HTTP token; no name comes twice. value: visible ASCII and
// spaces. Host and Content-Length are there, the length without sign, list or leading zero. Nothing among the lines
// changes how the body is framed or encoded, or what happens to the connection.
//
// Everything else may be a fine request, or an attempt to make two servers see two different ones. node:http knows, so
// it gets everything else as it came.

import type { PostHead } from '../head.ts'

const HEAD = /^POST (\/[\w.~%/-]*) HTTP\/1\.1\r\n((?:[\w!#$%&'*+.^`|~-]+:[ -~]*\r\n)+)\r\n$/
const LENGTH = /^(?:0|[1-9]\d{0,8})$/

/** Headers that make a request more than a plain POST of an unencoded body on a persistent connection. */
const UNUSUAL: readonly string[] = [
  'content-encoding',
  'expect',
  'idempotency-key',
  'keep-alive',
  'origin',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]

/** null when `text`, which ends with the empty line, is not exactly of the shape above. */
export function readPlainPost(text: string): PostHead | null {
  const [, url, lines] = HEAD.exec(text) ?? []
  if (url === undefined || lines === undefined) return null
  const headers = Object.create(null) as Record<string, string>
  for (const line of lines.split('\r\n').slice(0, -1)) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    if (name in headers) return null
    headers[name] = line.slice(colon + 1).trim()
  }
  const { host, connection = 'keep-alive', 'content-length': length = '' } = headers
  if (host === undefined || connection.toLowerCase() !== 'keep-alive' || !LENGTH.test(length))
    return null
  if (UNUSUAL.some((name) => name in headers)) return null
  return { url, headers, bodyBytes: Number(length) }
}

/** False as soon as the bytes cannot become such a head: another method, or a line that ends in a bare LF. */
export function mayBecomePlainPost(text: string): boolean {
  return text.startsWith(START.slice(0, text.length)) && !/(?:^|[^\r])\n/.test(text)
}

const START = 'POST /'
