// The lifetime of an HTTP server: it listens, answers, and stops after the open requests have their answers.

import { hostAndPort } from '../core/host-text.ts'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Server as NetServer, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { limits } from '../core/limits.ts'
import { openFiles } from '../core/machine.ts'
import type { Logger } from '../core/logger.ts'
import { continueWhenRead } from './body.ts'
import { errorText, httpDate, cutOff, type Headers, sendError, sendLastError } from './respond.ts'
import { type Front, type MakeFront, singleHeaders } from './head.ts'
import { type Address, listen, mostConnections } from './listen.ts'
import { Pipelining } from './pipelining.ts'
import { noRepeats, type Repeats } from './repeats.ts'
import { RequestError } from './request-error.ts'
import { hostName } from './auth.ts'

const ABSOLUTE = /^https?:\/\/([^/?#]*)([^#]*)$/i

/** Answers one request. What it throws (or rejects with) is answered as an error. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>

export interface ServerOptions extends Address {
  readonly handle: Handler
  readonly logger: Logger
  /** Headers of every answer that the server itself makes (errors). */
  readonly errorHeaders?: Headers
  /** Takes the connections first; without it node:http answers everything. */
  readonly front?: MakeFront
  /** Answers requests that come again; without it node:http answers them. */
  readonly repeats?: Repeats
  /** Called for each request that was answered with an error. */
  readonly onRefusal?: (status: number, code: string) => void
  /** Processes that listen on the port together, this one included. */
  readonly processes?: number
  /** Time that open requests get when the server stops; limits.shutdownMs by default. */
  readonly shutdownMs?: number
}

export class HttpServer implements AsyncDisposable {
  readonly #server: Server
  readonly #front: Front | null
  readonly #repeats: Repeats
  /** Accepts the connections: the front, or node:http's server itself. */
  readonly #listener: NetServer
  readonly #options: ServerOptions
  /** The newest response of each open socket; responses of one socket are sent in the order of their requests. */
  readonly #newest = new Map<Socket, ServerResponse | null>()
  /** Requests that were cut off while their handler was running, and are answered: its own answer is too late. */
  readonly #brokenOff = new WeakSet<ServerResponse>()
  readonly #pipelining = new Pipelining()
  #port = 0
  #stopping = false

  private constructor(options: ServerOptions) {
    this.#options = options
    this.#server = createNodeServer()
    this.#front = this.#openFront(options)
    this.#repeats = options.repeats ?? noRepeats
    this.#listener = this.#front?.listener ?? this.#server
    this.#listener.maxConnections = mostConnections(openFiles(), options.processes)
    this.#watchConnections()
    this.#takeRequests()
  }

  #watchConnections(): void {
    this.#server.on('timeout', (socket: Socket) => this.#close(socket))
    this.#server.on('connection', (socket: Socket) => {
      this.#repeats.join(socket, () => this.#isFree(socket))
      // It comes again when a request was put back.
      if (this.#newest.has(socket)) return
      this.#newest.set(socket, null)
      socket.once('close', () => this.#newest.delete(socket))
      // Node takes its own listener off a socket that it hands over, as for CONNECT. The end is seen at 'close'.
      socket.on('error', () => {})
    })
  }

  #takeRequests(): void {
    this.#server.on('request', (request, response) => this.#answer(request, response))
    this.#server.on('checkContinue', (request, response) => {
      continueWhenRead(request, response)
      this.#answer(request, response)
    })
    this.#server.on('checkExpectation', (request, response) => {
      const message = `the expectation "${request.headers.expect}" cannot be met`
      this.#answer(request, response, new RequestError(417, 'expectation-failed', message))
    })
    this.#server.on('connect', (_request, socket: Duplex) => {
      this.#repeats.leave(socket as Socket)
      const message = 'this server is not a proxy'
      this.#refuse(socket as Socket, new RequestError(405, 'method-not-allowed', message))
    })
    this.#server.on('upgrade', (request, socket: Duplex, rest) => {
      this.#repeats.leave(socket as Socket)
      this.#readAgain(request, socket as Socket, rest)
    })
    this.#server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
      if (error.code === 'ECONNRESET') socket.destroy()
      else this.#refuse(socket as Socket, protocolError(error.code))
    })
  }

  /** Listens. Throws EnvironmentError `port-busy`, `cannot-listen` or `few-files`. */
  static async open(options: ServerOptions): Promise<HttpServer> {
    const server = new HttpServer(options)
    await listen(server.#listener, options)
    server.#port = (server.#listener.address() as AddressInfo).port
    // Where a front does, it does not listen; but without this event it never looks for slow requests.
    if (server.#front !== null) server.#server.emit('listening')
    // Such as too many open files: connections that wait are taken when there is room again.
    server.#listener.on('error', (error) => options.logger.error('accept-failed', { error }))
    return server
  }

  get host(): string {
    return this.#options.host
  }

  get port(): number {
    return this.#port
  }

  get url(): string {
    return `http://${hostAndPort(this.host, this.port)}`
  }

  /** Takes no new connection, waits for open requests up to `shutdownMs`, then cuts the rest off. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#stopping) return
    this.#stopping = true
    // Node's own sweep at close() takes an answer that is ended but not yet sent for finished.
    this.#server.closeIdleConnections = () => {}
    const closed = new Promise<void>((resolve) => this.#listener.close(() => resolve()))
    this.#front?.stop()
    // Not at once: what clients have sent by now is read first.
    const sweep = setInterval(() => this.#closeIdle(), 50)
    const { shutdownMs = limits.shutdownMs } = this.#options
    const deadline = setTimeout(() => this.#closeAll(), shutdownMs)
    await closed
    clearInterval(sweep)
    clearTimeout(deadline)
    if (this.#front !== null) this.#server.close()
  }

  #openFront({ front }: ServerOptions): Front | null {
    if (front === undefined) return null
    return front({
      handOver: (socket) => this.#server.emit('connection', socket),
      toRefusal: (error, url) => this.#toRefusal(error, url),
      refuseBroken: (socket) => this.#refuse(socket, protocolError(undefined)),
    })
  }

  /** Node's closeAllConnections() does not know the sockets that were handed over. */
  #closeAll(): void {
    this.#front?.closeAll()
    for (const socket of this.#newest.keys()) this.#close(socket)
  }

  /** Closes it now, also in the middle of a request. */
  #close(socket: Socket): void {
    const newest = this.#newest.get(socket)
    if (newest != null && newest.headersSent && !newest.writableFinished) cutOff(newest)
    socket.destroy()
  }

  /** All that was asked on it has been read and answered, and more may be asked. */
  #isFree(socket: Socket): boolean {
    const newest = this.#newest.get(socket)
    const isDone = newest?.closed === true && newest.req.complete
    // It is not writable after an answer that closes the connection.
    return isDone && !this.#stopping && socket.writable && socket.writableLength === 0
  }

  #closeIdle(): void {
    this.#front?.closeIdle()
    for (const [socket, newest] of this.#newest) {
      const isIdle = newest === null ? socket.bytesRead === 0 : newest.writableFinished
      if (isIdle && socket.readableLength + socket.writableLength === 0) socket.destroy()
    }
  }

  #answer(request: IncomingMessage, response: ServerResponse, refusal?: RequestError): void {
    // After the answer that closes the connection nothing is processed (RFC 9112, section 9.6): nobody would hear of it, so
    // its client sends it again. Only its body is read away, as closing before that might lose the last answer.
    if (this.#newest.get(request.socket)?.shouldKeepAlive === false) return void request.resume()
    this.#newest.set(request.socket, response)
    const unclear = unclearHead(request)
    // Where this request ends, or whom it asks, is what its readers may see differently.
    if (this.#stopping || unclear !== null) response.shouldKeepAlive = false
    this.#pipelining.inOrder(response, () => this.#work(request, response, unclear ?? refusal))
  }

  #work(request: IncomingMessage, response: ServerResponse, refusal?: RequestError): void {
    try {
      if (refusal !== undefined) throw refusal
      requireShortUrl(request)
      toOriginForm(request)
      const done = this.#options.handle(request, response)
      if (done !== undefined) done.catch((error: unknown) => this.#fail(response, error))
    } catch (error) {
      this.#fail(response, error)
    }
  }

  #fail(response: ServerResponse, error: unknown): void {
    if (this.#brokenOff.has(response)) return
    sendError(response, this.#toRefusal(error, response.req.url!), this.#options.errorHeaders)
  }

  /** What is answered for an error; counted, and logged when it is a bug. */
  #toRefusal(error: unknown, url: string): RequestError {
    const { logger, onRefusal } = this.#options
    const isRefusal = error instanceof RequestError
    if (!isRefusal) logger.error('request-failed', { url, error })
    const shown = 'the request failed; see the log of the server'
    const refusal = isRefusal ? error : new RequestError(500, 'internal-error', shown)
    onRefusal?.(refusal.status, refusal.code)
    return refusal
  }

  /** Without its Upgrade header, after the answers that are still pending. */
  #readAgain(request: IncomingMessage, socket: Socket, rest: Buffer): void {
    unreadUpgrade(request, socket, rest)
    const newest = this.#newest.get(socket)
    const read = () => readAsNew(this.#server, socket)
    if (newest == null || newest.closed) read()
    else newest.once('close', read)
  }

  /** One plain answer and the end of the connection, after the answers that are still pending on it. */
  #refuse(socket: Socket, error: RequestError): void {
    const newest = this.#newest.get(socket)
    if (newest != null && !newest.writableFinished) {
      // The request itself was cut off: its response comes after the earlier ones.
      if (!newest.req.complete && !newest.headersSent) {
        this.#brokenOff.add(newest)
        this.#options.onRefusal?.(error.status, error.code)
        sendLastError(newest, error, this.#options.errorHeaders)
        // Before node:http looks whether that was the last answer of a client that has closed its side.
      } else newest.prependOnceListener('finish', () => this.#refuseBehind(newest, socket, error))
      return
    }
    this.#refuseBehind(newest ?? null, socket, error)
  }

  /** Nothing may follow an answer that says it is the last one of its connection. */
  #refuseBehind(newest: ServerResponse | null, socket: Socket, error: RequestError): void {
    if (newest === null || newest.shouldKeepAlive) this.#refuseNow(socket, error)
    else socket.destroySoon()
  }

  #refuseNow(socket: Socket, error: RequestError): void {
    if (!socket.writable) {
      socket.destroy()
      return
    }
    this.#options.onRefusal?.(error.status, error.code)
    const headers = { ...this.#options.errorHeaders, Connection: 'close' }
    socket.end(errorText(error, headers, { Date: httpDate() }), 'latin1')
    // A client that keeps its side open would keep the connection open for ever.
    socket.setTimeout(limits.lingerMs, () => socket.destroy())
  }
}

