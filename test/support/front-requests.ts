// Requests of all kinds, as a connection sends them: for tests that compare two ways of answering.

import { createHmac } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { limits } from '../../src/core/limits.ts'

type Random = () => number

export const pick = <T>(random: Random, items: readonly T[]): T =>
  items[Math.floor(random() * items.length)]!

const EVENTS = '/collect/raw/page_views'

const GOOD: readonly (readonly [path: string, type: string, body: string])[] = [
  [EVENTS, 'application/json', '{"event_name":"a","count":9007199254740993}'],
  [EVENTS, 'application/json', ' {"event_name":"é\\u0041",\r\n"x":{"y":[1,2.50]}}'],
  [EVENTS, 'application/json; charset=utf-8', '{"event_name":"b"}'],
  [EVENTS, 'application/cloudevents+json', '{"event_name":"\\"\\r\\n\\r\\nPOST / HTTP/1.1"}'],
  [`${EVENTS}/batch`, 'application/json', '[{"event_name":"a"},{"event_name":"b","count":7}]'],
  [`${EVENTS}/batch`, 'application/json', '[]'],
  [`${EVENTS}/batch`, 'application/x-ndjson', '{"event_name":"c"}\n\n{"event_name":"d"}\n'],
  ['/collect/raw/page%5Fviews', 'application/json', '{"event_name":"percent"}'],
]

/** Heads that the front knows, and bodies that are refused. */
const REFUSED: readonly (readonly [path: string, type: string, body: string])[] = [
  [EVENTS, 'application/json', '{"user_id":"u"}'],
  [EVENTS, 'application/json', '{"event_name":"a","count":"ü"}'],
  [EVENTS, 'application/json', '{"event_name":'],
  [EVENTS, 'application/json', ''],
  [EVENTS, 'application/json', '\u00ff\u00fe'],
  [EVENTS, 'application/json', '{"event_name":"a"} {}'],
  [`${EVENTS}/batch`, 'application/json', '[{"event_name":"a"},{"event_name":null}]'],
  [`${EVENTS}/batch`, 'application/json', '{}'],
]

const EXTRA = [
  [],
  ['User-Agent: test/1.0 (x; y)', 'Accept: */*', 'Accept-Encoding: gzip, br'],
  ['connection: Keep-Alive'],
  ['X-Empty:', 'X-Odd!#$%&\'*+-.^_`|~: "a"; b=(c)'],
  ['Authorization: Bearer secret'],
  ['Authorization: Bearer wrong'],
  ['Cookie: a=b', 'traceparent: 00-1-2-03'],
  ['Origin: https://shop.example', 'Sec-Fetch-Mode: cors'],
  ['Origin: https://other.example'],
  ['Idempotency-Key: {key}'],
  ['Idempotency-Key: "{key}"', 'traceparent: 00-1-2-04'],
  [`Idempotency-Key: ${'x'.repeat(300)}`],
  ['Idempotency-Key:'],
  ['traceparent: 00-{key}-03', 'Cookie: a=b'],
  ['X-Request-Id:  {key} ', 'Accept: */*', 'X-Forwarded-For: 10.0.0.1, {key}'],
  ['X-Hub-Signature-256: sha256={signature}'],
  ['X-Hub-Signature-256: sha256={signature}', 'X-GitHub-Delivery: {key}'],
  [`X-Hub-Signature-256: sha256=${'0'.repeat(64)}`],
  ['X-Hub-Signature-256: sha256=0'],
]

/** What a signed sender of these requests shares with the daemon. */
export const SECRET = 'shared'

function request(
  [path, type, body]: (typeof GOOD)[number],
  headers: readonly string[] = [],
): Buffer {
  const bytes = Buffer.from(body, body.startsWith('\u00ff') ? 'latin1' : 'utf8')
  const own = ['Host: localhost', `Content-Type: ${type}`, `Content-Length: ${bytes.length}`]
  const signature = createHmac('sha256', SECRET).update(bytes).digest('hex')
  const more = headers.map((line) => line.replace('{signature}', signature))
  const lines = [`POST ${path} HTTP/1.1`, ...own, ...more]
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), bytes])
}

/** Keys are of this connection alone: which of two comes first is then the same for both. */
export function plainRequest(random: Random): Buffer {
  const key = `key-${Math.floor(random() * 1e12)}`
  const extra = pick(random, EXTRA).map((line) => line.replace('{key}', key))
  const plain = request(pick(random, random() < 0.7 ? GOOD : REFUSED), extra)
  const sent = random() < 0.8 ? plain : inChunks(random, plain)
  return random() < 0.8 ? sent : Buffer.concat([sent, sent])
}

