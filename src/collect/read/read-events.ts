// Bodies of the public endpoints as events: one object, an array of objects, or one object a line.

import { isUtf8 } from 'node:buffer'
import { limits } from '../../core/limits.ts'
import { RequestError } from '../../http/request-error.ts'
import { refusal } from '../errors.ts'
import { jsonMistake } from '../validate/json-mistakes.ts'
import type { MisspeltFields } from '../validate/misspelt.ts'
import { skipSpace } from '../validate/scan-event.ts'
import { validateEvent, type Validator } from '../validate/validate-event.ts'

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
  const limit = body.length
  refuseArray(body, start, 'send several events to the same path with /batch at the end')
  const { stored, end } = validateEvent(validator, body, start, limit, maxEventBytes, misspelt)
  requireEnd(body, end, 'the event')
  return [stored]
}

/** Of the name of a file, as `curl --data-raw @events.json` sends it. */
const AT_SIGN = 0x40

const notJson = (text: string) =>
  refusal('invalid-json', `this is not JSON: ${jsonMistake(text) ?? 'expected an array'}`)

/** A JSON array of objects. An empty one is a batch of no events, and fine. */
export const readJsonBatch = batchReader(
  'its objects belong into one array: [{…},{…}]',
  (body, add) => {
    const limit = body.length
    let at = startOfText(body)
    if (body[at] === AT_SIGN) throw notJson(body.toString('utf8', at, at + 300))
    if (body[at] !== 0x5b)
      throw refusal(
        'not-an-array',
        'a batch is a JSON array of objects and nothing around it; for one object per line send Content-Type: application/x-ndjson',
      )
    let last = -1
    at = skipSpace(body, at + 1, limit)
    if (body[at] !== 0x5d) {
      for (;;) {
        at = skipSpace(body, add(at, limit), limit)
        last++
        if (body[at] !== 0x2c) break
        at = skipSpace(body, at + 1, limit)
      }
    }
    if (body[at] !== 0x5d)
      throw refusal(
        'invalid-json',
        last === -1 ? 'unterminated array' : `unterminated array, or no "," after event ${last}`,
      )
    requireEnd(body, at + 1, 'the array')
  },
)

/** One JSON object a line; blank lines do not count. */
export const readNdjsonBatch = batchReader(
  'a line is one event; send an array as application/json',
  (body, add) => {
    let at = startOfText(body)
    for (let index = 0; at < body.length; index++) {
      const newline = body.indexOf(0x0a, at)
      const limit = newline === -1 ? body.length : newline
      if (skipSpace(body, add(at, limit), limit) < limit)
        throw atIndex(
          refusal(
            'invalid-json',
            'unexpected text after the object on its line; with curl use --data-binary, since -d removes line ends',
          ),
          index,
          lineAt(body, at),
        )
      at = skipSpace(body, limit, body.length)
    }
  },
  lineAt,
)

/** Adds the event at an offset, which must end before the limit, to the batch; gives its end. */
type Add = (start: number, limit: number) => number

/**
 * A reader of bodies: `read` adds one event after the other. `ofArray` is said where an event is an array, and `lineOf`
 * tells the line of one, where that means something to who wrote the body.
 */
function batchReader(
  ofArray: string,
  read: (body: Buffer, add: Add) => void,
  lineOf: typeof lineAt | null = null,
) {
  return (
    validator: Validator,
    body: Buffer,
    maxEventBytes: number,
    maxBatchBytes = Infinity,
    misspelt: MisspeltFields | null = null,
  ): Events => {
    let sizeBytes = 0
    const events: Uint8Array[] = []
    read(body, (start, limit) => {
      const index = events.length
      if (index >= limits.batchEvents)
        throw refusal(
          'too-many-events',
          `a batch may have at most ${limits.batchEvents} events; send several batches`,
        )
      try {
        refuseArray(body, start, ofArray)
        const event = validateEvent(validator, body, start, limit, maxEventBytes, misspelt)
        events.push(event.stored)
        sizeBytes += event.stored.length
        if (sizeBytes <= maxBatchBytes) return event.end
      } catch (error) {
        if (!(error instanceof RequestError)) throw error
        throw atIndex(error, index, lineOf?.(body, start) ?? null)
      }
      // A number of some characters may be stored as a thousand digits, so the limit on the body is not enough.
      const problem = `the batch, with all digits of its numbers, is larger than ${maxBatchBytes} bytes`
      throw refusal('batch-too-large', problem)
    })
    return events
  }
}

function refuseArray(body: Buffer, start: number, hint: string): void {
  if (body[start] === 0x5b)
    throw refusal('not-an-object', `an event is a JSON object, and this is an array; ${hint}`)
}

/** As an editor counts: from 1, blank ones too. */
function lineAt(body: Buffer, offset: number): number {
  let line = 1
  for (let at = body.indexOf(0x0a); at !== -1 && at < offset; at = body.indexOf(0x0a, at + 1))
    line++
  return line
}

/** The same refusal, naming the event of the batch: in words, and as `[index].field` for programs. */
function atIndex(error: RequestError, index: number, line: number | null): RequestError {
  const { status, code, message, target } = error
  const inEvent = (field?: string) => (field === undefined ? `[${index}]` : `[${index}].${field}`)
  const own = error.details ?? [{ code, message, ...(target === undefined ? {} : { target }) }]
  return new RequestError(
    status,
    code,
    `event ${index}${line === null ? '' : ` (line ${line})`}: ${message}`,
    {
      ...(target === undefined ? {} : { target }),
      details: own.map((detail) => ({ ...detail, target: inEvent(detail.target) })),
      cause: error.cause,
    },
  )
}

/** Where the text begins, after white space and a byte order mark. */
function startOfText(body: Buffer): number {
  if (!isUtf8(body)) {
    const isGzip = body[0] === 0x1f && body[1] === 0x8b
    const hint = isGzip ? '; it is gzip: send the header Content-Encoding: gzip' : ''
    throw refusal('invalid-utf8', `the body is not UTF-8${hint}`)
  }
  const hasMark = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf
  return skipSpace(body, hasMark ? 3 : 0, body.length)
}

function requireEnd(body: Buffer, end: number, what: string): void {
  if (skipSpace(body, end, body.length) < body.length)
    throw refusal('invalid-json', `unexpected text after ${what}`)
}
