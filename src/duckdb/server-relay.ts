// A way to a database server that ends. The libraries by which the engine talks to PostgreSQL and MySQL wait for a
// silent server for ever, and no interrupt reaches them: a run would neither go on nor end. So the engine connects to a
// port of this process, on the loopback address, which passes the bytes on and cuts a connection to a server that owes
// an answer for too long. To the engine that is a connection that was lost.

import { createServer, connect, type Server, type Socket } from 'node:net'

interface RelayOptions {
  readonly host: string
  readonly port: number
  /** Until it is connected, and until the server says its first word. */
  readonly connectMs: number
  /** Until a server begins to answer. */
  readonly answerMs: number
}

/** Why a connection ended; the engine only says that it did. */
export type RelayProblem =
  | { readonly is: 'unknown-host' | 'refused' | 'unreachable' }
  | { readonly is: 'silent-from-the-start' | 'silent'; readonly ms: number }

export class ServerRelay implements AsyncDisposable {
  readonly port: number
  readonly #server: Server
  readonly #options: RelayOptions
  readonly #sockets = new Set<Socket>()
  #problem: RelayProblem | null = null

  private constructor(server: Server, port: number, options: RelayOptions) {
    this.#server = server
    this.port = port
    this.#options = options
  }

  static async open(options: RelayOptions): Promise<ServerRelay> {
    const server = createServer({ allowHalfOpen: true })
    const port = await new Promise<number>((resolve, reject) => {
      server.once('error', reject)
      server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port))
    })
    const relay = new ServerRelay(server, port, options)
    server.on('connection', (socket) => relay.#pass(socket))
    return relay
  }

  /** Why the connection that was cut last was cut. A second call returns null. */
  takeProblem(): RelayProblem | null {
    const problem = this.#problem
    this.#problem = null
    return problem
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  #pass(client: Socket): void {
    const { host, port, connectMs, answerMs } = this.#options
    const server = connect({ host, port, allowHalfOpen: true, keepAlive: true })
    server.setKeepAlive(true, KEEP_ALIVE_MS)
    let hasSpoken = false
    let timer: NodeJS.Timeout | null = null
    const end = (problem: RelayProblem | null) => {
      if (problem !== null) this.#problem = problem
      if (timer !== null) clearTimeout(timer)
      client.destroy()
      server.destroy()
    }
    const wait = (ms: number, is: 'silent-from-the-start' | 'silent') => {
      if (timer !== null) clearTimeout(timer)
      timer = setTimeout(() => end({ is, ms }), ms)
    }
    wait(connectMs, 'silent-from-the-start')
    client.on('data', () => {
      if (hasSpoken) wait(answerMs, 'silent')
    })
    server.on('data', () => {
      hasSpoken = true
      if (timer !== null) clearTimeout(timer)
    })
    server.on('error', (error: NodeJS.ErrnoException) => end(problemOf(error)))
    client.on('error', () => end(null))
    for (const socket of [client, server]) {
      socket.setNoDelay(true)
      this.#sockets.add(socket)
      socket.on('close', () => {
        this.#sockets.delete(socket)
        end(null)
      })
    }
    client.pipe(server)
    server.pipe(client)
  }
}

/** A machine that is gone is noticed while a long answer comes, too. */
const KEEP_ALIVE_MS = 15_000

function problemOf({ code }: NodeJS.ErrnoException): RelayProblem | null {
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return { is: 'unknown-host' }
  if (code === 'ECONNREFUSED') return { is: 'refused' }
  return code === 'ECONNRESET' || code === 'EPIPE' ? null : { is: 'unreachable' }
}
