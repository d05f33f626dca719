// A fast path in front of node:http: it takes the connections, answers plain POST requests (plain-post.ts) that are
// here as a whole, and hands a connection over to node:http, with every byte that is not answered, as soon as it meets
// anything else: another request, one that is slow or large, one whose head its route refuses, a server that stops.
// What was handed over does not come back. So everything odd has one reader and one answer, that of node:http.
//
// Answers have the order of their requests: one that is ready waits for those before it, and so does a handover. What
// becomes ready at the same time is sent in one write per connection.
//
// A connection that sends without waiting for its answers gets a few requests taken in a turn of the event loop, so that
// all others are served too; and none while its client does not read.

import type { IncomingHttpHeaders } from 'node:http'
import { createServer, type Server, type Socket } from 'node:net'
import { limits } from '../../core/limits.ts'
import type { Front, FrontHooks, FrontRoutes, MakeFront } from '../head.ts'
import { type Answered, FrontAnswers, type Route } from './front-answers.ts'
import { endOfHead, formOf, type HeadForm, valueOf } from '../head-form.ts'
import { mayBecomePlainPost, readLength, readOneChunk, readPlainPost } from './plain-post.ts'

type Options = FrontRoutes & FrontHooks

/** The way in: the front that answers these routes. */
export const fastFront =
  (routes: FrontRoutes): MakeFront =>
  (hooks) =>
    new PostFront({ ...routes, ...hooks })

interface Connection extends Answered {
  readonly socket: Socket
  readonly onData: (chunk: Buffer) => void
  readonly onEnd: () => void
  /** The beginning of a request that may become a plain one. */
  partial: Buffer | null
  /** The route of its last request: the next one most often has a head of the same form. */
  route: KnownRoute | null
  /** It has used its quota for this turn of the event loop; the rest of its input is back in the socket. */
  hasHadTurn: boolean
  /** No further request is read: the connection is handed over, or ends, after the last answer. */
  last: 'handover' | 'end' | null
  /** Since when nothing has moved, and how much had by then. */
  quietSinceMs: number
  movedBytes: number
  /** How much had moved at the last look for idle connections; null before the first. */
  idleBytes: number | null
  /** Sweeps that the same request has been partial for. */
  partialSweeps: number
}

/** The route of all requests with a head of that form. */
interface KnownRoute extends Route {
  readonly form: HeadForm
}

const NOTHING_TOLD: IncomingHttpHeaders = {}

const HEAD_END = Buffer.from('\r\n\r\n')

class PostFront implements Front {
  readonly listener: Server
  readonly #options: Options
  readonly #connections = new Map<Socket, Connection>()
  /** By the form of the head: a client sends the same one again and again. */
  readonly #routes = new Map<string, KnownRoute>()
  readonly #changing: ReadonlySet<string>
  /** The one that was found last: a client may have a connection for each request. */
  #latest: KnownRoute | null = null
  /** Of the values in the head that was compared last. */
  readonly #ends: number[] = []
  readonly #answers: FrontAnswers<Connection>
  readonly #sweep: NodeJS.Timeout
  #stopping = false

