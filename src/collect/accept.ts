// Takes the bytes of one event or of a batch: they are checked, and on disk when the promise resolves. How they have come
// does not matter here, so any door can use it. All functions throw RequestError, or what buffer-refusal.ts turns into it.

import type { EventBuffer } from '../buffer/buffer.ts'
import type { RequestKey } from '../buffer/request-key.ts'
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
  if (key !== null) return acceptOnce(options, to, format, body, key)
  const { readers, maxEventBytes, maxBatchBytes } = options
  const apart =
    format === 'event' ? null : readers.read({ ...to, format, body, maxEventBytes, maxBatchBytes })
  const store = (batch: ReadBatch) => storeBatch(options, to, batch)
  return apart === null ? store(read(options, to, format, body)) : apart.then(store)
}

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
export function acceptOnce(
  options: AcceptOptions,
  to: Target,
  format: BodyFormat,
  body: Buffer,
  key: RequestKey,
): Promise<Receipt> {
  let warnings: readonly Warning[] = []
  const readFirst = () => {
    const batch = read(options, to, format, body)
    warnings = batch.warnings
    return batch.events
  }
  return options.buffer
    .appendOnce(to.target, key, readFirst, serverTime())
    .then((count) => ({ count, warnings }))
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
