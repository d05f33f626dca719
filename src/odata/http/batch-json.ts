// $batch in JSON (JSON Format 4.01, 19).

import { isObject } from '../../core/object.ts'
import { StringDecoder } from 'node:string_decoder'
import { limits } from '../../core/limits.ts'
import { RequestError } from '../../http/request-error.ts'
import { type BatchAnswers, type BatchRequest, requireFew } from './batch.ts'
import { odataError } from '../protocol/errors.ts'
import { joinedHeaders } from './batch-headers.ts'
import type { Answer } from '../answer/context.ts'

/** The requests of a batch (JSON Format 4.01, section 19.1). Throws RequestError 400, or 413 for too many of them. */
export function parseJsonBatch(body: Buffer, maxRequests: number): readonly BatchRequest[] {
  requirePlain(body)
  let document: unknown
  try {
    document = JSON.parse(body.toString('utf8'))
  } catch {
    throw odataError('invalid-body', 'the body is not valid JSON')
  }
  const requests = isObject(document) ? document['requests'] : undefined
  if (!Array.isArray(requests)) throw invalid('"requests" must be an array', 'requests')
  requireFew(requests.length, maxRequests)
  const parsed = requests.map(parseBatchRequest)
  const before = new Set<string>()
  let open: string | null = null
  for (const [i, { id, dependsOn, atomicityGroup }] of parsed.entries()) {
    if (before.has(id)) throw invalid(`duplicate id "${id}"`, `requests/${i}/id`)
    for (const other of dependsOn)
      if (!before.has(other))
        throw invalid(
          `no earlier request or group has the id "${other}"`,
          `requests/${i}/dependsOn`,
        )
    before.add(id)
    if (atomicityGroup !== null && atomicityGroup !== open && before.has(atomicityGroup))
      throw invalid(
        `"${atomicityGroup}" is the id of a request, or a group that has ended: the requests of a group follow each other`,
        `requests/${i}/atomicityGroup`,
      )
    open = atomicityGroup
    if (open !== null) before.add(open)
  }
  return parsed
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c]
const [OPENING, CLOSING] = [
  [0x5b, 0x7b],
  [0x5d, 0x7d],
]

/** JSON.parse is quick with strings of any length; with millions of brackets it would keep all others waiting. */
function requirePlain(body: Buffer): void {
  let [depth, marks] = [0, 0]
  for (let at = 0; at < body.length; at++) {
    const byte = body[at]!
    if (byte === QUOTE) at = endOfString(body, at + 1)
    else if (byte === COMMA) marks++
    else if (CLOSING.includes(byte)) depth--
    else if (OPENING.includes(byte)) {
      marks++
      depth++
    }
    if (depth > limits.batchDepth || marks > limits.batchMarks)
      throw odataError(
        'invalid-body',
        'the body is not a batch: it has too many or too deeply nested arrays and objects',
      )
  }
}

/** The offset of the closing quote: the first one after an even number of backslashes. */
function endOfString(body: Buffer, start: number): number {
  for (let at = body.indexOf(QUOTE, start); at >= 0; at = body.indexOf(QUOTE, at + 1)) {
    let first = at
    while (first > start && body[first - 1] === BACKSLASH) first--
    if ((at - first) % 2 === 0) return at
  }
  return body.length
}

function parseBatchRequest(value: unknown, i: number): BatchRequest {
  const at = `requests/${i}`
  if (!isObject(value)) throw invalid('a request must be an object', at)
  const { id, method, url, headers = {}, dependsOn = [], atomicityGroup = null } = value
  if (typeof id !== 'string' || id === '') throw invalid('"id" must be a string', `${at}/id`)
  if (!Array.isArray(dependsOn) || !dependsOn.every(isString))
    throw invalid('"dependsOn" must be an array of ids', `${at}/dependsOn`)
  if (atomicityGroup !== null && !isString(atomicityGroup))
    throw invalid('"atomicityGroup" must be a string', `${at}/atomicityGroup`)
  const request = { id, method: '', url: '', headers: {}, dependsOn, atomicityGroup }
  // What is wrong with one request alone hurts no other.
  const refused = (refusal: RequestError): BatchRequest => ({ ...request, refusal })
  if (!isString(method)) return refused(invalid('"method" must be a string', `${at}/method`))
  if (!isString(url)) return refused(invalid('"url" must be a string', `${at}/url`))
  if (!isObject(headers) || !Object.values(headers).every(isString))
    return refused(invalid('"headers" must be an object of strings', `${at}/headers`))
  try {
    const own = joinedHeaders(Object.entries(headers as Record<string, string>))
    return { ...request, method, url, headers: own }
  } catch (error) {
    if (error instanceof RequestError) return refused(error)
    throw error
  }
}

const lowerCase = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(headers).map(([name, text]) => [name.toLowerCase(), text]))

const isString = (value: unknown): value is string => typeof value === 'string'

const invalid = (message: string, target: string) => odataError('invalid-batch', message, target)

/** The body of the response: one JSON object with a response for each request. */
export async function* jsonBatch(answers: BatchAnswers): AsyncGenerator<Buffer, void> {
  let separator = '{"responses":['
  for await (const { request, answer } of answers) {
    yield Buffer.from(`${separator}${responseHead(request, answer)}`)
    yield* responseBody(answer)
    yield Buffer.from('}')
    separator = ','
  }
  yield Buffer.from(separator === ',' ? ']}' : '{"responses":[]}')
}

function responseHead({ id, atomicityGroup }: BatchRequest, { status, headers }: Answer): string {
  const shown = JSON.stringify(lowerCase(headers))
  const group = atomicityGroup === null ? '' : `"atomicityGroup":${JSON.stringify(atomicityGroup)},`
  return `{"id":${JSON.stringify(id)},${group}"status":${status},"headers":${shown}`
}

/** JSON as it is, so that its digits stay exact; text as a string; anything else as base64url. */
async function* responseBody({ headers, body }: Answer): AsyncGenerator<Buffer, void> {
  if (body === null) return
  yield Buffer.from(',"body":')
  const type = headers['Content-Type'] ?? ''
  const parts = Buffer.isBuffer(body) ? [body] : body
  if (type.startsWith('application/json')) return yield* parts
  yield Buffer.from('"')
  yield* type.startsWith('text/') ? escaped(parts) : base64url(parts)
  yield Buffer.from('"')
}

type Parts = Iterable<Buffer> | AsyncIterable<Buffer>

async function* escaped(parts: Parts): AsyncGenerator<Buffer, void> {
  const decoder = new StringDecoder('utf8') // a letter may lie in two parts
  for await (const part of parts)
    yield Buffer.from(JSON.stringify(decoder.write(part)).slice(1, -1))
  yield Buffer.from(JSON.stringify(decoder.end()).slice(1, -1))
}

/** Three bytes are four letters. */
async function* base64url(parts: Parts): AsyncGenerator<Buffer, void> {
  let left = Buffer.alloc(0)
  for await (const part of parts) {
    const bytes = Buffer.concat([left, part])
    const whole = bytes.length - (bytes.length % 3)
    yield Buffer.from(bytes.toString('base64url', 0, whole))
    left = bytes.subarray(whole)
  }
  yield Buffer.from(left.toString('base64url'))
}
