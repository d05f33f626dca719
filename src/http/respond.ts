// Whole responses. Streams end in their service, which knows what a complete body is.

import type { ServerResponse } from 'node:http'
import { errorBody, type RequestError } from './request-error.ts'

export type Headers = Readonly<Record<string, string>>

export function sendText(
  response: ServerResponse,
  status: number,
  type: string,
  body: string | Uint8Array,
  headers: Headers = {},
): void {
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength
  response.writeHead(status, { ...headers, 'Content-Type': type, 'Content-Length': length })
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

/** Sends the error, or cuts the connection off when a body is under way: a short body must never look whole. */
export function sendError(
  response: ServerResponse,
  error: RequestError,
  headers: Headers = {},
): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const all = { ...headers, ...error.headers, 'Content-Language': 'en' }
  // The rest of a refused body is not read; the connection cannot be used again.
  if (!response.req.complete) response.setHeader('Connection', 'close')
  sendText(response, error.status, 'application/json', errorBody(error), all)
}
