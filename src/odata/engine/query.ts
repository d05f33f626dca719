// One query of one request: it waits for admission, has a limited time in DuckDB, and ends when the client is gone.

import { setImmediate as nextLoopTurn } from 'node:timers/promises'
import { limits } from '../../core/limits.ts'
import { Resources } from '../../core/resources.ts'
import type { Sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { DatabaseError, isDamage } from '../../duckdb/errors.ts'
import {
  type TextPart,
  TextStream,
  type TextStreamOptions,
} from '../../duckdb/vectors/text-stream.ts'
import type { RequestError } from '../../http/request-error.ts'
import { odataError } from '../protocol/errors.ts'
import { raised } from '../sql/raised.ts'
import type { OpenSnapshot } from './open-snapshot.ts'
import {
  type AdmissionOptions,
  type Effort,
  isOutOfMemory,
  outOfMemory,
  overloaded,
  type Admission,
  type OpenStreams,
} from './admission.ts'

/** What the queries of one request share. */
export interface EngineAccess {
  readonly snapshot: Pick<OpenSnapshot, 'connect'>
  readonly admission: Admission
  readonly streams: OpenStreams
  /** Called when a file of the snapshot turns out to be damaged. */
  readonly onDamage: (error: unknown) => void
  /** Time left to wait for DuckDB, of all queries of the request together. Time that the client takes is free. */
  readonly clock: { remainingMs: number }
  readonly gone: AbortSignal
}

interface QueryOptions extends TextStreamOptions {
  readonly effort: Effort
}

interface Opened {
  readonly access: EngineAccess
  readonly connection: Connection
  readonly stream: TextStream
  readonly isSmall: boolean
  readonly resources: Resources
}

export class ClientGone extends Error {
  override name = 'ClientGone'
}

/** An open query with its first texts. */
export class Query implements AsyncDisposable {
  /** What came first: all texts, some, or the beginning of a long one; empty when there is none. */
  readonly first: Buffer
  readonly #opened: Opened
  /** Settled when DuckDB has produced all that was requested. */
  #last: Promise<unknown> = Promise.resolve()
  #closed = false

  private constructor(first: Buffer, opened: Opened) {
    this.first = first
    this.#opened = opened
  }

  /**
   * `texts` is as TextStream takes it. Throws RequestError: 400 for a calculation that has no result, 503, 504;
   * DatabaseError for what is a mistake of ours.
   */
  static async open(access: EngineAccess, texts: Sql, options: QueryOptions): Promise<Query> {
    const { effort } = options
    try {
      return await Query.#open(access, texts, options, effort === 'shared')
    } catch (error) {
      // The engine whose threads share a query has less memory than the other one.
      if (effort !== 'shared' || !isOutOfMemory(error)) throw error
      return await Query.#open(access, texts, options, false)
    }
  }

  static async #open(
    access: EngineAccess,
    texts: Sql,
    options: QueryOptions,
    isShared: boolean,
  ): Promise<Query> {
    const isSmall = options.effort === 'small'
    await using resources = new Resources()
    const { connection } = resources.use(await access.snapshot.connect(isShared))
    const turn = { begun: false, isSmall }
    const { stream, first } = await inTurn(access, connection, turn, async () => {
      const stream = resources.use(await TextStream.open(connection, texts, options))
      // A stream begins with its first rows, unless only an answer that turns out to be small has a place.
      const isWhole = options.mode === 'whole' || access.streams.isFull
      return { stream, first: await readSome(stream, isWhole ? limits.wholeAnswerBytes : 1) }
    })
    if (!stream.hasEnded) resources.use(access.streams.enter())
    return new Query(first, { access, connection, stream, isSmall, resources: resources.move() })
  }

  /** Texts handed out so far. */
  get rows(): number {
    return this.#opened.stream.rows
  }

  /** The text after the last one that was requested; null when there is none. */
  get following(): Buffer | null {
    return this.#opened.stream.following
  }

  /** All texts at once when they came in one piece; null when more will follow. */
  get whole(): Buffer | null {
    return this.#opened.stream.hasEnded ? this.first : null
  }

  /** Call it once. DuckDB produces the next texts while the caller sends these. */
  async *chunks(): AsyncGenerator<Buffer, void> {
    const ahead: Promise<TextPart | null>[] = []
    let bytes = this.first
    while (true) {
      while (ahead.length < limits.partsAhead) ahead.push(this.#askForNext())
      yield bytes
      const texts = await ahead.shift()!
      if (texts === null) return
      // The next texts are requested before these are copied, or DuckDB would be idle meanwhile. And all of a
      // whole result is at hand, which a fast client may take as fast as it is copied.
      await nextLoopTurn()
      bytes = texts.copy()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return // the connection may be another query's by now
    this.#closed = true
    this.#opened.connection.interrupt()
    await this.#last.catch(() => {})
    await this.#opened.resources[Symbol.asyncDispose]()
  }

  #askForNext(): Promise<TextPart | null> {
    const next = this.#nextAfter(this.#last)
    next.catch(() => {}) // it is awaited after the texts before it are sent
    this.#last = next
    return next
  }

  async #nextAfter(before: Promise<unknown>): Promise<TextPart | null> {
    await before
    const { access, connection, stream, isSmall } = this.#opened
    if (stream.hasEnded || this.#closed) return null
    return await inTurn(access, connection, { begun: true, isSmall }, () => stream.next())
  }
}

/** Texts until there are `minBytes` of them or no more. */
async function readSome(stream: TextStream, minBytes: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  for (let size = 0; size < minBytes;) {
    const texts = await stream.next()
    if (texts === null) break
    const piece = texts.copy()
    pieces.push(piece)
    size += piece.length
  }
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
}

/** Work of a connection: admitted, in what is left of the time, ended when the client is gone. Throws as Query.open() does. */
export async function inTurn<T>(
  { admission, clock, gone, onDamage }: Omit<EngineAccess, 'snapshot' | 'streams'>,
  connection: Connection,
  turn: Omit<AdmissionOptions, 'signal'>,
  work: () => Promise<T>,
): Promise<T> {
  const stop = new AbortController()
  const startedAt = performance.now()
  let timer: NodeJS.Timeout
  // An interrupt between two statements is lost, so it is repeated until the turn is over.
  const interrupt = () => {
    connection.interrupt()
    timer = setTimeout(interrupt, limits.interruptAgainMs)
  }
  const end = (reason: RequestError | ClientGone) => {
    clearTimeout(timer)
    stop.abort(reason)
    interrupt()
  }
  const onGone = () => end(new ClientGone())
  timer = setTimeout(() => end(timeLimit()), Math.max(0, clock.remainingMs))
  gone.addEventListener('abort', onGone, { once: true })
  try {
    if (gone.aborted) throw new ClientGone()
    return await admission.run(work, { ...turn, signal: stop.signal })
  } catch (error) {
    if (isDamage(error)) onDamage(error)
    throw stop.signal.aborted ? stop.signal.reason : engineFailure(error)
  } finally {
    gone.removeEventListener('abort', onGone)
    clearTimeout(timer)
    clock.remainingMs -= performance.now() - startedAt
  }
}

/**
 * What `made` gives. Throws ClientGone as soon as the client is gone, and where there is a clock 503 when its time is
 * over; waiting takes of it.
 */
export async function unlessGone<T>(
  made: Promise<T>,
  gone: AbortSignal,
  clock: EngineAccess['clock'] | null = null,
): Promise<T> {
  const startedAt = performance.now()
  let timer: NodeJS.Timeout | undefined
  let onGone = () => {}
  const ended = new Promise<never>((_, reject) => {
    const late = () => reject(overloaded())
    if (clock !== null) timer = setTimeout(late, Math.max(0, clock.remainingMs))
    onGone = () => reject(new ClientGone())
    if (gone.aborted) onGone()
    gone.addEventListener('abort', onGone, { once: true })
  })
  try {
    return await Promise.race([made, ended])
  } finally {
    clearTimeout(timer)
    gone.removeEventListener('abort', onGone)
    if (clock !== null) clock.remainingMs -= performance.now() - startedAt
  }
}

const timeLimit = () =>
  odataError('time-limit', 'the query exceeded the time limit of this service')

/**
 * A number that a DECIMAL cannot hold, a time beyond the calendar, or a duration of more microseconds than 64 bits; other
 * failed conversions are our mistakes.
 */
const OUT_OF_RANGE =
  /out of range|\bto DECIMAL\(|not in timestamp range|^Could not convert (?:Month|Day|Interval) to Microseconds/

/** What DuckDB says of a query that was bound without a mistake. Everything unknown stays what it is: ours. */
function engineFailure(error: unknown): unknown {
  if (!(error instanceof DatabaseError)) return error
  const { type, message } = error.details
  if (type === 'Out of Memory') return outOfMemory(error)
  if (type === 'Out of Range' || (type === 'Conversion' && OUT_OF_RANGE.test(message)))
    return odataError(
      'arithmetic-error',
      'the result of a calculation is out of range for its type',
    )
  const ours = type === 'Invalid Input' ? raised.get(message) : undefined
  if (ours !== undefined) {
    const { code, message: problem, isTooWide = false, ...options } = ours
    return odataError(code, problem, isTooWide ? { ...options, cause: error } : options)
  }
  return error
}
