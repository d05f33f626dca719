// Bodies of the public endpoints as events: one object, an array of objects, or one object a line.

import { isUtf8 } from 'node:buffer'
import { limits } from '../../core/limits.ts'
import { RequestError } from '../../http/request-error.ts'
import { refusal } from '../errors.ts'
import type { MisspeltFields } from '../validate/misspelt.ts'
import { skipSpace } from '../validate/scan-event.ts'
import { validateEvent, type ValidEvent, type Validator } from '../validate/validate-event.ts'

/** The bytes to store, one element an event. All readers throw RequestError, and then nothing may be stored. */
export type Events = readonly Uint8Array[]

export function readEvent(
  validator: Validator,
  body: Buffer,
  maxEventBytes: number,
  _maxBatchBytes?: number,
  misspelt: MisspeltFields | null = null,
): Events {
  const start = startOfText(body)
  const { stored, end } = validateEvent(
    validator,
    body,
    start,
    body.length,
    maxEventBytes,
    misspelt,
  )
  requireEnd(body, end, 'the event')
  return [stored]
}

/** A JSON array of objects. An empty one is a batch of no events, and fine. */
export function readJsonBatch(
  validator: Validator,
  body: Buffer,
  maxEventBytes: number,
  maxBatchBytes = Infinity,
  misspelt: MisspeltFields | null = null,
): Events {
  const limit = body.length
  let at = startOfText(body)
  if (body[at] !== 0x5b)
    throw refusal(
      'not-an-array',
      'a batch is a JSON array of objects and nothing around it; for one object per line send Content-Type: application/x-ndjson',
    )
  let sizeBytes = 0
  const events: Uint8Array[] = []
  at = skipSpace(body, at + 1, limit)
  if (body[at] !== 0x5d) {
    for (;;) {
      const { stored, end } = validateAt(
        validator,
        body,
        at,
        limit,
        events.length,
        maxEventBytes,
        misspelt,
      )
      sizeBytes = addWithin(maxBatchBytes, sizeBytes, stored)
      events.push(stored)
      at = skipSpace(body, end, limit)
      if (body[at] !== 0x2c) break
      at = skipSpace(body, at + 1, limit)
    }
  }
  if (body[at] !== 0x5d)
    throw refusal(
      'invalid-json',
      events.length === 0
        ? 'unterminated array'
        : `unterminated array, or no "," after event ${events.length - 1}`,
    )
  requireEnd(body, at + 1, 'the array')
  return events
}

/** One JSON object a line; blank lines do not count. */
export function readNdjsonBatch(
  validator: Validator,
  body: Buffer,
  maxEventBytes: number,
  maxBatchBytes = Infinity,
  misspelt: MisspeltFields | null = null,
): Events {
  let sizeBytes = 0
  const events: Uint8Array[] = []
  let at = startOfText(body)
  while (at < body.length) {
    const newline = body.indexOf(0x0a, at)
    const limit = newline === -1 ? body.length : newline
    const { stored, end } = validateAt(
      validator,
      body,
      at,
      limit,
      events.length,
      maxEventBytes,
      misspelt,
    )
    if (skipSpace(body, end, limit) < limit)
      throw atIndex(
        refusal(
          'invalid-json',
          'unexpected text after the object on its line; with curl use --data-binary, since -d removes line ends',
        ),
        events.length,
      )
    sizeBytes = addWithin(maxBatchBytes, sizeBytes, stored)
    events.push(stored)
    at = skipSpace(body, limit, body.length)
  }
  return events
}

/** A number of some characters may be stored as a thousand digits, so the limit on the body is not enough. */
function addWithin(maxBatchBytes: number, sizeBytes: number, { length }: Uint8Array): number {
  if (sizeBytes + length > maxBatchBytes)
    throw refusal(
      'batch-too-large',
      `the batch, with all digits of its numbers, is larger than ${maxBatchBytes} bytes`,
    )
  return sizeBytes + length
}

function validateAt(
  validator: Validator,
  body: Buffer,
  start: number,
  limit: number,
  index: number,
  maxEventBytes: number,
  misspelt: MisspeltFields | null,
): ValidEvent {
  if (index >= limits.batchEvents)
    throw refusal(
      'too-many-events',
      `a batch may have at most ${limits.batchEvents} events; send several batches`,
    )
  try {
    return validateEvent(validator, body, start, limit, maxEventBytes, misspelt)
  } catch (error) {
    throw error instanceof RequestError ? atIndex(error, index) : error
  }
}

/** The same refusal, naming the event of the batch: in words, and as `[index].field` for programs. */
function atIndex(error: RequestError, index: number): RequestError {
  const { status, code, message, target } = error
  const inEvent = (field?: string) => (field === undefined ? `[${index}]` : `[${index}].${field}`)
  const own = error.details ?? [{ code, message, ...(target === undefined ? {} : { target }) }]
  return new RequestError(status, code, `event ${index}: ${message}`, {
    ...(target === undefined ? {} : { target }),
    details: own.map((detail) => ({ ...detail, target: inEvent(detail.target) })),
    cause: error.cause,
  })
}

/** Where the text begins, after white space and a byte order mark. */
function startOfText(body: Buffer): number {
  if (!isUtf8(body)) throw refusal('invalid-utf8', 'the body is not UTF-8')
  const hasMark = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf
  return skipSpace(body, hasMark ? 3 : 0, body.length)
}

function requireEnd(body: Buffer, end: number, what: string): void {
  if (skipSpace(body, end, body.length) < body.length)
    throw refusal('invalid-json', `unexpected text after ${what}`)
}
