// Whole responses. Streams end in their service, which knows what a complete body is.

import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import { limits } from '../core/limits.ts'
import { declaredLength, isHeldBack } from './body.ts'
import { errorBody, type RequestError, type RequestErrorHeaders } from './request-error.ts'

export type Headers = RequestErrorHeaders

/** What an error is sent as. */
export interface ErrorBody {
  readonly type: string
  readonly body: string
  readonly headers?: Headers
}

const asJson = (error: RequestError): ErrorBody => ({
  type: 'application/json',
  body: errorBody(error),
})

export function sendText(
  response: ServerResponse,
  status: number,
  type: string,
  body: string | Uint8Array,
  headers: Headers = {},
): void {
  writeHead(response, status, type, body, headers)
  response.end(response.req.method === 'HEAD' ? undefined : body)
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Headers = {},
): void {
  sendText(response, status, 'application/json', JSON.stringify(body), headers)
}

/**
 * Sends the error, or cuts the connection off when a body is under way: a short body must never look whole.
 * A request body that is still coming is read away first, when it is small, so that the connection can be used again.
 */
export function sendError(
  response: ServerResponse,
  error: RequestError,
  headers: Headers = {},
  shown = asJson(error),
): void {
  const request = response.req
  if (response.writableEnded) return
  if (response.headersSent) return cutOff(response)
  const send = () => writeError(response, error, headers, shown).end()
  const sendAndLinger = () => {
    response.shouldKeepAlive = false
    writeError(response, error, headers, shown)
    linger(response)
  }
  if (request.complete) send()
  else if (isHeldBack(request)) sendLastError(response, error, headers, shown)
  else if (declaredLength(request) > limits.drainBytes) sendAndLinger()
  else drain(request, limits.drainBytes, (ended) => (ended ? send() : sendAndLinger()))
}

/**
 * Ends the connection of an answer that is not whole. To HTTP/1.0, which nginx speaks to a service by default, a body is
 * whole when its connection closes, unless that is a reset.
 */
export function cutOff(response: ServerResponse): void {
  if (response.req.httpVersion === '1.0') response.socket?.resetAndDestroy()
  else response.destroy()
}

/** Sends the error as the last answer of the connection, whose client sends nothing more. */
export function sendLastError(
  response: ServerResponse,
  error: RequestError,
  headers: Headers = {},
  shown = asJson(error),
): void {
  response.shouldKeepAlive = false
  writeError(response, error, headers, shown).end()
}

function writeError(
  response: ServerResponse,
  error: RequestError,
  headers: Headers,
  { type, body, headers: own = {} }: ErrorBody,
) {
  const all = { ...headers, ...error.headers, ...own, 'Content-Language': 'en' }
  writeHead(response, error.status, type, body, all)
  response.write(body)
  return response
}

/**
 * Closing a socket with unread bytes resets the connection, and the client may lose the answer that it has not read
 * yet. So the answer is out, whole, and the end of the connection waits for the client to stop sending.
 */
function linger(response: ServerResponse): void {
  const timer = setTimeout(end, limits.lingerMs)
  function end(): void {
    clearTimeout(timer)
    response.end()
  }
  drain(response.req, limits.lingerBytes, end)
}

/** Reads and drops the rest of the body. Calls `done` once: true at its end, false after `maxBytes`. */
function drain(request: IncomingMessage, maxBytes: number, done: (ended: boolean) => void): void {
  let left = maxBytes
  const settle = (ended: boolean) => {
    request.off('data', drop).off('end', atEnd).off('error', atEnd)
    done(ended)
  }
  const drop = (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) settle(false)
  }
  const atEnd = () => settle(true)
  request.on('data', drop).on('end', atEnd).on('error', atEnd)
  request.resume()
}

function writeHead(
  response: ServerResponse,
  status: number,
  type: string,
  body: string | Uint8Array,
  headers: Headers,
): void {
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength
  response.writeHead(status, { ...headers, 'Content-Type': type, 'Content-Length': length })
}

// Whole answers as texts, for connections that node:http does not answer.

/** An answer of one byte a character, to be written as latin1. The body is sent as UTF-8. */
export function answerText(status: number, headers: Headers, body: string): string {
  let lines = ''
  for (const [name, value] of Object.entries(headers))
    for (const each of typeof value === 'string' ? [value] : value) lines += `${name}: ${each}\r\n`
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines}\r\n${oneByteText(body)}`
}

export function errorText(error: RequestError, headers: Headers, connection: Headers): string {
  const body = errorBody(error)
  return answerText(
    error.status,
    {
      ...headers,
      ...error.headers,
      'Content-Language': 'en',
      ...bodyHeaders(body),
      ...connection,
    },
    body,
  )
}

export const bodyHeaders = (body: string): Headers => ({
  'Content-Type': 'application/json',
  'Content-Length': String(Buffer.byteLength(body)),
})

const oneByteText = (text: string) =>
  // oxlint-disable-next-line no-control-regex
  /^[\0-\x7f]*$/.test(text) ? text : Buffer.from(text).toString('latin1')

let second = 0
let dateText = ''

/** Now, as the Date header has it. The text is made once a second. */
export function httpDate(): string {
  const now = Math.floor(Date.now() / 1000)
  if (now !== second) {
    second = now
    dateText = new Date(now * 1000).toUTCString()
  }
  return dateText
}