function createNodeServer(): Server {
  const server = createServer({
    maxHeaderSize: limits.headerBytes,
    requestTimeout: limits.requestTimeoutMs,
    headersTimeout: limits.headersTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: 1_000,
    // Node would answer without a body; HttpServer refuses in the shape of every other error.
    requireHostHeader: false,
  })
  server.timeout = limits.socketIdleMs
  // headerBytes bounds them. Those beyond a count would be missing in a request that is put back, also its length.
  server.maxHeadersCount = 0
  // A client that closes its direction after its last request still gets the answer; a service that wants to stop its
  // work for a client that has left altogether must look at the socket. (Node has no type for this.)
  return Object.assign(server, { httpAllowHalfOpen: true })
}

/**
 * What node:http takes and another server may read as a body of another length, or none (RFC 9112, sections 6.1 and 6.3), as a
 * request to another host (section 3.2), from another sender or with other contents (RFC 9110, section 5.3). null: all
 * read it alike.
 */
function unclearHead(request: IncomingMessage): RequestError | null {
  const { httpVersion, headers } = request
  const coding = headers['transfer-encoding']
  if (httpVersion !== '1.0' && httpVersion !== '1.1')
    return new RequestError(400, 'bad-request', `HTTP/${httpVersion} is not HTTP/1.0 or HTTP/1.1`)
  if (headers.host === undefined && httpVersion === '1.1')
    return new RequestError(400, 'bad-request', 'the Host header is missing')
  const lines = request.headersDistinct
  const double = singleHeaders.find((name) => (lines[name.toLowerCase()]?.length ?? 0) > 1)
  if (double !== undefined)
    return new RequestError(400, 'bad-request', `the request has more than one ${double} header`, {
      target: double,
    })
  if (coding === undefined) return null
  if (httpVersion === '1.0')
    return new RequestError(400, 'bad-request', 'HTTP/1.0 has no Transfer-Encoding')
  const message = 'a Transfer-Encoding other than "chunked" is not understood'
  return coding.toLowerCase() === 'chunked' ? null : new RequestError(400, 'bad-request', message)
}