  constructor(options: Options) {
    this.#options = options
    this.#changing = new Set(options.changing)
    this.#answers = new FrontAnswers(options, (connection) => this.#send(connection))
    this.listener = createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
      this.#connect(socket),
    )
    this.#sweep = setInterval(() => this.#sweepSlow(), limits.frontSweepMs).unref()
  }

  stop(): void {
    this.#stopping = true
    this.listener.once('close', () => clearInterval(this.#sweep))
  }

  /**
   * Of a connection on which something has moved since the last call, the next request may be on its way, and a reset
   * would meet it and answers that its client has not read yet.
   */
  closeIdle(): void {
    for (const connection of this.#connections.values()) {
      const { socket, answers, partial, idleBytes } = connection
      connection.idleBytes = socket.bytesRead + socket.bytesWritten
      const isAnswered = answers.length === 0 && socket.writableLength === 0
      const isIdle = isAnswered && partial === null && socket.readableLength === 0
      if (isIdle && connection.idleBytes === idleBytes) socket.destroy()
    }
  }

  closeAll(): void {
    for (const socket of this.#connections.keys()) socket.destroy()
  }

  #connect(socket: Socket): void {
    const connection: Connection = {
      socket,
      onData: (chunk) => this.#read(connection, chunk),
      onEnd: () => this.#endOf(connection),
      answers: [],
      partial: null,
      route: null,
      hasHadTurn: false,
      last: null,
      quietSinceMs: performance.now(),
      movedBytes: 0,
      idleBytes: null,
      partialSweeps: 0,
    }
    this.#connections.set(socket, connection)
    socket.on('data', connection.onData)
    socket.on('end', connection.onEnd)
    // The end of the connection is seen at 'close'.
    socket.on('error', () => {})
    socket.on('close', () => this.#connections.delete(socket))
    socket.on('drain', () => this.#readOn(connection))
  }

  #read(connection: Connection, chunk: Buffer): void {
    const { partial } = connection
    const bytes = partial === null ? chunk : Buffer.concat([partial, chunk])
    connection.partial = null
    let [at, most] = [0, mostInTurn(connection)]
    while (at < bytes.length) {
      if (most === 0) {
        this.#hold(connection, bytes.subarray(at))
        break
      }
      const next = this.#takeRequest(connection, bytes, at)
      if (next === 'foreign') return this.#leave(connection, bytes.subarray(at))
      if (next === 'partial') {
        // A copy, as the bytes before it must not stay in memory because of some after them.
        connection.partial = at === 0 ? bytes : Buffer.from(bytes.subarray(at))
        break
      }
      at = next
      most--
    }
    if (at > 0) connection.partialSweeps = 0
    this.#send(connection)
    if (connection.answers.length >= limits.frontPipelinedRequests) connection.socket.pause()
  }

  /** In the socket the rest keeps its end after it: that comes when all of it is read. */
  #hold(connection: Connection, rest: Buffer): void {
    const { socket } = connection
    socket.pause()
    socket.unshift(rest)
    connection.hasHadTurn = true
    setImmediate(() => {
      connection.hasHadTurn = false
      if (!socket.destroyed) this.#readOn(connection)
    })
  }

  /** The offset after the request at `at`. */
  #takeRequest(connection: Connection, bytes: Buffer, at: number): number | 'partial' | 'foreign' {
    if (this.#stopping) return 'foreign'
    connection.route ??= this.#latest
    let start = this.#endOfHead(connection.route, bytes, at)
    if (start === -1) {
      const found = this.#lookUp(bytes, at)
      if (typeof found === 'string') return found
      connection.route = this.#latest = found
      start = this.#endOfHead(found, bytes, at)
    }
    const { route } = connection
    if (route === null || start === -1) return 'foreign'
    const isSmall = bytes.length - at <= limits.frontPartialBytes
    const { form, maxBodyBytes } = route
    if (form.lengthAt === -1) {
      const chunk = readOneChunk(bytes, start, maxBodyBytes)
      if (typeof chunk === 'string') return isSmall ? chunk : 'foreign'
      this.#take(connection, route, { bytes, at, start: chunk.start, end: chunk.end })
      return chunk.after
    }
    const length = readLength(valueOf(form, bytes, at, this.#ends, form.lengthAt))
    if (length === undefined || length > maxBodyBytes) return 'foreign'
    const end = start + length
    if (end > bytes.length) return isSmall ? 'partial' : 'foreign'
    this.#take(connection, route, { bytes, at, start, end })
    return end
  }

  /** The head begins at `at`, the body at `start`. */
  #take(
    connection: Connection,
    route: KnownRoute,
    { bytes, at, start, end }: Record<'at' | 'start' | 'end', number> & { readonly bytes: Buffer },
  ): void {
    const { form, isTold } = route
    let told = NOTHING_TOLD
    if (isTold === true) {
      told = {}
      for (const [i, name] of form.names.entries())
        told[name] = valueOf(form, bytes, at, this.#ends, i)
    }
    this.#answers.take(connection, route, bytes.subarray(start, end), told)
  }

  /** Where the body begins; -1 for a head that is not of the route. */
  #endOfHead(route: KnownRoute | null, bytes: Buffer, at: number): number {
    if (route === null || !isCurrent(route)) return -1
    const end = endOfHead(route.form, bytes, at, this.#ends)
    return end - at > limits.frontHeadBytes ? -1 : end
  }

  #lookUp(bytes: Buffer, at: number): KnownRoute | 'partial' | 'foreign' {
    const headEnd = bytes.indexOf(HEAD_END, at)
    if (headEnd === -1) {
      const isFine = bytes.length - at <= limits.frontHeadBytes
      return isFine && mayBecomePlainPost(bytes.toString('latin1', at)) ? 'partial' : 'foreign'
    }
    const start = headEnd + HEAD_END.length
    if (start - at > limits.frontHeadBytes) return 'foreign'
    return this.#findRoute(bytes.toString('latin1', at, start)) ?? 'foreign'
  }

  #findRoute(text: string): KnownRoute | null {
    const form = formOf(text, this.#changing)
    const known = this.#routes.get(form.key)
    if (known !== undefined && isCurrent(known)) return known
    this.#routes.delete(form.key)
    const head = readPlainPost(text)
    const route = head === null ? null : this.#options.routeOf(head)
    if (head === null || route === null) return null
    const variant = route.answerHeaders === undefined ? '' : JSON.stringify(route.answerHeaders)
    const found = { ...route, url: head.url, variant, form }
    if (this.#routes.size >= limits.frontRoutes) this.#routes.clear()
    this.#routes.set(form.key, found)
    return found
  }

  /** Sends the answers that no earlier one is missing before. */
  #send(connection: Connection): void {
    const texts = this.#answers.takeReady(connection)
    if (texts === '') return
    connection.socket.write(texts, 'latin1')
    if (connection.last === null) this.#readOn(connection)
    else if (connection.answers.length === 0) this.#finish(connection)
  }

  /** A client that does not take its answers, or does not wait for any, is not read from. */
  #readOn(connection: Connection): void {
    const { socket, answers, hasHadTurn, last } = connection
    const isFull = answers.length >= limits.frontPipelinedRequests
    if (last !== null || hasHadTurn || isFull) return
    if (socket.writableNeedDrain) socket.pause()
    else if (socket.isPaused()) socket.resume()
  }

  #endOf(connection: Connection): void {
    connection.last = 'end'
    if (connection.answers.length === 0) this.#finish(connection)
  }

  #leave(connection: Connection, rest: Buffer | null): void {
    connection.last = 'handover'
    connection.partial = null
    // The rest goes back into the socket, and what comes meanwhile stays there.
    connection.socket.pause()
    if (rest !== null) connection.socket.unshift(rest)
    if (connection.answers.length === 0) this.#finish(connection)
    else this.#send(connection)
  }

  #finish(connection: Connection): void {
    const { socket, onData, onEnd, partial, last } = connection
    if (last === 'end') {
      if (partial === null) socket.end()
      else this.#options.refuseBroken(socket)
      return
    }
    if (!this.#connections.delete(socket) || socket.destroyed) return
    socket.off('data', onData).off('end', onEnd)
    this.#options.handOver(socket)
    // With a listener node:http takes all bytes from the stream. Without one it takes those that come from the system
    // itself, before those that wait in the socket when that has been paused.
    socket.on('data', () => {})
    socket.resume()
  }

  /** node:http has the timeouts for slow requests; those for idle connections are here. */
  #sweepSlow(): void {
    const now = performance.now()
    for (const connection of this.#connections.values()) {
      const { socket, answers, partial, last } = connection
      const movedBytes = socket.bytesRead + socket.bytesWritten
      if (movedBytes !== connection.movedBytes) {
        connection.movedBytes = movedBytes
        connection.quietSinceMs = now
      }
      const quietMs = now - connection.quietSinceMs
      const isBusy = answers.length > 0 || socket.writableLength > 0 || last !== null
      const isPartial = !isBusy && (partial !== null || movedBytes === 0)
      connection.partialSweeps = isPartial ? connection.partialSweeps + 1 : 0
      if (connection.partialSweeps > 1) this.#leave(connection, partial)
      else if (quietMs >= (isBusy ? limits.socketIdleMs : limits.keepAliveTimeoutMs))
        socket.destroy()
    }
  }
}

const isCurrent = ({ isCurrent }: Route): boolean => isCurrent?.() ?? true

/** Requests that the connection may have taken now. */
function mostInTurn({ socket, answers }: Connection): number {
  if (socket.writableNeedDrain) return 0
  const room = Math.max(0, limits.frontPipelinedRequests - answers.length)
  return Math.min(room, limits.frontRequestsInTurn)
}
