// Takes the bytes of one event or of a batch: they are checked, and on disk when the promise resolves. How they have come
// does not matter here, so any door can use it. All functions throw RequestError, or what buffer-refusal.ts turns into it.

import { setImmediate } from 'node:timers/promises'
import type { EventBuffer } from '../buffer/buffer.ts'
import type { RequestKey } from '../buffer/request-key.ts'
import { newLine } from '../core/in-turn.ts'
import { limits } from '../core/limits.ts'
import type { ModelName } from '../core/names.ts'
import type { BatchReaders, ReadBatch } from './read/batch-readers.ts'
import { readEvent, readJsonBatch, readNdjsonBatch } from './read/read-events.ts'
import { type Validators, unknownTarget } from './targets.ts'
import { MisspeltFields, type Warning } from './validate/misspelt.ts'
import type { Validator } from './validate/validate-event.ts'

export interface AcceptOptions {
  readonly buffer: EventBuffer
  readonly readers: BatchReaders
  readonly maxEventBytes: number
  readonly maxBatchBytes: number
}

/** One event; a JSON array of events; an event a line. */
export type BodyFormat = 'event' | 'json' | 'ndjson'

const READ = { event: readEvent, json: readJsonBatch, ndjson: readNdjsonBatch } as const

interface Target {
  readonly target: ModelName
  readonly validator: Validator
}

/** Throws 404 for a target that no events model has. */
export function findTarget(validators: Validators, schema: string, table: string): Target {
  // Only names of models are keys, so another text is never found.
  const target = `${schema}.${table}` as ModelName
  const validator = validators.get(target)
  if (validator === undefined) throw unknownTarget(schema, table, validators.keys())
  return { target, validator }
}

export interface Receipt {
  readonly count: number
  readonly warnings: readonly Warning[]
}

/**
 * The events are on disk when it resolves. In steps, each of which keeps nothing of the one before: many bodies would stay
 * in memory while they wait for the disk.
 */
export function accept(
  options: AcceptOptions,
  to: Target,
  format: BodyFormat,
  body: Buffer,
  key: RequestKey | null,
): Promise<Receipt> {
  const { readers, maxEventBytes, maxBatchBytes } = options
  const apart =
    format === 'event' ? null : readers.read({ ...to, format, body, maxEventBytes, maxBatchBytes })
  if (apart === null) {
    const readHere = () =>
      key === null
        ? storeBatch(options, to, read(options, to, format, body))
        : acceptOnce(options, to, format, body, key)
    return body.length < limits.batchReaderBytes
      ? readHere()
      : ownTurn(() => setImmediate()).then(readHere)
  }
  if (key === null) return apart.then((batch) => storeBatch(options, to, batch))
  // Whether it is a repeat is known last, and then what was found of it does not count.
  return apart.then(
    (batch) => storeOnce(options, to, key, () => batch),
    (error: unknown) =>
      storeOnce(options, to, key, () => {
        throw error
      }),
  )
}

/** Large batches that no thread takes, one in each turn of the event loop: others are answered in between. */
const ownTurn = newLine()

/** The same for small bodies without a key: they are read when it returns, and on disk when `ready` resolves. */
export function acceptHere(
  options: AcceptOptions,
  to: Target,
  format: BodyFormat,
  body: Buffer,
): Receipt & { readonly ready: Promise<void> } {
  const { events, warnings } = read(options, to, format, body)
  const ready = options.buffer.append(to.target, events, serverTime())
  return { count: events.length, warnings, ready }
}

/** Only the first request with a key is read, at the moment when it is the first. */
export const acceptOnce = (
  options: AcceptOptions,
  to: Target,
  format: BodyFormat,
  body: Buffer,
  key: RequestKey,
): Promise<Receipt> => storeOnce(options, to, key, () => read(options, to, format, body))

function storeOnce(
  { buffer }: AcceptOptions,
  { target }: Target,
  key: RequestKey,
  readFirst: () => ReadBatch,
): Promise<Receipt> {
  let warnings: readonly Warning[] = []
  const events = () => {
    const batch = readFirst()
    warnings = batch.warnings
    return batch.events
  }
  return buffer.appendOnce(target, key, events, serverTime()).then((count) => ({ count, warnings }))
}

function read(
  { maxEventBytes, maxBatchBytes }: AcceptOptions,
  { target, validator }: Target,
  format: BodyFormat,
  body: Buffer,
): ReadBatch {
  const misspelt = new MisspeltFields()
  const events = READ[format](validator, body, maxEventBytes, maxBatchBytes, misspelt)
  return { events, warnings: misspelt.warnings(target) }
}

function storeBatch(
  { buffer }: AcceptOptions,
  { target }: Target,
  { events, warnings }: ReadBatch,
): Promise<Receipt> {
  const count = events.length
  return buffer.append(target, events, serverTime()).then(() => ({ count, warnings }))
}

let timeMs = 0
let timeText = ''

/** Now, ISO 8601 in UTC with milliseconds. The text is made once a millisecond. */
function serverTime(): string {
  const now = Date.now()
  if (now !== timeMs) {
    timeMs = now
    timeText = new Date(now).toISOString()
  }
  return timeText
}