/** The request with its body in chunks, most often in one; some are wrong about their lengths. */
function inChunks(random: Random, plain: Buffer): Buffer {
  const headEnd = plain.indexOf('\r\n\r\n')
  const head = plain.toString('latin1', 0, headEnd)
  const body = plain.subarray(headEnd + 4)
  const cut = random() < 0.7 ? 0 : Math.floor(random() * body.length)
  const chunks = [body.subarray(0, cut), body.subarray(cut)]
    .filter(({ length }) => length > 0)
    .flatMap((chunk) => [chunkLine(random, chunk.length), chunk, Buffer.from('\r\n')])
  const coding = pick(random, ['chunked', 'chunked', 'Chunked', 'gzip, chunked'])
  const end = pick(random, [
    '0\r\n\r\n',
    '0\r\n\r\n',
    '0\r\n\r\n',
    '00\r\n\r\n',
    '0\r\nX: a\r\n\r\n',
    '0;a=b\r\n\r\n',
  ])
  return Buffer.concat([
    Buffer.from(
      `${head.replace(/Content-Length: \d+/, `Transfer-Encoding: ${coding}`)}\r\n\r\n`,
      'latin1',
    ),
    ...chunks,
    Buffer.from(end),
  ])
}

function chunkLine(random: Random, length: number): Buffer {
  const said = random() < 0.95 ? length : length + pick(random, [-1, 1, 16])
  const digits = Math.max(0, said).toString(16)
  const form = random()
  if (form < 0.7) return Buffer.from(`${digits}\r\n`)
  if (form < 0.8) return Buffer.from(`${digits.toUpperCase()}\r\n`)
  return Buffer.from(
    pick(random, [
      `0${digits}\r\n`,
      `${digits};a=b\r\n`,
      `${digits} \r\n`,
      `${digits}\n`,
      `+${digits}\r\n`,
    ]),
  )
}

const EVENT = '{"event_name":"odd"}'
const LENGTH = `Content-Length: ${EVENT.length}`
const raw = (line: string, headers: readonly string[], body = EVENT, end = '\r\n') =>
  Buffer.from(`${[line, ...headers].join(end)}${end}${end}${body}`, 'latin1')
const POST = `POST ${EVENTS} HTTP/1.1`
const HOST = 'Host: localhost'
const post = (...headers: readonly string[]) => raw(POST, [HOST, ...headers])
const to = (line: string) => raw(line, [HOST, LENGTH])