function requireShortUrl({ url }: IncomingMessage): void {
  if (url!.length > limits.urlBytes)
    throw new RequestError(414, 'url-too-long', `the URL is longer than ${limits.urlBytes} bytes`)
}

/**
 * Brings the absolute form of the request target (RFC 9112, section 3.2), which clients send to a proxy, into the origin
 * form, `/path?query`, and one host, which is what handlers see. The host of the target counts, and what
 * the Host header says does not (section 3.2.2). Throws RequestError 400 where the target names no host.
 */
function toOriginForm(request: IncomingMessage): void {
  const [, host, rest] = ABSOLUTE.exec(request.url ?? '') ?? []
  if (host === undefined || rest === undefined) return
  if (hostName(host) === null)
    throw new RequestError(400, 'bad-request', 'the URL of the request has no host')
  request.headers.host = host
  request.url = rest.startsWith('/') ? rest : `/${rest}`
}

/** For malformed HTTP requests, and those that arrive too slowly. */
function protocolError(code: string | undefined): RequestError {
  if (code === 'HPE_HEADER_OVERFLOW')
    return new RequestError(431, 'headers-too-large', 'the request headers are too large')
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new RequestError(408, 'request-timeout', 'the request was not received in time')
  return new RequestError(400, 'bad-request', 'malformed HTTP request')
}

