// A network without sockets: ports of a world, and connections that are two streams. Each piece that is sent waits for its
// turn, and so may be the last one that arrives.

import http from 'node:http'
import net from 'node:net'
import { Duplex } from 'node:stream'
import { patch } from './patch.ts'
import { runIn, type SimulatedProcess, type World } from './world.ts'

interface Listening {
  readonly process: SimulatedProcess
  readonly server: net.Server
}

export class Network {
  readonly #ports = new Map<number, Listening>()
  readonly #connections = new Set<Half>()
  #nextPort = 20_000

  listen(process: SimulatedProcess, server: net.Server, asked: number): number | null {
    const port = asked === 0 ? this.#nextPort++ : asked
    if (process.isDead || this.#ports.has(port)) return null
    this.#ports.set(port, { process, server })
    process.onDeath.push(() => this.forget(port, server))
    return port
  }

  forget(port: number, server: net.Server): void {
    if (this.#ports.get(port)?.server === server) this.#ports.delete(port)
  }

  isListening(port: number): boolean {
    return this.#ports.has(port)
  }

  /** One end of a connection to whoever listens; it fails like a socket where nobody does. */
  connect(from: SimulatedProcess, port: number): Half {
    const own = new Half(from)
    const listening = this.#ports.get(port)
    if (listening === undefined) {
      process.nextTick(() => own.destroy(networkError('ECONNREFUSED')))
      return own
    }
    const other = new Half(listening.process)
    own.other = other
    other.other = own
    for (const half of [own, other]) {
      this.#connections.add(half)
      half.once('close', () => this.#connections.delete(half))
      half.owner.onDeath.push(() => half.vanish())
    }
    const { world } = from
    void world.ask(listening.process, `connection ${port}`, () =>
      runIn(listening.process, () => listening.server.emit('connection', other)),
    )
    return own
  }

  /** One connection breaks, whatever is on its way. */
  breakOne(world: World): void {
    const halves = [...this.#connections]
    if (halves.length > 0) world.oneOf(halves).reset()
  }
}

const networkError = (code: string) => Object.assign(new Error(code), { code, syscall: 'connect' })

class Half extends Duplex {
  readonly owner: SimulatedProcess
  other: Half | null = null
  readonly remoteAddress = '127.0.0.1'
  readonly remotePort = 1
  bytesRead = 0
  bytesWritten = 0

  constructor(owner: SimulatedProcess) {
    super({ allowHalfOpen: true })
    this.owner = owner
    this.on('error', () => {})
  }

  override _read(): void {}

  override _write(chunk: Buffer, _: string, done: (error?: Error | null) => void): void {
    const { world } = this.owner
    this.bytesWritten += chunk.length
    const send = () => this.other?.receive(chunk)
    world.ask(this.owner, `send ${chunk.length}`, send).then(() => done(), done)
  }

  override _final(done: (error?: Error | null) => void): void {
    const end = () => this.other?.receive(null)
    this.owner.world.ask(this.owner, 'send end', end).then(() => done(), done)
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.other?.loseOther()
    done(error)
  }

  receive(chunk: Buffer | null): void {
    if (this.destroyed || this.owner.isDead) return
    this.bytesRead += chunk?.length ?? 0
    runIn(this.owner, () => this.push(chunk))
  }

  /** The other end is destroyed: this one sees it when what was sent before has arrived. */
  loseOther(): void {
    this.other = null
    if (this.destroyed || this.owner.isDead) return
    void this.owner.world.ask(this.owner, 'connection lost', () =>
      runIn(this.owner, () => {
        if (this.readableEnded || this.writableEnded) this.destroy()
        else this.destroy(networkError('ECONNRESET'))
      }),
    )
  }

  /** Its process is gone. */
  vanish(): void {
    this.other?.loseOther()
    this.other = null
  }

  reset(): void {
    const { other } = this
    this.vanish()
    if (other !== null) other.other = null
    this.loseOther()
  }

  setTimeout(): this {
    return this
  }
  setNoDelay(): this {
    return this
  }
  setKeepAlive(): this {
    return this
  }
  ref(): this {
    return this
  }
  unref(): this {
    return this
  }
}

let network: Network

export const useNetwork = (next: Network): void => {
  network = next
}

export function patchNetwork(): void {
  patch(net.Server.prototype, 'listen', (process, _, args, self) => {
    const server = self as net.Server
    listenIn(process, server, args)
    return server
  })
  patch(http, 'request', (process, original, args) => {
    const [options, onResponse] = args as [http.RequestOptions & { port: number }, unknown]
    const { agent: _, ...rest } = options
    const createConnection = () => network.connect(process, Number(options.port))
    return original({ ...rest, createConnection }, onResponse)
  })
}

function listenIn(process_: SimulatedProcess, server: net.Server, args: unknown[]): void {
  const [asked, host] = args
  const done = args.findLast((arg) => typeof arg === 'function') as (() => void) | undefined
  const port = typeof asked === 'number' ? network.listen(process_, server, asked) : null
  if (port === null) {
    // A path is that of a sign of life, which such a disk does not have.
    process.nextTick(() => server.emit('error', networkError('EADDRINUSE')))
    return
  }
  let open = 0
  let isClosing = false
  const look = () => {
    if (isClosing && open === 0) server.emit('close')
  }
  server.on('connection', (socket: Half) => {
    open++
    socket.once('close', () => {
      open--
      look()
    })
  })
  Reflect.set(server, 'address', () => ({ port, address: host, family: 'IPv4' }))
  Reflect.set(server, 'close', (end?: () => void) => {
    network.forget(port, server)
    if (end !== undefined) server.once('close', end)
    isClosing = true
    process.nextTick(look)
    return server
  })
  process.nextTick(() => done?.())
}
