// A proxy before PostgreSQL that reads along: it counts what clients ask, delays answers, cuts connections, and loses the
// answer to a COMMIT, after which a client cannot know whether it was carried out.

import { connect, createServer, type Server, type Socket } from 'node:net'

const STARTUP_CODE_BYTES = 8

export class CatalogProxy implements AsyncDisposable {
  readonly port: number
  /** Texts of all queries since `forget()`, each one message to PostgreSQL and its answer. */
  readonly queries: string[] = []
  /** Of transactions that wrote a snapshot of a lake, so far. */
  commits = 0
  /** Of all answers since `forget()`. */
  answeredBytes = 0
  /** Added to each answer. */
  delayMs = 0
  /** The connection of the next query that it fits ends before PostgreSQL has the query; then it is null again. */
  cutAt: RegExp | null = null
  /** So many queries from now all connections end, before PostgreSQL has the last of them; 0: they do not. */
  cutIn = 0
  /** The next query that it fits is answered as one without rows, and all connections end; then it is null again. */
  emptyAt: RegExp | null = null
  readonly #server: Server
  readonly #upstreamPort: number
  readonly #pairs = new Set<Pair>()
  #onCommit: ((pair: Pair) => 'forward' | 'drop') | null = null

  private constructor(server: Server, port: number, upstreamPort: number) {
    this.#server = server
    this.port = port
    this.#upstreamPort = upstreamPort
    server.on('connection', (client: Socket) => this.#accept(client))
  }

  static async open(upstreamPort: number): Promise<CatalogProxy> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    return new CatalogProxy(server, port, upstreamPort)
  }

  forget(): void {
    this.queries.length = 0
    this.answeredBytes = 0
  }

  /** Connections that are open. */
  get connections(): number {
    return this.#pairs.size
  }

  /** Ends all connections; new ones are let in. */
  cut(): void {
    for (const pair of this.#pairs) pair.end()
  }

  /** What was to happen to the next COMMIT does not. */
  disarm(): void {
    this.#onCommit = null
  }

  /**
   * The next COMMIT of a transaction that writes a snapshot of a lake is carried out, and its connection ends before the
   * answer. The promise resolves when that has happened. `what`: of those whose changes, as `ducklake_snapshot_changes` has
   * them, are so.
   */
  loseNextCommit(what = /(?:)/): Promise<void> {
    return this.#atNextCommit((pair, done) => {
      if (!what.test(pair.writes)) return 'pass'
      pair.swallow(() => {
        pair.end()
        done()
      })
      return 'forward'
    })
  }

  /** As `loseNextCommit`, but PostgreSQL never gets it. */
  cutNextCommit(): Promise<void> {
    return this.#atNextCommit((pair, done) => {
      pair.end()
      done()
      return 'drop'
    })
  }

  /** Waits until a COMMIT of a lake is on its way, and holds it until `release()` is called. `what`: as of loseNextCommit. */
  async holdNextCommit(what = /(?:)/): Promise<{ readonly release: () => void }> {
    let release: () => void = () => undefined
    await this.#atNextCommit((pair, done) => {
      if (!what.test(pair.writes)) return 'pass'
      release = pair.hold()
      done()
      return 'forward'
    })
    return { release: () => release() }
  }

  /** `pass`: it is not the one that was meant. */
  #atNextCommit(act: (pair: Pair, done: () => void) => 'forward' | 'drop' | 'pass'): Promise<void> {
    return new Promise((resolve) => {
      this.#onCommit = (pair) => {
        const done = act(pair, resolve)
        if (done === 'pass') return 'forward'
        this.#onCommit = null
        return done
      }
    })
  }

  #accept(client: Socket): void {
    const pair = new Pair(client, connect(this.#upstreamPort, '127.0.0.1'), {
      delayMs: () => this.delayMs,
      onQuery: (query) => {
        this.queries.push(query)
        if (this.cutAt?.test(query) === true) {
          this.cutAt = null
          pair.end()
          return 'drop'
        }
        if (this.emptyAt?.test(query) === true) {
          this.emptyAt = null
          pair.answerEmpty()
          this.cut()
          return 'drop'
        }
        if (this.cutIn > 0 && --this.cutIn === 0) {
          this.cut()
          return 'drop'
        }
        if (!pair.isCommitOfLake(query)) return 'forward'
        this.commits++
        return this.#onCommit?.(pair) ?? 'forward'
      },
      onAnswer: (bytes) => (this.answeredBytes += bytes),
      onClose: () => this.#pairs.delete(pair),
    })
    this.#pairs.add(pair)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

