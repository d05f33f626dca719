// Puts an answer on the wire: as fast as the client takes it, and never a short body that looks whole.

import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { limits } from '../../core/limits.ts'
import { isCompressed, formats } from '../protocol/formats.ts'
import { type AcceptedCodings, compressParts } from '../../http/content-coding.ts'
import type { Answers } from './answers.ts'
import type { Answer, FileBody } from '../answer/context.ts'
import { ClientGone } from '../engine/query.ts'
import { odataError } from '../protocol/errors.ts'
import { header, type RequestHeaders } from '../protocol/negotiate.ts'

interface Receiver {
  readonly gone: AbortSignal
  readonly codings: AcceptedCodings
  readonly answers: Pick<Answers, 'compress'>
  readonly stalledClientMs: number
  /** Called with the bytes of the body that are handed to the socket. */
  readonly onBytes: (bytes: number) => void
}

/**
 * Returns what was sent as a whole; null where there was no body, or a stream.
 *
 * Throws what the body throws, with the response begun but not ended: the caller destroys it. Throws ClientGone when
 * the client closes the connection before it has everything.
 */
export async function sendAnswer(
  response: ServerResponse,
  { status, headers, body, file }: Answer,
  { gone, codings, answers, stalledClientMs, onBytes }: Receiver,
): Promise<Buffer | null> {
  const isHead = response.req.method === 'HEAD'
  const coding = file === undefined ? codingOf({ headers, body }, codings) : 'identity'
  const coded = coding === 'identity' ? headers : { ...headers, 'Content-Encoding': coding }
  if (body === null || Buffer.isBuffer(body)) {
    const isPlain = body === null || coding === 'identity'
    const bytes = isPlain ? body : await answers.compress(body, coding)
    const length = bytes === null ? {} : { 'Content-Length': bytes.length }
    response.writeHead(status, { ...coded, ...length })
    response.end(isHead ? null : bytes)
    if (!isHead) onBytes(bytes?.length ?? 0)
    return bytes
  }
  response.writeHead(status, coded)
  if (!isHead)
    for await (const bytes of coding === 'identity' ? body : compressParts(body, coding)) {
      if (gone.aborted) throw new ClientGone()
      response.write(bytes)
      onBytes(bytes.length)
      if (response.writableLength > limits.sendAheadBytes)
        await drained(response, gone, stalledClientMs)
    }
  response.end()
  return null
}

/** What fits into a packet gains nothing. */
function codingOf(
  { headers, body }: Pick<Answer, 'headers' | 'body'>,
  { best, identity }: AcceptedCodings,
) {
  if (body === null) return 'identity'
  if (!identity) return best
  const isSmall = Buffer.isBuffer(body) && body.length < limits.compressedBytes
  return isSmall || isCompressed(headers['Content-Type']) ? 'identity' : best
}

/** The server closes the connection of a client that takes nothing meanwhile. */
async function drained(response: ServerResponse, gone: AbortSignal, stalledMs: number) {
  const { socket } = response
  socket?.setTimeout(stalledMs)
  try {
    await once(response, 'drain', { signal: gone })
  } catch (error) {
    throw gone.aborted ? new ClientGone() : error
  } finally {
    socket?.setTimeout(limits.socketIdleMs)
  }
}

// Parts of a file (RFC 9110, 14): one range of bytes. A reader of Parquet asks for the end of a file, which says where the
// columns lie, and then for those that it needs.

interface Range {
  readonly start: number
  /** The offset after the last byte. */
  readonly end: number
}

/**
 * The answer with the part that is asked for; all of it where none is, where the file is no longer the one that the client
 * has a part of, and for several ranges, which a server need not give. Throws 416 for a range beyond its end.
 */
export function withRange(
  method: string | undefined,
  headers: RequestHeaders,
  answer: Answer & { readonly file: FileBody },
): Answer {
  const { file } = answer
  const { bytes } = file
  const known = { ...answer.headers, 'Accept-Ranges': 'bytes' }
  const whole = { ...answer, headers: { ...known, 'Content-Length': String(bytes) } }
  const text = method === 'GET' ? header(headers, 'range') : null
  if (text === null || !isSame(headers, answer.headers['ETag'])) return whole
  const range = parseRange(text, bytes)
  if (range === null) return whole
  if (range === 'beyond')
    throw odataError('range-not-satisfiable', `the file has ${bytes} bytes`, {
      target: 'Range',
      headers: { 'Content-Range': `bytes */${bytes}` },
    })
  const { start, end } = range
  const part = {
    'Content-Range': `bytes ${start}-${end - 1}/${bytes}`,
    'Content-Length': String(end - start),
  }
  return { ...answer, status: 206, headers: { ...known, ...part }, body: file.read(start, end) }
}

/** If-Range compares strongly, and no answer has a date to compare. */
function isSame(headers: RequestHeaders, etag: string | undefined): boolean {
  const condition = header(headers, 'if-range')
  return condition === null || (etag?.startsWith('"') === true && condition.trim() === etag)
}

/** null for anything but a single range of bytes, which is ignored. */
function parseRange(text: string, bytes: number): Range | 'beyond' | null {
  const [, first = '', last = ''] = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/i.exec(text) ?? []
  if (first === '' && last === '') return null
  if (first === '') {
    const length = Math.min(Number(last), bytes)
    return length === 0 ? 'beyond' : { start: bytes - length, end: bytes }
  }
  const start = Number(first)
  if (last !== '' && Number(last) < start) return null
  if (start >= bytes) return 'beyond'
  return { start, end: last === '' ? bytes : Math.min(Number(last) + 1, bytes) }
}

/** CSV that is whole has parts too. */
export function csvAsFile({ headers, body }: Answer): FileBody | undefined {
  if (headers['Content-Type'] !== formats.csv.contentType || !Buffer.isBuffer(body))
    return undefined
  return {
    bytes: body.length,
    read: async function* (start, end) {
      yield body.subarray(start, end)
    },
  }
}
