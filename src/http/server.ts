// The lifetime of an HTTP server: it listens, answers, and stops after the open requests have their answers.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { EnvironmentError } from '../core/failures.ts'
import { limits } from '../core/limits.ts'
import type { Logger } from '../core/logger.ts'
import { RequestError } from './request-error.ts'
import { sendError } from './respond.ts'

export type Handler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>

export interface ServerOptions {
  readonly host: string
  /** 0 takes a free port. */
  readonly port: number
  readonly handle: Handler
  readonly logger: Logger
  /** Headers of every answer that the server itself makes (errors). */
  readonly errorHeaders?: Readonly<Record<string, string>>
}

export class HttpServer implements AsyncDisposable {
  readonly #server: Server
  readonly host: string
  readonly port: number

  private constructor(server: Server, host: string) {
    this.#server = server
    this.host = host
    this.port = (server.address() as AddressInfo).port
  }

  /** Listens. Throws EnvironmentError `port-busy` or `cannot-listen`. */
  static async open(options: ServerOptions): Promise<HttpServer> {
    const server = createServer(
      {
        maxHeaderSize: limits.headerBytes,
        requestTimeout: limits.requestTimeoutMs,
        headersTimeout: limits.headersTimeoutMs,
        keepAliveTimeout: limits.keepAliveTimeoutMs,
        connectionsCheckingInterval: 1_000,
      },
      (request, response) => answer(request, response, options),
    )
    server.maxConnections = limits.connections
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) =>
      refuse(error, socket),
    )
    await listen(server, options)
    return new HttpServer(server, options.host)
  }

  get url(): string {
    const host = this.host.includes(':') ? `[${this.host}]` : this.host
    return `http://${host}:${this.port}`
  }

  /** Takes no new connection, waits for open requests up to limits.shutdownMs, then cuts the rest off. */
  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    this.#server.closeIdleConnections()
    const deadline = setTimeout(() => this.#server.closeAllConnections(), limits.shutdownMs)
    await closed
    clearTimeout(deadline)
  }
}

function answer(request: IncomingMessage, response: ServerResponse, options: ServerOptions): void {
  const fail = (error: unknown) => {
    if (!(error instanceof RequestError))
      options.logger.error('request-failed', { url: request.url, error })
    const shown =
      error instanceof RequestError
        ? error
        : new RequestError(500, 'internal-error', 'the request failed; see the log of the server')
    sendError(response, shown, options.errorHeaders)
  }
  try {
    const done = options.handle(request, response)
    if (done !== undefined) done.catch(fail)
  } catch (error) {
    fail(error)
  }
}

function listen(server: Server, { host, port }: ServerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      reject(
        cause.code === 'EADDRINUSE'
          ? new EnvironmentError(
              'port-busy',
              `port ${port} on ${host} is in use by another process`,
              {
                hint: 'stop that process, or choose another port with --port',
                cause,
              },
            )
          : new EnvironmentError(
              'cannot-listen',
              `cannot listen on ${host}:${port}: ${cause.message}`,
              { cause },
            ),
      )
    })
    server.listen(port, host, resolve)
  })
}

/** Bytes that are no HTTP request get one plain answer and the end of the connection. */
function refuse(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
  const status =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? '431 Request Header Fields Too Large'
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? '408 Request Timeout'
        : '400 Bad Request'
  const body = JSON.stringify({ error: { code: 'bad-request', message: status.slice(4) } })
  socket.end(
    `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )
}