/** Each of them is for node:http: fine, refused by their head, or attempts to be read in two ways. */
const ODD: readonly Buffer[] = [
  request(['/collect/raw/nothing', 'application/json', EVENT]),
  request(['/collect/raw', 'application/json', EVENT]),
  request(['/collect/raw/%zz', 'application/json', EVENT]),
  request([`${EVENTS}?x=1`, 'application/json', EVENT]),
  request([EVENTS, 'text/csv', EVENT]),
  request([EVENTS, 'application/json; charset=latin1', EVENT]),
  request([EVENTS, 'application/json', EVENT], ['Idempotency-Key: k1']),
  request([EVENTS, 'application/json', EVENT], ['Origin: https://shop.example']),
  request([EVENTS, 'application/json', EVENT], ['Origin: https://other.example']),
  request([EVENTS, 'application/json', EVENT], ['Connection: close']),
  request([EVENTS, 'application/json', EVENT], ['Connection: close, keep-alive']),
  request([EVENTS, 'application/json', EVENT], ['Connection: Upgrade', 'Upgrade: h2c']),
  request([EVENTS, 'application/json', EVENT], ['Expect: 100-continue']),
  request([EVENTS, 'application/json', EVENT], ['Expect: tea']),
  request([EVENTS, 'application/json', EVENT], ['Content-Encoding: gzip']),
  request([EVENTS, 'application/json', EVENT], [`X-Long: ${'x'.repeat(limits.frontHeadBytes)}`]),
  request([EVENTS, 'application/json', EVENT], ['X-Tab: a\tb']),
  request([EVENTS, 'application/json', EVENT], ['X-High: \u00e9']),
  request([EVENTS, 'application/json', EVENT], ['Accept: a', 'Accept: b']),
  request([EVENTS, 'application/json', `{"event_name":"${'l'.repeat(30_000)}"}`]),
  request([EVENTS, 'application/json', `{"event_name":"${'l'.repeat(150_000)}"}`]),
  Buffer.concat([
    raw(POST, [HOST, 'Content-Encoding: gzip', `Content-Length: ${gzipSync(EVENT).length}`], ''),
    gzipSync(EVENT),
  ]),
  raw(POST, [HOST, 'Transfer-Encoding: chunked'], `14\r\n${EVENT}\r\n0\r\n\r\n`),
  raw(POST, [HOST, LENGTH, 'Transfer-Encoding: chunked'], `14\r\n${EVENT}\r\n0\r\n\r\n`),
  post(LENGTH, LENGTH),
  post(LENGTH, 'Content-Length: 3'),
  post(`Content-Length: ${EVENT.length}, ${EVENT.length}`),
  post(`Content-Length: +${EVENT.length}`),
  post(`Content-Length: 0${EVENT.length}`),
  post(`Content-Length: -1`),
  post(`Content-Length:`),
  post(`Content-Length: 0x14`),
  post(`Content-Length : ${EVENT.length}`),
  post(`Content-Length\t: ${EVENT.length}`),
  post(LENGTH, 'X: a\r\n b'),
  post(LENGTH, 'no colon'),
  post(LENGTH, ': no name'),
  post(LENGTH, 'X: a\0b'),
  post(LENGTH, 'X: a\nTransfer-Encoding: chunked'),
  post(LENGTH, 'X: a\rb'),
  post(LENGTH, HOST),
  post(LENGTH, 'traceparent: a\tb'),
  post(LENGTH, 'traceparent: \u00e9'),
  post(LENGTH, 'traceparent: a\rb'),
  post(LENGTH, 'traceparent: a\nTransfer-Encoding: chunked'),
  post(LENGTH, 'traceparent: a', 'traceparent: b'),
  post(LENGTH, `traceparent: ${'x'.repeat(limits.frontHeadBytes)}`),
  post(LENGTH, 'Idempotency-Key: a\0b'),
  post(LENGTH, 'Idempotency-Key: a', 'Idempotency-Key: b'),
  post(`${LENGTH} `, 'Transfer-Encoding : chunked'),
  post('Content-Length: 0'),
  post(),
  raw(POST, [LENGTH]),
  raw(POST, ['Host: evil.example', LENGTH]),
  raw(POST, ['Host:', LENGTH]),
  raw(POST, [HOST, LENGTH], EVENT, '\n'),
  to(`GET ${EVENTS} HTTP/1.1`),
  to(`PUT ${EVENTS} HTTP/1.1`),
  to(`post ${EVENTS} HTTP/1.1`),
  to(`POST  ${EVENTS} HTTP/1.1`),
  to(`POST ${EVENTS}  HTTP/1.1`),
  to(`POST ${EVENTS} HTTP/1.0`),
  to(`POST ${EVENTS} HTTP/1.2`),
  to(`POST ${EVENTS} HTTP/2.0`),
  to(`POST ${EVENTS} http/1.1`),
  to(`POST ${EVENTS}`),
  to(`POST http://localhost${EVENTS} HTTP/1.1`),
  to(`POST ${EVENTS}#x HTTP/1.1`),
  to(`POST /a\u00e9 HTTP/1.1`),
  Buffer.concat([Buffer.from('\r\n'), to(POST)]),
  raw('GET /metrics HTTP/1.1', [HOST], ''),
  raw('OPTIONS /health HTTP/1.1', [HOST], ''),
  raw(`HEAD ${EVENTS} HTTP/1.1`, [HOST], ''),
  Buffer.from('nonsense\r\n\r\n'),
  Buffer.from(`${POST}\r\nHost: loc`),
  Buffer.from(`${POST}\r\n${HOST}\r\nContent-Length: 100\r\n\r\n${EVENT}`),
  Buffer.from('POST'),
  Buffer.alloc(20_000, 'x'),
]

/** All odd requests, one after the other, and then any. */
export function oddRequest(random: Random, number: number): Buffer {
  return ODD[number] ?? pick(random, ODD)
}
export const ODD_COUNT = ODD.length

/** `bytes` in pieces. */
export function splitAtRandom(bytes: Buffer, random: Random): readonly Buffer[] {
  const cuts = Array.from({ length: Math.floor(random() * 5) }, () =>
    Math.floor(random() * bytes.length),
  )
  const ends = [...cuts.toSorted((a, b) => a - b), bytes.length]
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
}
