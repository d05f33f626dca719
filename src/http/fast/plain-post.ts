// The one shape of a request that the fast path (post-front.ts) answers itself, so strictly that no two readers could
// disagree about it:
//
//   POST <path> HTTP/1.1 CRLF, then lines `<name>: <value>` CRLF, then CRLF
//
// path: letters, digits and . _ ~ % - /, and a query of these and = & +. name: an HTTP token; no name comes twice. value: visible ASCII and
// spaces. Host is there, and either Content-Length, without sign, list or leading zero, or `Transfer-Encoding: chunked`.
// Nothing else among the lines changes how the body is framed or encoded, or what happens to the connection.
//
// A body in chunks is one chunk, as nearly all clients send a small one (readOneChunk):
//
//   <length in hexadecimal digits> CRLF, so many bytes, then CRLF 0 CRLF CRLF
//
// Everything else may be a fine request, or an attempt to make two servers see two different ones. node:http knows, so
// it gets everything else as it came.

import type { PostHead } from '../head.ts'

const HEAD =
  /^POST (\/[\w.~%/-]*(?:\?[\w.~%/=&+-]*)?) HTTP\/1\.1\r\n((?:[\w!#$%&'*+.^`|~-]+:[ -~]*\r\n)+)\r\n$/
const LENGTH = /^(?:0|[1-9]\d{0,8})$/

/** Headers that make a request more than a plain POST of an unencoded body on a persistent connection. */
const UNUSUAL: readonly string[] = [
  'content-encoding',
  'expect',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
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
  const { host, connection = 'keep-alive' } = headers
  if (host === undefined || connection.toLowerCase() !== 'keep-alive') return null
  if (UNUSUAL.some((name) => name in headers)) return null
  const bodyBytes = readFraming(headers)
  return bodyBytes === undefined ? null : { url, headers, bodyBytes }
}

/** The length of the body; null for one in chunks; undefined where it is not clear, or there is none. */
function readFraming({
  'content-length': length,
  'transfer-encoding': coding,
}: Readonly<Record<string, string>>): number | null | undefined {
  if (coding === undefined) return readLength(length ?? '')
  return length === undefined && coding.toLowerCase() === 'chunked' ? null : undefined
}

/** undefined where it is not clear. */
export const readLength = (text: string): number | undefined =>
  LENGTH.test(text) ? Number(text) : undefined

interface Chunk {
  readonly start: number
  readonly end: number
  /** The offset after the whole body. */
  readonly after: number
}

/** The only chunk of the body at `at`; 'foreign' for a body of any other form, or of more than `mostBytes`. */
export function readOneChunk(
  bytes: Buffer,
  at: number,
  mostBytes: number,
): Chunk | 'partial' | 'foreign' {
  const line = bytes.toString('latin1', at, at + CHUNK_LINE_BYTES)
  const [, digits, lineEnd] = CHUNK_LINE.exec(line) ?? []
  if (digits === undefined || (digits === '' && lineEnd !== '')) return 'foreign'
  if (lineEnd !== '\r\n') return at + CHUNK_LINE_BYTES > bytes.length ? 'partial' : 'foreign'
  const length = Number.parseInt(digits, 16)
  if (length > mostBytes) return 'foreign'
  const start = at + digits.length + 2
  const end = start + length
  const rest = bytes.toString('latin1', end, end + LAST_CHUNK.length)
  if (rest === LAST_CHUNK) return { start, end, after: end + LAST_CHUNK.length }
  return LAST_CHUNK.startsWith(rest) ? 'partial' : 'foreign'
}

/** No leading zero, and no more digits than any body needs; or the beginning of such a line. */
const CHUNK_LINE = /^((?:[1-9a-f][\da-f]{0,6})?)(\r\n|\r?$)/i
const CHUNK_LINE_BYTES = 9
const LAST_CHUNK = '\r\n0\r\n\r\n'

/** False as soon as the bytes cannot become such a head: another method, or a line that ends in a bare LF. */
export function mayBecomePlainPost(text: string): boolean {
  return text.startsWith(START.slice(0, text.length)) && !/(?:^|[^\r])\n/.test(text)
}

const START = 'POST /'
