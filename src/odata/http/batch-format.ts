// Which of the two forms of $batch a request has; the answer has the same.

import { jsonBatch, parseJsonBatch } from './batch-json.ts'
import { boundaryOf, multipartBatch, newBoundary, parseMultipartBatch } from './batch-multipart.ts'
import { odataError } from '../protocol/errors.ts'
import { header, parseMediaRanges, type RequestHeaders } from '../protocol/negotiate.ts'
import type { BatchAnswers } from './batch.ts'

/**
 * Parts of a multipart body follow each other, so the first that fails ends them (Protocol 4.0, 8.2.8.3). Those of a JSON
 * body stand in no order and say by `dependsOn` what a failure ends (JSON Format 4.01, 19.1).
 *
 * Throws 415 unless the body is said to be of one of them, 400 for a multipart body without a boundary.
 */
export function batchFormat(headers: RequestHeaders) {
  const contentType = header(headers, 'content-type') ?? ''
  const type = parseMediaRanges(contentType)[0]?.type
  if (type === 'application/json')
    return {
      contentType: 'application/json',
      continuesOnError: true,
      parse: parseJsonBatch,
      write: jsonBatch,
    }
  if (type !== 'multipart/mixed')
    throw odataError(
      'unsupported-media-type',
      '$batch takes application/json or multipart/mixed',
      'Content-Type',
    )
  const asked = boundaryOf(contentType)
  if (asked === null)
    throw odataError('invalid-header', 'multipart/mixed needs a boundary', 'Content-Type')
  const boundary = newBoundary()
  return {
    contentType: `multipart/mixed;boundary=${boundary}`,
    continuesOnError: false,
    parse: (body: Buffer, maxRequests: number) => parseMultipartBatch(body, asked, maxRequests),
    write: (answers: BatchAnswers) => multipartBatch(answers, boundary),
  }
}

/** Whether the requests after one that fails are answered: as the client prefers, `byDefault` where it says nothing. */
export function parseContinueOnError(headers: RequestHeaders, byDefault: boolean) {
  const found =
    /(?:^|,)\s*((?:odata\.)?continue-on-error)\s*(?:=\s*"?(true|false)"?)?\s*(?:;|,|$)/i.exec(
      header(headers, 'prefer') ?? '',
    )
  if (found === null) return { continueOnError: byDefault, applied: null }
  const continueOnError = found[2]?.toLowerCase() !== 'false'
  return { continueOnError, applied: `${found[1]}=${continueOnError}` }
}