// Requests that wish for another protocol on their connection. None is spoken here, and a server may ignore the wish
// (RFC 9110, section 7.8); but node:http drops what came after such a request in the same packet, and reads on in the
// middle of it. So the request goes back into its socket without the wish, and is read once more.

/** `rest` is what came after the head. From here on the socket is not node:http's, and nobody reads it. */
function unreadUpgrade(request: IncomingMessage, socket: Socket, rest: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request
  let head = `${method} ${url} HTTP/${httpVersion}\r\n`
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]!.toLowerCase() !== 'upgrade')
      head += `${rawHeaders[i]}: ${rawHeaders[i + 1]}\r\n`
  // The answers before it resume the socket, which would drop what nobody listens for.
  socket.on('resume', stayPaused)
  socket.pause()
  socket.unshift(Buffer.concat([Buffer.from(`${head}\r\n`, 'latin1'), rest]))
}

/** Gives the socket to node:http again, in another turn of the loop, as many such requests may follow one another. */
function readAsNew(server: Server, socket: Socket): void {
  setImmediate(() => {
    if (!socket.writable) return
    // Of its listeners node:http has taken off all but this one.
    socket.removeAllListeners('timeout')
    socket.off('resume', stayPaused)
    server.emit('connection', socket)
    socket.resume()
  })
}

function stayPaused(this: Socket): void {
  this.pause()
}
