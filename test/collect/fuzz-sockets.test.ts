// Damaged requests on real connections: no crash, no 5xx but 503, and the next good request is answered. Through the fast
// front, and through node:http alone (a daemon that logs its requests).

import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../src/core/limits.ts'
import { createLogger, type LogLine } from '../../src/core/logger.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { type OpenDaemon, eventsOf, openDaemon, PAGE_VIEWS } from '../support/collect-daemon.ts'
import { post } from '../support/json-requests.ts'
import { pick, splitAtRandom } from '../support/front-requests.ts'

const SEED = 20240601
const CONNECTIONS = 800
const AT_ONCE = 10
/** A connection that the daemon neither answers nor closes after the client has ended its side. */
const STUCK_MS = 10_000
/** One client in so many stops in the middle for longer than the front waits. */
const SLOW_ONE_IN = 500

type Random = () => number

const BODIES = [
  '{"event_name":"a","count":9007199254740993}',
  '{"event_name":"é\\u0041","user_id":null,"x":{"y":[1,2.50,"z"]}}',
  '[{"event_name":"a"},{"event_name":"b","count":"7"}]',
  '{"event_name":"a"}\n{"event_name":"b"}\n',
  '[]',
]
const TYPES = ['application/json', 'application/x-ndjson', 'application/json; charset=utf-8']
const OTHER_PATHS = [
  '/health',
  '/metrics',
  '/flush/raw/page_views/claim',
  '/flush/raw/page_views/ack',
]
const SNIPPETS = [
  'Transfer-Encoding: chunked\r\n',
  'Content-Length: 5\r\n',
  'Content-Length: -1\r\n',
  'Expect: 100-continue\r\n',
  'Upgrade: websocket\r\nConnection: upgrade\r\n',
  'Idempotency-Key: k\r\n',
  'Origin: http://evil.example\r\n',
  '\r\n\r\n',
  '\0',
  '\u00ff\u00fe',
  '%00',
  '%',
  '/../',
  '{"__proto__":{"x":1}}',
  '"\\ud800"',
  '['.repeat(200),
  '1e999999',
  '9'.repeat(400),
  'GET / HTTP/1.1\r\nHost: x\r\n\r\n',
  `X-Long: ${'x'.repeat(limits.frontHeadBytes)}\r\n`,
  `X-Huge: ${'x'.repeat(limits.headerBytes)}\r\n`,
]

function goodRequest(random: Random): Buffer {
  const isBatch = random() < 0.4
  const method =
    random() < 0.9 ? 'POST' : pick(random, ['GET', 'PUT', 'OPTIONS', 'HEAD', 'CONNECT'])
  const events = `/collect/raw/page_views${isBatch ? '/batch' : ''}`
  const path = random() < 0.8 ? events : pick(random, OTHER_PATHS)
  const text = Buffer.from(pick(random, BODIES))
  const isPacked = random() < 0.1
  const body = isPacked ? gzipSync(text) : text
  const isChunked = random() < 0.2
  const head = [
    `${method} ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    `Content-Type: ${pick(random, TYPES)}`,
    ...(isPacked ? ['Content-Encoding: gzip'] : []),
    isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`,
    '\r\n',
  ].join('\r\n')
  const chunks = [
    Buffer.from(`${body.length.toString(16)}\r\n`),
    body,
    Buffer.from('\r\n0\r\n\r\n'),
  ]
  return Buffer.concat([Buffer.from(head), ...(isChunked ? chunks : [body])])
}

function damage(random: Random, bytes: Buffer): Buffer {
  const at = Math.floor(random() * (bytes.length + 1))
  const length = Math.floor(random() * 12)
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)]
  const kind = Math.floor(random() * 6)
  if (kind === 0) return Buffer.concat([before, Buffer.from([random() * 256]), after.subarray(1)])
  if (kind === 1) return Buffer.concat([before, after.subarray(length)])
  if (kind === 2)
    return Buffer.concat([before, Buffer.from(pick(random, SNIPPETS), 'latin1'), after])
  if (kind === 3) return before
  if (kind === 4) return Buffer.concat([before, after.subarray(0, length), after])
  return Buffer.concat([bytes, goodRequest(random)])
}

