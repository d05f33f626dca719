// The thread that reads batches for batch-readers.ts.

import { parentPort } from 'node:worker_threads'
import { RequestError } from '../../http/request-error.ts'
import { MisspeltFields } from '../validate/misspelt.ts'
import { type Validator, validatorOf } from '../validate/validate-event.ts'
import type { BatchAnswer, BatchOrder } from './batch-readers.ts'
import { type Events, readJsonBatch, readNdjsonBatch } from './read-events.ts'

const validators: Validator[] = []

parentPort!.on('message', (order: BatchOrder) => {
  const answer = answerTo(order)
  const owned = 'bytes' in answer ? [answer.bytes.buffer, answer.places.buffer] : []
  parentPort!.postMessage(answer, owned)
})

function answerTo(order: BatchOrder): BatchAnswer {
  try {
    return readBatch(order)
  } catch (error) {
    if (!(error instanceof RequestError)) return { failed: String((error as Error).stack) }
    const { status, code, message, target, details } = error
    const more = { ...(target && { target }), ...(details && { details }) }
    return { refused: { status, code, message, ...more } }
  }
}

function readBatch({ format, target, body, ...order }: BatchOrder): BatchAnswer {
  const misspelt = new MisspeltFields()
  const read = format === 'ndjson' ? readNdjsonBatch : readJsonBatch
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const { maxEventBytes, maxBatchBytes } = order
  const events = read(validatorFor(order), bytes, maxEventBytes, maxBatchBytes, misspelt)
  return { ...place(events, body), warnings: misspelt.warnings(target) }
}

function validatorFor({
  validator,
  columns,
  former,
}: Pick<BatchOrder, 'validator' | 'columns' | 'former'>): Validator {
  if (columns !== null) {
    validators.length = validator
    validators.push(validatorOf(columns, former))
  }
  return validators[validator]!
}

/** Most events are stored as they came, and then the body has them all; otherwise they are put together. */
function place(events: Events, body: Uint8Array<ArrayBuffer>) {
  const places = new Uint32Array(2 * events.length)
  const areInBody = events.every(({ buffer }) => buffer === body.buffer)
  const size = events.reduce((sum, { length }) => sum + length, 0)
  const bytes = areInBody ? body : new Uint8Array(size)
  let at = 0
  events.forEach((event, i) => {
    const start = areInBody ? event.byteOffset - body.byteOffset : at
    if (!areInBody) bytes.set(event, start)
    places[2 * i] = start
    places[2 * i + 1] = at = start + event.length
  })
  return { bytes, places }
}
