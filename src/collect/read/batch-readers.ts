// Large batches are read in threads where the machine has processors for them: to validate a batch takes longer than all
// else that is done for it, and holds up every other request meanwhile. The thread gets the bytes of the body, not a copy,
// and gives them back with the places of the events in them (batch-reader-thread.ts).

import { dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { limits } from '../../core/limits.ts'
import { processors } from '../../core/machine.ts'
import { RequestError, type RequestErrorOptions } from '../../http/request-error.ts'
import type { Warning } from '../validate/misspelt.ts'
import type { ValidatedColumn, Validator } from '../validate/validate-event.ts'
import type { MediaType } from './media-type.ts'
import type { Events } from './read-events.ts'

interface Batch {
  readonly format: MediaType
  readonly target: string
  readonly validator: Validator
  /** Belongs to the readers from then on, unless they return null. */
  readonly body: Buffer
  readonly maxEventBytes: number
  readonly maxBatchBytes: number
}

export interface ReadBatch {
  readonly events: Events
  readonly warnings: readonly Warning[]
}

export interface BatchOrder extends Pick<
  Batch,
  'format' | 'target' | 'maxEventBytes' | 'maxBatchBytes'
> {
  /** Number of the validator in this thread, with its columns when the thread does not know it yet. */
  readonly validator: number
  readonly columns: readonly Pick<ValidatedColumn, 'name' | 'type' | 'required'>[] | null
  readonly former: readonly string[]
  readonly body: Uint8Array<ArrayBuffer>
}

/** The answers of a thread have the order of what was sent to it. */
export type BatchAnswer =
  | {
      readonly bytes: Uint8Array<ArrayBuffer>
      /** Where each event begins in `bytes`, and where it ends. */
      readonly places: Uint32Array<ArrayBuffer>
      readonly warnings: readonly Warning[]
    }
  | {
      readonly refused: Pick<RequestError, 'status' | 'code' | 'message'> &
        Pick<RequestErrorOptions, 'target' | 'details'>
    }
  | { readonly failed: string }

const here = fileURLToPath(import.meta.url)
const THREAD = join(dirname(here), `batch-reader-thread${extname(here)}`)

export class BatchReaders implements AsyncDisposable {
  /** Opened when they are needed. */
  readonly #threads: Thread[] = []
  readonly #most: number

  constructor(most = Math.min(processors() - 1, limits.batchReaders)) {
    this.#most = most
  }

  /** null: it is small, or all threads have enough to do, and the caller reads it. Rejects with RequestError. */
  read(batch: Batch): Promise<ReadBatch> | null {
    if (batch.body.length < limits.batchReaderBytes) return null
    const thread = this.#threads.find(({ isFree }) => isFree) ?? this.#openThread()
    return thread?.isFree === true ? thread.read(batch) : null
  }

  #openThread(): Thread | null {
    if (this.#threads.length >= this.#most) return null
    const thread = new Thread(() => this.#threads.splice(this.#threads.indexOf(thread), 1))
    this.#threads.push(thread)
    return thread
  }

  /** What is being read is refused. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread[Symbol.asyncDispose]()))
  }
}

interface Waiting {
  readonly resolve: (batch: ReadBatch) => void
  readonly reject: (error: Error) => void
}

class Thread implements AsyncDisposable {
  readonly #worker = new Worker(THREAD)
  readonly #waiting: Waiting[] = []
  #numbers = new WeakMap<Validator, number>()
  #validators = 0
  #hasEnded = false

  constructor(onEnd: () => void) {
    this.#worker.unref()
    this.#worker.on('message', (answer: BatchAnswer) => settle(this.#waiting.shift()!, answer))
    this.#worker.on('error', (error) => this.#end(error))
    this.#worker.on('exit', () => {
      this.#end(new Error('the thread that reads batches has ended'))
      onEnd()
    })
  }

  /**
   * Whether it takes another one. It should always have one to go on with, also while this thread is busy. What it gets
   * before it has started waits for that: a large batch read elsewhere would hold up all others for longer.
   */
  get isFree(): boolean {
    return !this.#hasEnded && this.#waiting.length < limits.batchesOfReader
  }

  read({ validator, body, ...batch }: Batch): Promise<ReadBatch> {
    const { number, isNew } = this.#numberOf(validator)
    const own = ownBytes(body)
    const columns = isNew ? validator.columns.map(describeColumn) : null
    const order: BatchOrder = {
      ...batch,
      validator: number,
      columns,
      former: validator.former,
      body: own,
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      this.#worker.postMessage(order, [own.buffer])
    })
  }

  #numberOf(validator: Validator): { readonly number: number; readonly isNew: boolean } {
    const known = this.#numbers.get(validator)
    if (known !== undefined) return { number: known, isNew: false }
    // The models of a daemon change while it runs. The thread forgets the old ones with the number 0.
    if (this.#validators >= limits.validatorsOfReader) {
      this.#validators = 0
      this.#numbers = new WeakMap()
    }
    const number = this.#validators++
    this.#numbers.set(validator, number)
    return { number, isNew: true }
  }

  #end(error: Error): void {
    this.#hasEnded = true
    for (const { reject } of this.#waiting.splice(0)) reject(error)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate()
  }
}

const describeColumn = ({ name, type, required }: ValidatedColumn) => ({ name, type, required })

/** The bytes in memory of their own, which can be given away. */
function ownBytes(body: Buffer): Uint8Array<ArrayBuffer> {
  const isOwn = body.length === body.buffer.byteLength && body.buffer instanceof ArrayBuffer
  return isOwn ? (body as Uint8Array<ArrayBuffer>) : new Uint8Array(body)
}

function settle({ resolve, reject }: Waiting, answer: BatchAnswer): void {
  if ('failed' in answer) return reject(new Error(answer.failed))
  if ('refused' in answer) {
    const { status, code, message, ...options } = answer.refused
    return reject(new RequestError(status, code, message, options))
  }
  const { bytes, places, warnings } = answer
  const events: Uint8Array[] = []
  for (let i = 0; i < places.length; i += 2) events.push(bytes.subarray(places[i], places[i + 1]))
  resolve({ events, warnings })
}
