// Clients that no service asked for: silent ones, slow ones, and some that speak another language.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { pick } from '../support/front-requests.ts'

type Random = () => number

interface Crowd extends Disposable {
  readonly sockets: readonly Socket[]
  /** Those that the service has not closed. */
  readonly open: number
}

/** Opens `count` connections, some at a time, and does `begin` on each. Disposing resets them all. */
export async function crowd(
  url: string,
  count: number,
  begin: (socket: Socket, i: number) => void,
): Promise<Crowd> {
  const { hostname, port } = new URL(url)
  const sockets: Socket[] = []
  while (sockets.length < count) {
    const next = Array.from({ length: Math.min(50, count - sockets.length) }, () => {
      const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
      socket.on('error', () => {})
      return socket
    })
    await Promise.all(next.map((socket) => once(socket, 'connect')))
    for (const socket of next) begin(socket, sockets.push(socket))
  }
  return {
    sockets,
    get open() {
      return sockets.filter(({ closed, readableEnded }) => !closed && !readableEnded).length
    },
    [Symbol.dispose]() {
      for (const socket of sockets) socket.resetAndDestroy()
    },
  }
}

/** Says nothing, or half a head, or half a head and that no more will come. */
export function beSilent(socket: Socket, i: number): void {
  socket.resume()
  if (i % 3 === 1) socket.write('GET /health HTTP/1.1\r\nHo')
  if (i % 3 === 2) socket.end('POST /collect/raw/events HTTP/1.1\r\nContent-Length: 9\r\n')
}

/** Asks, and takes one byte of the answer a second. */
export const readSlowly = (requests: string) => (socket: Socket) => {
  socket.pause()
  socket.write(requests)
  const timer = setInterval(() => socket.read(1), 1_000)
  socket.once('close', () => clearInterval(timer))
}

/** Sends one byte of a request a second: of its head, or of its body. */
export function writeSlowly(socket: Socket, i: number): void {
  socket.resume()
  const head = 'POST /collect/raw/events HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n'
  let text = `GET /health HTTP/1.1\r\nHost: localhost\r\n${'X: y\r\n'.repeat(1_000)}`
  if (i % 2 === 0) {
    socket.write(`${head}\r\n`)
    text = '{"id":1,'.padEnd(5_000)
  }
  let at = 0
  const timer = setInterval(() => socket.write(text.charAt(at++)), 1_000)
  socket.once('close', () => clearInterval(timer))
}

const bytes = (random: Random, count: number) =>
  Buffer.from(Array.from({ length: count }, () => Math.floor(random() * 256)))

const GARBAGE: readonly ((random: Random) => Buffer | string)[] = [
  (random) => bytes(random, 1 + Math.floor(random() * 2_000)),
  // The beginning of TLS.
  (random) =>
    Buffer.concat([Buffer.from('16030102000100' + '01fc0303', 'hex'), bytes(random, 508)]),
  () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  () => 'SSH-2.0-OpenSSH_9.6\r\n',
  () => `GET /health HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(200 * 1024)}\r\n\r\n`,
  () => `GET /${'y'.repeat(200 * 1024)} HTTP/1.1\r\nHost: x\r\n\r\n`,
  () => `GET /health HTTP/1.1\r\n${'X: y\r\n'.repeat(5_000)}\r\n`,
  (random) =>
    `${pick(random, ['GET', 'get', 'G\0T', ''])} /health HTTP/${pick(random, ['1.1', '9.9', ''])}\r\n\r\n`,
  () => 'GET /health HTTP/1.1\r\nHost x\r\n\r\n',
  () => 'GET /health HTTP/1.1\nHost: x\n\n',
  () => 'POST /odata/$batch HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n',
  () =>
    'POST /collect/raw/events HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET',
  () => 'POST /collect/raw/events HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n{}',
  () => 'GET http://[::1 HTTP/1.1\r\nHost: [\r\n\r\n',
  (random) =>
    `GET /odata/${encodeURIComponent(bytes(random, 40).toString('latin1'))}?$filter=%FF%00 HTTP/1.1\r\nHost: localhost\r\n\r\n`,
  () => '\r\n'.repeat(500),
]

/** Sends one of them and waits for the end. Gives the status of the answer, null when there was none. */
export async function sendGarbage(url: string, random: Random): Promise<number | null> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
  let head = ''
  socket.on('data', (chunk: Buffer) => (head += head.length < 20 ? chunk.toString('latin1') : ''))
  socket.on('error', () => {})
  const closed = once(socket, 'close').catch(() => {})
  socket.end(pick(random, GARBAGE)(random))
  // Reset where the service keeps the connection: the client has not ended its turn.
  const stuck = setTimeout(() => socket.destroy(new Error('stuck')), 20_000)
  socket.once('end', () => socket.destroy())
  await closed
  clearTimeout(stuck)
  if (socket.errored?.message === 'stuck') throw new Error('neither answered nor closed')
  const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(head) ?? []
  return status === undefined ? null : Number(status)
}
