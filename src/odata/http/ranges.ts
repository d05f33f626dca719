// Parts of a file (RFC 9110, 14): one range of bytes. A reader of Parquet asks for the end of a file, which says where the
// columns lie, and then for those that it needs.

import { odataError } from '../protocol/errors.ts'
import { formats } from '../protocol/formats.ts'
import { header, type RequestHeaders } from '../protocol/negotiate.ts'
import type { Answer, FileBody } from '../answer/context.ts'

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