interface PairEvents {
  delayMs(): number
  onQuery(query: string): 'forward' | 'drop'
  onAnswer(bytes: number): void
  onClose(): void
}

/** One client and its connection to PostgreSQL. */
class Pair {
  readonly #client: Socket
  readonly #upstream: Socket
  readonly #events: PairEvents
  #left = Buffer.alloc(0)
  #isStarted = false
  /** The statement by which its transaction writes a snapshot of a lake; empty before. */
  writes = ''
  #onAnswer: (() => void) | null = null
  #held: Buffer[] | null = null

  constructor(client: Socket, upstream: Socket, events: PairEvents) {
    this.#client = client
    this.#upstream = upstream
    this.#events = events
    for (const socket of [client, upstream]) {
      socket.setNoDelay(true)
      socket.on('error', () => this.end())
      socket.on('close', () => this.end())
    }
    client.on('data', (chunk: Buffer) => this.#fromClient(chunk))
    upstream.on('data', (chunk: Buffer) => this.#fromUpstream(chunk))
  }

  /** What is said of a transaction that makes a snapshot; reading ones end with COMMIT too. */
  isCommitOfLake(query: string): boolean {
    if (/^\s*(BEGIN|START TRANSACTION)/i.test(query)) this.writes = ''
    if (/INSERT INTO\s+\S*ducklake_snapshot\W/i.test(query)) this.writes = query
    return this.writes !== '' && /\bCOMMIT\b\s*;?\s*$/i.test(query)
  }

  answerEmpty(): void {
    this.#client.write(Buffer.concat([message('C', 'BEGIN\0'), message('Z', 'T')]))
  }

  swallow(onAnswer: () => void): void {
    this.#onAnswer = onAnswer
  }

  /** Keeps what the client sends from now on. */
  hold(): () => void {
    this.#held = []
    return () => {
      const held = this.#held ?? []
      this.#held = null
      for (const bytes of held) this.#upstream.write(bytes)
    }
  }

  end(): void {
    this.#client.destroy()
    this.#upstream.destroy()
    this.#events.onClose()
  }

  #fromClient(chunk: Buffer): void {
    this.#left = Buffer.concat([this.#left, chunk])
    for (let message = this.#next(); message !== null; message = this.#next()) {
      const isQuery = this.#isStarted && message[0] === 'Q'.charCodeAt(0)
      if (!this.#isStarted) this.#isStarted = isStartup(message)
      const query = isQuery ? message.toString('utf8', 5, message.length - 1) : null
      if (query !== null && this.#events.onQuery(query) === 'drop') return
      if (this.#held !== null) this.#held.push(message)
      else this.#upstream.write(message)
    }
  }

  /** One message of the client: a length and a body, and since the start of the session a letter before them. */
  #next(): Buffer | null {
    const head = this.#isStarted ? 1 : 0
    if (this.#left.length < head + 4) return null
    const end = head + this.#left.readInt32BE(head)
    if (this.#left.length < end) return null
    const message = this.#left.subarray(0, end)
    this.#left = this.#left.subarray(end)
    return message
  }

  #fromUpstream(chunk: Buffer): void {
    this.#events.onAnswer(chunk.length)
    if (this.#onAnswer !== null) return this.#onAnswer()
    const delayMs = this.#events.delayMs()
    if (delayMs === 0) this.#client.write(chunk)
    else setTimeout(() => this.#client.destroyed || this.#client.write(chunk), delayMs)
  }
}

/** One of PostgreSQL. */
function message(kind: 'C' | 'Z', body: string): Buffer {
  const length = Buffer.alloc(4)
  length.writeInt32BE(4 + body.length)
  return Buffer.concat([Buffer.from(kind), length, Buffer.from(body)])
}

/** Not one that asks for TLS or GSS, which PostgreSQL answers by a letter. */
function isStartup(message: Buffer): boolean {
  const [ssl, gss, cancel] = [80_877_103, 80_877_104, 80_877_102]
  const code = message.length >= STARTUP_CODE_BYTES ? message.readInt32BE(4) : 0
  return ![ssl, gss, cancel].includes(code)
}
