// The answer cache of the current snapshot. Equal requests that arrive at the same time share
// one answer, which is computed once.
//
// An answer is cached when it has an ETag, that is when it stays the same until the next snapshot. Errors have none, nor
// have answers that depend on the time. A new snapshot empties the cache.

import { limits } from '../../core/limits.ts'
import type { ContentCoding } from '../../http/content-coding.ts'
import { RequestError } from '../../http/request-error.ts'
import type { Answer } from '../answer/context.ts'
import { createCachedAnswers, type CachedAnswers } from './lru.ts'
import { type Reader, WHOLE } from '../protocol/reader.ts'
import { header, type RequestHeaders } from '../protocol/negotiate.ts'
import { decodeAscii } from '../syntax/parse-request.ts'
import { ClientGone } from '../engine/query.ts'

export interface CacheStats {
  readonly hits: number
  readonly misses: number
  readonly entries: number
  readonly bytes: number
}

export interface CachedRequest {
  /** Of the current snapshot, whatever the request. */
  readonly snapshotId: string
  /** Equal for requests that have the same answer, except that it may be 304 for one of them. */
  readonly key: string
  /** The If-None-Match header. */
  readonly condition: string | undefined
  readonly gone: AbortSignal
}

export interface AnswerCache {
  /** The answer to an equal request, when it is cached. */
  find(snapshotId: string, key: string): Answer | null
  /**
   * The answer of `make`, shared with equal requests in progress; cached if possible. Throws
   * what `make` throws; ClientGone when `gone` was aborted meanwhile.
   */
  answer(request: CachedRequest, make: () => Promise<Answer>): Promise<Answer>
  /** `body` in that coding. The compressed form of a cached body is cached too. */
  readonly compress: (body: Buffer, coding: ContentCoding) => Promise<Buffer>
  readonly stats: CacheStats
}

/**
 * What an answer depends on, besides the snapshot: who asks, the URL and every header that changes something of it. null for a
 * request without a Host header, whose answer names the address that it came to, and for a next link or delta link,
 * which is 410 as soon as an earlier snapshot is gone.
 */
export function requestKey(
  url: string,
  headers: RequestHeaders,
  reader: Pick<Reader, 'key'> = WHOLE,
): string | null {
  if (headers['host'] === undefined || /(?:skip|delta)token/i.test(decodeAscii(url))) return null
  // A header that is empty is another request than one without it: it may be wrong.
  const valueOf = (name: string) => (headers[name] === undefined ? '' : `=${header(headers, name)}`)
  return keyHeaders.reduce((key, name) => `${key}\n${valueOf(name)}`, `${reader.key} ${url}`)
}

/** What an answer may depend on, so that it cannot depend on a header that is not in the key. */
export function headersInKey(headers: RequestHeaders): RequestHeaders {
  const names = [...keyHeaders, 'if-none-match']
  return Object.fromEntries(names.map((name) => [name, headers[name]]))
}

/** Those after Prefer say how a client reaches a service behind a proxy. */
const keyHeaders = [
  'host',
  'accept',
  'odata-maxversion',
  'odata-version',
  'prefer',
  'forwarded',
  'x-forwarded-proto',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-prefix',
] as const

/** What belongs to one snapshot. */
interface Generation {
  readonly snapshotId: string
  readonly cached: CachedAnswers
  readonly flights: Map<string, Promise<Flight>>
}

/**
 * What equal requests that wait for an answer get. `alone`: the answer is a stream, which only one can read. `again`: it
 * failed for a reason specific to its caller, so the next one makes it again. An error: the service was too busy for it.
 */
type Flight = Answer | 'alone' | 'again' | RequestError

export function createAnswerCache(maxBytes: number): AnswerCache {
  const newGeneration = (snapshotId: string): Generation => {
    return { snapshotId, cached: createCachedAnswers(maxBytes), flights: new Map() }
  }
  const collect = createCollector(maxBytes)
  let generation = newGeneration('')
  let [hits, misses] = [0, 0]

  function of(snapshotId: string): Generation {
    if (snapshotId !== generation.snapshotId) generation = newGeneration(snapshotId)
    return generation
  }

  /** A whole answer is cached at once; a stream after its last part was sent. */
  function caching({ cached, snapshotId }: Generation, key: string, answer: Answer): Answer {
    const { status, headers, body } = answer
    if (headers['ETag'] === undefined || status === 304) return answer
    // A file is kept as such.
    if (answer.file !== undefined) return answer
    // A request that has waited for another's answer in vain makes its own later, maybe on a newer snapshot.
    if (headers['Eider-Snapshot'] !== snapshotId) return answer
    if (body === null || Buffer.isBuffer(body)) {
      if (body === null || body.length <= limits.cachedAnswerBytes) cached.put(key, answer)
      return answer
    }
    const done = (whole: Buffer) => cached.put(key, { ...answer, body: whole })
    return { ...answer, body: collect(body, done) }
  }

  return {
    find(snapshotId, key) {
      const answer = of(snapshotId).cached.find(key)
      if (answer !== null) hits++
      return answer
    },

    async answer({ snapshotId, key, condition, gone }, make) {
      const ours = of(snapshotId)
      const { flights } = ours
      const equal = condition === undefined ? key : `${key}\n${condition}`
      let isLate = true // the first flight may have begun long before this request came, the next one has not
      for (let flight = flights.get(equal); flight !== undefined; flight = flights.get(equal)) {
        const shared = await flight
        if (gone.aborted) throw new ClientGone()
        if (shared === 'alone') return await make()
        if (shared === 'again') continue
        if (shared instanceof RequestError) {
          if (!isLate) throw shared
          isLate = false
          continue
        }
        hits++
        return shared
      }
      misses++
      const making = make()
      const flight = making.then(shareable, refusal)
      const land = () => flights.delete(equal)
      flight.then(land, land)
      flights.set(equal, flight)
      return caching(ours, key, await making)
    },

    compress: (body, coding) => generation.cached.compress(body, coding),

    get stats() {
      const { entries, bytes } = generation.cached
      return { hits, misses, entries, bytes }
    },
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

/**
 * Gives parts on as they come, and all of them to `done` after the last one when they are few enough. All that is
 * being collected at a time is bounded as well, since a client may be slow.
 */
function createCollector(maxBytes: number) {
  let collecting = 0
  return async function* collect(parts: AsyncIterable<Buffer>, done: (body: Buffer) => void) {
    let pieces: Buffer[] | null = []
    let size = 0
    try {
      for await (const part of parts) {
        const isSmall = size + part.length <= limits.cachedAnswerBytes
        if (!isSmall || collecting + part.length > maxBytes) pieces = null
        if (pieces !== null) {
          pieces.push(part)
          size += part.length
          collecting += part.length
        }
        yield part
      }
      if (pieces !== null) done(Buffer.concat(pieces))
    } finally {
      collecting -= size
    }
  }
}
