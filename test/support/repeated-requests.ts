// GET requests of all kinds on connections that stay, and what comes back for them.

import { createHash } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { connect, type Socket } from 'node:net'
import { readerOf } from '../../src/access/reader.ts'
import { pick } from './front-requests.ts'

type Random = () => number

const HEADS: readonly (readonly string[])[] = [
  [],
  ['User-Agent: curl/7.88.1', 'Accept: */*'],
  [
    'User-Agent: python-requests/2.31.0',
    'Accept-Encoding: gzip, deflate',
    'Connection: keep-alive',
  ],
  [
    'OData-MaxVersion: 4.0',
    'Accept: application/json;odata.metadata=minimal;q=1.0,application/atom+xml;q=0.8',
    'Accept-Encoding: gzip, deflate',
  ],
  ['Accept: application/json', 'Sec-Fetch-Mode: cors', 'Accept-Encoding: gzip, deflate, br'],
  ['Sec-Fetch-Mode: navigate', 'Accept: text/html'],
  ['Origin: https://shop.example', 'Accept: application/json'],
  ['Origin: https://other.example'],
  ['traceparent: 00-{number}-01', 'X-Request-Id: {number}'],
  ['X-Request-Id:', 'b3: {number}'],
  ['X-Number: {number}'],
  ['Authorization: Bearer secret'],
  ['Authorization: Bearer part'],
  ['Authorization: Bearer wrong'],
  ['Authorization: Basic OnNlY3JldA==', 'Accept: application/json'],
  ['If-None-Match: *'],
  ['If-None-Match: {etag}'],
  ['If-None-Match: W/"another"'],
  ['Prefer: odata.maxpagesize=3'],
  ['Accept: application/xml'],
  ['Accept-Encoding: identity;q=0'],
  ['Range: bytes=0-9'],
  ['Range: bytes=0-9', 'Accept: text/csv'],
  ['Accept: text/csv'],
  ['Content-Length: 0'],
  ['Connection: Upgrade', 'Upgrade: h2c'],
  ['Host: localhost'],
  ['X-Long: {long}'],
  ['X-Odd: \u00e9', 'traceparent: \u00e9'],
]

const TARGETS: readonly string[] = [
  '/odata/shop_numbers?$top=2',
  '/odata/shop_numbers?$top=40',
  '/odata/shop_numbers?$top=2000',
  '/odata/shop_numbers(7)',
  '/odata/shop_numbers/$count',
  '/odata/shop_numbers?$top=3&limit=4',
  '/odata/shop_numbers?$top=-1',
  '/odata/shop_letters?$top=2',
  '/odata/nothing',
  '/odata',
  '/odata/',
  '/odata/$metadata',
  'http://localhost/odata/shop_numbers?$top=2',
]

/** Whose connection ends with its answer, or that are no whole requests. */
const LAST: readonly string[] = [
  'GET /odata/shop_numbers?$top=2 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
  'GET /odata/shop_numbers?$top=2 HTTP/1.0\r\nHost: localhost\r\n\r\n',
  'GET /odata/shop_numbers?$top=2 HTTP/1.1\r\n\r\n',
  'GET /odata/shop_numbers?$top=2 HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n',
  'GET /odata/shop_numbers?$top=2 HTTP/1.1\r\nHost: localhost\r\nBad Header\r\n\r\n',
  'GET /odata/shop_numbers?$top=2 HTTP/1.1\r\nHost: localhost\r\n',
  'GET /odata/shop_numbers?$top=2 HTTP/1.1\nHost: localhost\n\n',
  'CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n',
]

const BODIES: readonly (readonly [line: string, body: string])[] = [
  ['Content-Length: 4', '\r\n\r\n'],
  ['Content-Length: 5', 'hello'],
  ['Transfer-Encoding: chunked', '3\r\nabc\r\n0\r\n\r\n'],
]

/** A request that leaves its connection open, without its numbers. */
export function lastingRequest(random: Random): string {
  const head = [...pick(random, HEADS), ...(random() < 0.2 ? pick(random, HEADS) : [])]
  const isWithout = !head.some((one) => one.startsWith('Content-Length:'))
  const [line, body] = isWithout && random() < 0.1 ? pick(random, BODIES) : ['', '']
  const host = head.some((one) => one.startsWith('Host:')) ? [] : ['Host: localhost']
  const lines = [...host, ...head, ...(line === '' ? [] : [line])]
  const names = lines.map((one) => one.split(':', 1)[0])
  const once = lines.filter((_, i) => names.indexOf(names[i]) === i)
  const method = random() < 0.1 ? 'HEAD' : 'GET'
  return `${method} ${pick(random, TARGETS)} HTTP/1.1\r\n${once.join('\r\n')}\r\n\r\n${body}`
}

export const lastRequest = (random: Random): string => pick(random, LAST)

/** A connection that is kept, and all that came on it. */
interface Kept extends Disposable {
  send(bytes: string): void
  /** What came since the last call, once it is so long, or the connection has ended. */
  read(length: number): Promise<string>
  readonly socket: Socket
}

export async function keepConnection(url: string): Promise<Kept> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  let [text, isClosed] = ['', false]
  let look = () => {}
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1')
    look()
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    isClosed = true
    look()
  })
  await new Promise((resolve) => socket.once('connect', resolve))
  return {
    socket,
    send: (bytes) => void socket.write(bytes, 'latin1'),
    async read(length) {
      while (text.length < length && !isClosed)
        await new Promise<void>((resolve) => (look = resolve))
      const found = text
      text = ''
      return found
    },
    [Symbol.dispose]: () => void socket.destroy(),
  }
}

export const get = (target: string, ...lines: readonly string[]) =>
  `GET ${target} HTTP/1.1\r\n${['Host: localhost', ...lines].join('\r\n')}\r\n\r\n`

const hashOf = (token: string) => createHash('sha256').update(token).digest('hex')

/** A token of this name, whose text is its name. */
export function tokenOf(
  name: string,
  sets: readonly string[] | null,
  expiresAt: Date | null = null,
) {
  const source = { path: 'eider.yml', text: '' }
  const scope = sets?.map((text) => ({ text, source, span: { start: 0, end: 0 } })) ?? null
  const token = { name, hash: hashOf(name), expiresAt, scope, rows: [] }
  return { token, reader: readerOf({ name, sets: scope, rows: [] }) }
}

/** How many requests node:http has read in this process meanwhile. */
export async function readByNode(work: () => Promise<void>): Promise<number> {
  let count = 0
  const onRequest = () => void count++
  subscribe('http.server.request.start', onRequest)
  try {
    await work()
  } finally {
    unsubscribe('http.server.request.start', onRequest)
  }
  return count
}
