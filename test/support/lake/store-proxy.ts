// A proxy before the store that reads along: it notes each request, delays answers, refuses, and cuts.

import {
  type IncomingMessage,
  type ServerResponse,
  createServer,
  request,
  type Server,
} from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { SelfSigned } from '../self-signed.ts'

interface StoreRequest {
  readonly method: string
  /** With its query. */
  readonly url: string
}

export class StoreProxy implements AsyncDisposable {
  readonly port: number
  readonly requests: StoreRequest[] = []
  /** Added to each answer. */
  delayMs = 0
  /** Answered to each request instead of passing it on; 0 ends the connection; null passes on. */
  refuseWith: number | null = null
  /** The code that stands in such an answer; empty: the answer is empty. */
  refuseCode = 'Refused'
  /** So many requests are refused, and then no more. */
  refuseTimes = Infinity
  readonly #server: Server
  readonly #upstreamPort: number

  private constructor(server: Server, port: number, upstreamPort: number) {
    this.#server = server
    this.port = port
    this.#upstreamPort = upstreamPort
    server.on('request', (incoming: IncomingMessage, answer: ServerResponse) => {
      this.#handle(incoming, answer)
    })
  }

  /** `identity`: it speaks TLS. */
  static async open(upstreamPort: number, identity?: SelfSigned): Promise<StoreProxy> {
    const server =
      identity === undefined
        ? createServer()
        : createTlsServer({ key: identity.key, cert: identity.certificate })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    return new StoreProxy(server, port, upstreamPort)
  }

  forget(): void {
    this.requests.length = 0
  }

  /** Requests that delete objects: one, or many by POST. */
  get deletions(): readonly StoreRequest[] {
    return this.requests.filter(
      ({ method, url }) => method === 'DELETE' || (method === 'POST' && /[?&]delete\b/.test(url)),
    )
  }

  /** Ends all connections; new ones are let in. */
  cut(): void {
    this.#server.closeAllConnections()
  }

  #handle(incoming: IncomingMessage, answer: ServerResponse): void {
    const { method = 'GET', url = '/', headers } = incoming
    this.requests.push({ method, url })
    if (this.refuseWith === 0) return void incoming.socket.destroy()
    if (this.refuseWith !== null && this.refuseTimes > 0) {
      this.refuseTimes--
      incoming.resume()
      answer.writeHead(this.refuseWith, { 'Content-Type': 'application/xml' })
      const code = this.refuseCode
      answer.end(code && `<Error><Code>${code}</Code><Message>by the test</Message></Error>`)
      return
    }
    // The headers as they are: the signature covers the name of the host that the client asked.
    const options = { host: '127.0.0.1', port: this.#upstreamPort, method, path: url, headers }
    const outgoing = request(options, (response) => {
      const pass = () => {
        answer.writeHead(response.statusCode ?? 500, response.headers)
        response.pipe(answer)
      }
      if (this.delayMs === 0) pass()
      else setTimeout(pass, this.delayMs)
    })
    outgoing.on('error', () => incoming.socket.destroy())
    answer.on('close', () => outgoing.destroy())
    incoming.pipe(outgoing)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}
