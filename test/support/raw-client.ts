// A TCP connection that says exactly what it is told: for requests that no HTTP client would send.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export interface RawAnswer {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

export class RawClient implements AsyncDisposable {
  readonly socket: Socket
  #received = ''
  #ended = false
  /** Code of the error that the connection ended with, such as ECONNRESET. */
  error: string | null = null

  private constructor(socket: Socket) {
    this.socket = socket
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => (this.#received += text))
    socket.on('error', (error: NodeJS.ErrnoException) => (this.error = error.code ?? error.message))
    socket.on('close', () => (this.#ended = true))
    socket.on('end', () => (this.#ended = true))
  }

  static async open(url: string): Promise<RawClient> {
    const { hostname, port } = new URL(url)
    // Half-open: the end of one direction is not the end of the other.
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
    await once(socket, 'connect')
    return new RawClient(socket)
  }

  send(text: string | Uint8Array): this {
    this.socket.write(text, 'latin1')
    return this
  }

  /** What has come and is not yet taken by `answer`. */
  get received(): string {
    return this.#received
  }

  /** The next complete answer; null when the connection ends without one. Fails after 5 s. */
  async answer(): Promise<RawAnswer | null> {
    for (let waits = 0; waits < 500; waits++) {
      const answer = this.#takeAnswer()
      if (answer !== null) return answer
      if (this.#ended) return null
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    throw new Error(`no complete answer after 5 s, but ${JSON.stringify(this.#received)}`)
  }

  /** True when the server closes the connection within `ms`. */
  async closes(ms = 5_000): Promise<boolean> {
    for (let waits = 0; waits < ms / 10 && !this.#ended; waits++)
      await new Promise((resolve) => setTimeout(resolve, 10))
    return this.#ended
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.destroy()
  }

  #takeAnswer(): RawAnswer | null {
    const head = /^HTTP\/1\.1 (\d{3})[^\r]*\r\n((?:[^\r]+\r\n)*)\r\n/.exec(this.#received)
    if (head === null) return null
    const headers = new Map(
      [...head[2]!.matchAll(/([^:\r\n]+): ([^\r]*)\r\n/g)].map(([, name, value]) => [
        name!.toLowerCase(),
        value!,
      ]),
    )
    const end = head[0].length + Number(headers.get('content-length') ?? 0)
    if (this.#received.length < end) return null
    const body = this.#received.slice(head[0].length, end)
    this.#received = this.#received.slice(end)
    return { status: Number(head[1]), headers, body }
  }
}

/** A POST of `body` with exactly these further headers. */
export function rawPost(path: string, body: string, ...headers: readonly string[]): string {
  const lines = [
    'Host: localhost',
    `Content-Length: ${Buffer.byteLength(body, 'latin1')}`,
    ...headers,
  ]
  return `POST ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`
}
