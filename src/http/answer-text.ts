// Whole answers as texts, for connections that node:http does not answer.

import { STATUS_CODES } from 'node:http'
import { errorBody, type RequestError } from './request-error.ts'
import type { Headers } from './respond.ts'

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
