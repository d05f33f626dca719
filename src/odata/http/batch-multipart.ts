// $batch as multipart/mixed (Protocol 11.7.7), the form that UI5, SAP Cloud SDK and o.js send. A part of type
// application/http is one request:
//
//   --boundary
//   Content-Type: application/http
//   Content-ID: 1
//
//   GET shop_orders?$top=1 HTTP/1.1
//   Accept: application/json
//
//   --boundary--
//
// The body is valid if and only if it has a line `--boundary--` after its parts; what follows that line is not part of
// it. Lines end with CRLF, or with LF alone.

import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import { limits } from '../../core/limits.ts'
import { RequestError } from '../../http/request-error.ts'
import { type BatchAnswers, type BatchRequest, requireFew } from './batch.ts'
import { odataError } from '../protocol/errors.ts'
import { joinedHeaders } from './batch-headers.ts'

/** The boundary that a Content-Type header names; null when there is none. */
export function boundaryOf(contentType: string): string | null {
  const found = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType)
  return found?.[1] ?? found?.[2] ?? null
}

/** Throws RequestError 400 or 413. A part that cannot be answered is one request with its refusal. */
export function parseMultipartBatch(
  body: Buffer,
  boundary: string,
  maxRequests: number,
): readonly BatchRequest[] {
  return splitParts(body.toString('utf8'), boundary, maxRequests).map(parsePart)
}

/** A boundary counts where a line begins with it and holds nothing else. No line is looked at that cannot be one. */
function splitParts(body: string, boundary: string, maxRequests: number): readonly string[] {
  const delimiter = `--${boundary}`
  const parts: string[] = []
  let partStart = -1
  for (let at = nextBoundary(body, delimiter, 0); at >= 0;) {
    const after = at + delimiter.length
    const lineEnd = endOfLine(body, after)
    const word = body.slice(after, lineEnd).trimEnd()
    if (word === '' || word === '--') {
      if (partStart >= 0) parts.push(body.slice(partStart, at))
      requireFew(parts.length, maxRequests)
      if (word === '--') return parts
      partStart = lineEnd + 1
    }
    at = nextBoundary(body, delimiter, lineEnd)
  }
  throw odataError(
    'invalid-body',
    'the multipart body has no closing boundary line',
    'Content-Type',
  )
}

/** Offset of a line that begins with `delimiter`, from the end of the line before it on; -1 when there is none. */
function nextBoundary(body: string, delimiter: string, from: number): number {
  if (from === 0 && body.startsWith(delimiter)) return 0
  const lineEnd = body.indexOf(`\n${delimiter}`, from)
  return lineEnd < 0 ? -1 : lineEnd + 1
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end < 0 ? text.length : end
}

function parsePart(text: string): BatchRequest {
  const [lines, content] = splitHead(text)
  const lineEnd = content.search(/\n|$/)
  const [own] = splitHead(content.slice(lineEnd + 1))
  const [, named = ''] = lines.find(([name]) => name === 'content-id') ?? []
  const id = named.replace(/[^\x20-\x7e]/g, '')
  try {
    requireRequest(joinedHeaders(lines)['content-type'] ?? '')
    const request = requestLine(content.slice(0, lineEnd))
    return { ...NOTHING, id, ...request, headers: joinedHeaders(own) }
  } catch (error) {
    if (error instanceof RequestError) return { ...NOTHING, id, refusal: error }
    throw error
  }
}

function requireRequest(contentType: string): void {
  const type = contentType.split(';', 1)[0]!.trim().toLowerCase()
  if (type === 'multipart/mixed')
    throw odataError('method-not-allowed', 'the data is read-only: change sets are not allowed')
  if (type !== 'application/http')
    throw odataError('invalid-batch', 'a part must be application/http')
}

/** The HTTP version may be missing. No pattern does this: a line of four megabytes of spaces would take it hours. */
function requestLine(line: string): { readonly method: string; readonly url: string } {
  const words = line.trim().split(' ')
  const [method = '', ...rest] = words
  const hasVersion = rest.length > 1 && /^HTTP\/[\d.]+$/.test(rest.at(-1)!)
  const url = rest
    .slice(0, hasVersion ? -1 : undefined)
    .join(' ')
    .trim()
  if (/^[A-Za-z]+$/.test(method) && url !== '') return { method, url }
  throw odataError('invalid-batch', 'a part must begin with a line such as "GET url HTTP/1.1"')
}

const NOTHING = { method: '', url: '', headers: {}, dependsOn: [], atomicityGroup: null } as const

/** Lines of headers, up to an empty line or the end, and what follows. */
function splitHead(
  text: string,
): readonly [lines: readonly (readonly [string, string])[], content: string] {
  const headers: (readonly [string, string])[] = []
  let at = 0
  while (at < text.length) {
    const lineEnd = endOfLine(text, at)
    const line = text.slice(at, lineEnd).trim()
    at = lineEnd + 1
    if (line === '') break
    if (headers.length === limits.partHeaders)
      throw odataError('invalid-batch', `a part has more than ${limits.partHeaders} headers`)
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(0, colon)).trim().toLowerCase()
    headers.push([name, line.slice(colon + 1).trim()])
  }
  return [headers.filter(([name]) => name !== ''), text.slice(at)]
}

export const newBoundary = (): string => `batchresponse_${randomUUID()}`

/** The body of the response: a part for each request, with its Content-ID when it had one. */
export async function* multipartBatch(
  answers: BatchAnswers,
  boundary: string,
): AsyncGenerator<Buffer, void> {
  for await (const { request, answer } of answers) {
    const { status, headers, body } = answer
    const contentId = request.id === '' ? [] : [`Content-ID: ${request.id}`]
    const length = Buffer.isBuffer(body) ? [`Content-Length: ${body.length}`] : []
    const lines = [
      `--${boundary}`,
      'Content-Type: application/http',
      'Content-Transfer-Encoding: binary',
      ...contentId,
      '',
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      ...length,
      '',
      '',
    ]
    yield Buffer.from(lines.join('\r\n'))
    if (Buffer.isBuffer(body)) yield body
    else if (body !== null) yield* body
    yield Buffer.from('\r\n')
  }
  yield Buffer.from(`--${boundary}--\r\n`)
}
