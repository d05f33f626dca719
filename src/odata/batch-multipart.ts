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
// The body is valid if and only if it has a line `--boundary--` behind its parts; what follows that line is no part of
// it. Lines end with CRLF, or with LF alone.

import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { RequestError } from '../http/request-error.ts'
import { type BatchAnswers, type BatchRequest, requireFew } from './batch.ts'
import { odataError } from './errors.ts'
import type { RequestHeaders } from './negotiate.ts'

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
  const parts = splitParts(body.toString('utf8'), boundary)
  requireFew(parts.length, maxRequests)
  return parts.map(parsePart)
}

function splitParts(body: string, boundary: string): readonly string[] {
  const parts: string[] = []
  let part: string[] | null = null
  for (const line of body.split(/\r?\n/)) {
    const word = line.trimEnd()
    const isEnd = word === `--${boundary}--`
    if (!isEnd && word !== `--${boundary}`) {
      part?.push(line)
      continue
    }
    if (part !== null) parts.push(part.join('\n'))
    if (isEnd) return parts
    part = []
  }
  throw odataError('invalid-body', 'the multipart body has no line that ends it', {
    target: 'Content-Type',
  })
}

function parsePart(text: string): BatchRequest {
  const [headers, content] = splitHead(text)
  const id = header(headers, 'content-id').replace(/[^\x20-\x7e]/g, '')
  const type = header(headers, 'content-type').split(';', 1)[0]!.trim().toLowerCase()
  if (type === 'multipart/mixed')
    return refused(id, odataError('method-not-allowed', 'the data are read-only: no change sets'))
  if (type !== 'application/http')
    return refused(id, odataError('invalid-batch', 'a part must be application/http'))
  const lineEnd = content.search(/\n|$/)
  const request = requestLine(content.slice(0, lineEnd))
  if (request === null)
    return refused(
      id,
      odataError('invalid-batch', 'a part must begin with a line such as "GET url HTTP/1.1"'),
    )
  const [own] = splitHead(content.slice(lineEnd + 1))
  return { ...NOTHING, id, ...request, headers: own }
}

/** The HTTP version may be missing. No pattern does this: a line of four megabytes of spaces would take it hours. */
function requestLine(line: string): { readonly method: string; readonly url: string } | null {
  const words = line.trim().split(' ')
  const [method = '', ...rest] = words
  const hasVersion = rest.length > 1 && /^HTTP\/[\d.]+$/.test(rest.at(-1)!)
  const url = rest
    .slice(0, hasVersion ? -1 : undefined)
    .join(' ')
    .trim()
  return /^[A-Za-z]+$/.test(method) && url !== '' ? { method, url } : null
}

const NOTHING = { method: '', url: '', headers: {}, dependsOn: [], atomicityGroup: null } as const

const refused = (id: string, refusal: RequestError): BatchRequest => ({ ...NOTHING, id, refusal })

const header = (headers: Readonly<Record<string, string>>, name: string) => headers[name] ?? ''

/** Headers, up to an empty line or the end, and what follows. */
function splitHead(
  text: string,
): readonly [headers: RequestHeaders & Readonly<Record<string, string>>, content: string] {
  const lines = text.split('\n')
  const end = lines.findIndex((line) => line.trim() === '')
  const count = end < 0 ? lines.length : end
  const headers = lines.slice(0, count).flatMap((line) => {
    const colon = line.indexOf(':')
    if (colon <= 0) return []
    return [[line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()] as const]
  })
  return [Object.fromEntries(headers), lines.slice(count + 1).join('\n')]
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