/** What comes back until the connection ends; the client ends its side after the last byte. */
async function exchange(url: string, bytes: Buffer, random: Random): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
  let received = ''
  socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')))
  // A reset is an end like another: the daemon may close on a client that sends rubbish.
  socket.on('error', () => {})
  const closed = new Promise((resolve) => socket.once('close', resolve))
  const pieces = splitAtRandom(bytes, random)
  const slowPiece = random() < 1 / SLOW_ONE_IN ? Math.floor(random() * pieces.length) : -1
  for (const [index, piece] of pieces.entries()) {
    socket.write(piece)
    const pauseMs = index === slowPiece ? 2.5 * limits.frontSweepMs : 2
    if (pauseMs > 2 || random() < 0.3) await sleep(pauseMs)
  }
  if (random() < 0.05) socket.destroy()
  else socket.end()
  socket.once('end', () => socket.end())
  const stuck = setTimeout(() => socket.destroy(new Error('stuck')), STUCK_MS)
  const startedMs = performance.now()
  await closed
  clearTimeout(stuck)
  const shown = JSON.stringify(bytes.toString('latin1').slice(0, 500))
  assert.ok(performance.now() - startedMs < STUCK_MS, `no end of the connection: ${shown}`)
  for (const [, status] of received.matchAll(/(?:^|\n|\})HTTP\/1\.1 (\d{3}) /g))
    assert.ok(Number(status) < 500 || status === '503', `${status} for ${shown}\n${received}`)
  return received
}

async function fuzz(fixture: OpenDaemon) {
  const { url, adminUrl } = fixture.daemon
  let [accepted, refused] = [0, 0]
  const one = async (number: number) => {
    // Its own numbers, so that a connection is the same whatever the others do meanwhile.
    const random = seededRandom(SEED + number)
    let bytes = goodRequest(random)
    for (let turns = Math.floor(random() * 4); turns > 0; turns--) bytes = damage(random, bytes)
    const received = await exchange(random() < 0.2 ? adminUrl : url, bytes, random)
    for (const [, events] of received.matchAll(/\{"accepted":(\d+)\}/g)) accepted += Number(events)
    if (/HTTP\/1\.1 4/.test(received)) refused++
  }
  for (let sent = 0; sent < CONNECTIONS; sent += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => one(sent + i)))
    const { status, body } = await post(`${url}/collect/raw/page_views`, BODIES[0]!)
    assert.equal([status, body], [202, { accepted: 1 }])
    accepted++
  }
  return { accepted, refused }
}

for (const [through, accessLog] of [
  ['the front', false],
  ['node:http', true],
] as const)
  test(`${CONNECTIONS} connections with damaged requests, through ${through}`, () =>
    survive(accessLog))

async function survive(accessLog: boolean): Promise<void> {
  const lines: LogLine[] = []
  const logger = createLogger((line) => lines.push(line), 'error')
  await using fixture = await openDaemon({ logger, accessLog })
  const { accepted, refused } = await fuzz(fixture)
  assert.ok(refused > CONNECTIONS / 5, `only ${refused} were refused`)
  assert.ok(accepted > CONNECTIONS / 6, `only ${accepted} events were accepted`)
  assert.equal(
    lines.map(({ event, fields }) => [event, String(fields['error'])]),
    [],
  )
  // Damaged flush requests may have acked nothing: they would have had to guess the id of a claim.
  let stored = 0
  const { buffer, daemon } = fixture
  const rest = () => buffer.claim(PAGE_VIEWS.name)
  for (let claim = await rest(); claim !== null; claim = await rest());
  for (const claim of await buffer.inflight(PAGE_VIEWS.name)) {
    const events = await eventsOf(daemon.adminUrl, claim.id)
    for (const event of events) assert.type((event as { event_name: unknown }).event_name, 'string')
    stored += events.length
  }
  // More than was seen: a client that has left may have had its event stored.
  assert.ok(stored >= accepted, `${stored} stored, ${accepted} accepted`)
}

test.run()
