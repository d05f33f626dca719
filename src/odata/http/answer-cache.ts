// Whole answers of the current snapshot in memory; what was used last stays longest. Equal requests that arrive at the same
// time share one answer, which is made once.
//
// An answer is cached when it has an ETag, that is when it stays the same until the next snapshot. Errors have none, nor
// have answers that depend on the time. A new snapshot empties the cache.

import { LRUCache } from 'lru-cache'
import { limits } from '../../core/limits.ts'
import { type ContentCoding, keepCoded } from '../../http/content-coding.ts'
import { RequestError } from '../../http/request-error.ts'
import type { Answer } from '../answer/context.ts'
import { ClientGone } from '../engine/query.ts'
import { header } from '../protocol/negotiate.ts'
import { type Answers, type AnswerStats, type AskedAnswer, answerKey } from './answers.ts'

interface Entry {
  readonly answer: Answer
  readonly bytes: number
  /** Those of the body that are kept with it and are among the bytes. */
  readonly codings: readonly ContentCoding[]
}

/** What an entry takes besides its body and key: headers and the objects around them. */
const ENTRY_BYTES = 1_000

/**
 * What equal requests that wait for an answer get. `alone`: the answer is a stream, which only one can read. `again`: it
 * failed for a reason specific to its caller, so the next one makes it again. An error: the service was too busy for it.
 */
type Flight = Answer | 'alone' | 'again' | RequestError

export class AnswerCache implements Answers {
  readonly #next: Answers
  readonly #maxBytes: number
  readonly #entries: LRUCache<string, Entry>
  readonly #keyOf = new WeakMap<Buffer, string>()
  #snapshotId = ''
  #flights = new Map<string, Promise<Flight>>()
  #hits = 0
  #misses = 0
  /** Bytes of streams that may be cached when they end: their clients may be slow. */
  #collecting = 0

  /** What is not in the cache is asked of `next`. With `maxBytes` 0 nothing is cached. */
  constructor(next: Answers, maxBytes: number) {
    this.#next = next
    this.#maxBytes = maxBytes
    this.#entries = new LRUCache({
      maxSize: Math.max(1, maxBytes),
      sizeCalculation: ({ bytes }) => bytes,
    })
  }

  find(asked: AskedAnswer): Answer | null {
    this.#turnTo(asked.snapshotId)
    const key = answerKey(asked)
    const entry = key === null ? undefined : this.#entries.get(key)
    if (entry === undefined) return this.#next.find(asked)
    this.#hits++
    return entry.answer
  }

  async answer(asked: AskedAnswer, make: () => Promise<Answer>): Promise<Answer> {
    this.#turnTo(asked.snapshotId)
    const key = answerKey(asked)
    const made = () => this.#next.answer(asked, make)
    if (key === null) return await made()
    const flights = this.#flights
    const condition = header(asked.headers, 'if-none-match')
    const equal = condition === null ? key : `${key}\n${condition}`
    let isLate = true // the first flight may have begun long before this request came, the next one has not
    for (let flight = flights.get(equal); flight !== undefined; flight = flights.get(equal)) {
      const shared = await flight
      if (asked.gone.aborted) throw new ClientGone()
      if (shared === 'alone') return await made()
      if (shared === 'again') continue
      if (shared instanceof RequestError) {
        if (!isLate) throw shared
        isLate = false
        continue
      }
      this.#hits++
      return shared
    }
    this.#misses++
    const making = made()
    const flight = making.then(shareable, refusal)
    const land = () => flights.delete(equal)
    flight.then(land, land)
    flights.set(equal, flight)
    return this.#caching(asked.snapshotId, key, await making)
  }

  givesAgain(...[answer, { snapshotId, key }]: Parameters<Answers['givesAgain']>): boolean {
    this.#turnTo(snapshotId)
    if (this.#entries.peek(key)?.answer !== answer) return false
    this.#entries.get(key)
    this.#hits++
    return true
  }

  async compress(body: Buffer, coding: ContentCoding): Promise<Buffer> {
    const coded = await this.#next.compress(body, coding)
    const key = this.#keyOf.get(body)
    const entry = key === undefined ? undefined : this.#entries.peek(key)
    if (key === undefined || entry?.answer.body !== body || entry.codings.includes(coding))
      return coded
    const { answer, bytes, codings } = entry
    this.#entries.set(key, {
      answer,
      bytes: bytes + coded.length,
      codings: [...codings, coding],
    })
    return coded
  }

  stats(): AnswerStats {
    const { size: entries, calculatedSize: bytes } = this.#entries
    return { hits: this.#hits, misses: this.#misses, entries, bytes }
  }

  #turnTo(snapshotId: string): void {
    if (snapshotId === this.#snapshotId) return
    this.#snapshotId = snapshotId
    this.#entries.clear()
    this.#flights = new Map()
  }

  /** A whole answer is cached at once; a stream after its last part was sent. */
  #caching(snapshotId: string, key: string, answer: Answer): Answer {
    const { status, headers, body, file } = answer
    // A file is kept as such.
    if (headers['ETag'] === undefined || status === 304 || file !== undefined) return answer
    // A request that has waited for another's answer in vain makes its own later, maybe on a newer snapshot.
    if (headers['Eider-Snapshot'] !== snapshotId) return answer
    const put = (whole: Buffer | null) => {
      if (snapshotId === this.#snapshotId) this.#put(key, { ...answer, body: whole })
    }
    if (body !== null && !Buffer.isBuffer(body))
      return { ...answer, body: this.#collect(body, put) }
    if (body === null || body.length <= limits.cachedAnswerBytes) put(body)
    return answer
  }

  #put(key: string, made: Answer & { readonly body: Buffer | null }): void {
    if (this.#entries.has(key)) return
    // Only the number is kept: the function would keep DuckDB's result alive.
    const rows = made.rows()
    const { lookup: _, ...kept } = made
    const bytes = (made.body?.length ?? 0) + 2 * key.length + ENTRY_BYTES
    this.#entries.set(key, {
      answer: { ...kept, rows: () => rows, isKept: true },
      bytes,
      codings: [],
    })
    if (made.body !== null) this.#keyOf.set(keepCoded(made.body), key)
  }

  /**
   * Gives parts on as they come, and all of them to `done` after the last one when they are few enough. All that is
   * being collected at a time is bounded as well.
   */
  async *#collect(
    parts: AsyncIterable<Buffer>,
    done: (body: Buffer) => void,
  ): AsyncGenerator<Buffer, void> {
    let pieces: Buffer[] | null = []
    let size = 0
    try {
      for await (const part of parts) {
        const isSmall = size + part.length <= limits.cachedAnswerBytes
        if (!isSmall || this.#collecting + part.length > this.#maxBytes) pieces = null
        if (pieces !== null) {
          pieces.push(part)
          size += part.length
          this.#collecting += part.length
        }
        yield part
      }
      if (pieces !== null) done(Buffer.concat(pieces))
    } finally {
      this.#collecting -= size
    }
  }
}

function shareable(answer: Answer): Flight {
  const isWhole = answer.body === null || Buffer.isBuffer(answer.body)
  return isWhole && answer.headers['ETag'] !== undefined ? answer : 'alone'
}

const BUSY: readonly number[] = [503, 504]

/** An equal request is refused for the same reason, unless that was the state of the service. */
function refusal(error: unknown): Flight {
  if (!(error instanceof RequestError)) return 'again'
  if (BUSY.includes(error.status)) return error
  throw error
}
