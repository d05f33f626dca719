// Answers to GET requests: where they are made, and what may know them already.

import { compress, type ContentCoding } from '../../http/content-coding.ts'
import type { Answer } from '../answer/context.ts'
import { header, type RequestHeaders } from '../protocol/negotiate.ts'
import type { Reader } from '../../access/reader.ts'
import { decodeAscii } from '../syntax/parse-request.ts'

export interface AskedAnswer {
  /** The current snapshot, also when the request asks for another one. */
  readonly snapshotId: string
  /** From the root of the server on. */
  readonly url: string
  readonly headers: RequestHeaders
  readonly reader: Pick<Reader, 'key'>
  readonly gone: AbortSignal
}

export interface Answers {
  /** The answer where it is known without a wait; null where answer() is to be called. */
  find(asked: AskedAnswer): Answer | null
  /** The answer, made by `make` unless that is not needed. Throws what `make` throws; ClientGone. */
  answer(asked: AskedAnswer, make: () => Promise<Answer>): Promise<Answer>
  /** Whether find() would give this answer again to a request with that answerKey(). If so it counts as having given it. */
  givesAgain(answer: Answer, asked: { readonly snapshotId: string; readonly key: string }): boolean
  compress(body: Buffer, coding: ContentCoding): Promise<Buffer>
  stats(): AnswerStats
}

export interface AnswerStats {
  readonly hits: number
  readonly misses: number
  readonly entries: number
  readonly bytes: number
}

export const madeAnswers: Answers = {
  find: () => null,
  answer: (_, make) => make(),
  givesAgain: () => false,
  compress,
  stats: () => ({ hits: 0, misses: 0, entries: 0, bytes: 0 }),
}

/**
 * What an answer depends on, besides the snapshot: who asks, the URL and every header that changes something of it. null for a
 * request without a Host header, whose answer names the address that it came to, and for a next link or delta link,
 * which is 410 as soon as an earlier snapshot is gone.
 */
export function answerKey({
  url,
  headers,
  reader,
}: Pick<AskedAnswer, 'url' | 'headers' | 'reader'>): string | null {
  if (headers['host'] === undefined || /(?:skip|delta)token/i.test(decodeAscii(url))) return null
  // A header that is empty is another request than one without it: it may be wrong.
  const valueOf = (name: string) => (headers[name] === undefined ? '' : `=${header(headers, name)}`)
  return keyHeaders.reduce((key, name) => `${key}\n${valueOf(name)}`, `${reader.key} ${url}`)
}

/** What an answer may depend on, so that it cannot depend on a header that is not in the key. */
export function headersInKey(headers: RequestHeaders): RequestHeaders {
  const names = [...keyHeaders, 'if-none-match']
  return Object.fromEntries(names.map((name) => [name, headers[name]]))
}

/** Those after Prefer say how a client reaches a service behind a proxy. */
const keyHeaders = [
  'host',
  'accept',
  'odata-maxversion',
  'odata-version',
  'prefer',
  'forwarded',
  'x-forwarded-proto',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-prefix',
] as const
