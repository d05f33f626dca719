// Requests that come again are answered without node:http, with the same bytes. What a connection says first is always
// read by node:http, so each request of a kept connection is compared with the same one on a connection of its own.
//
// EIDER_REQUESTS=1000000 sends so many, and EIDER_REQUESTS_SEED=2 begins elsewhere.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import type { ODataServiceOptions } from '../../../src/odata/service.ts'
import { pick } from '../../support/front-requests.ts'
import { type Served, serve } from '../../support/odata-service.ts'
import { say } from '../../support/raw-exchange.ts'
import { readMetrics } from '../../support/read-metrics.ts'
import {
  get,
  keepConnection,
  lastingRequest,
  lastRequest,
  readByNode,
  tokenOf,
} from '../../support/repeated-requests.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { publish, type Table } from '../../support/snapshot-files.ts'
import { until } from '../../support/until.ts'

const SEED = 20260101 * Number(process.env['EIDER_REQUESTS_SEED'] ?? 1)
const REQUESTS = Number(process.env['EIDER_REQUESTS'] ?? 1_200)
/** On one connection. */
const MOST = 40

const numbers = (generation: number): Table => ({
  model: 'shop.numbers',
  key: ['id'],
  rows: sql`SELECT i AS id, ${sql.value(generation)} AS generation, 'name ' || i AS name
    FROM range(3000) AS r(i)`,
})
const letters: Table = {
  model: 'shop.letters',
  key: ['id'],
  rows: sql`SELECT i AS id, 'letter ' || i AS letter FROM range(20) AS r(i)`,
}

/** `name: value` lines of an answer that differ from one moment to the next. */
const shown = (text: string) => text.replaceAll(/\r\nDate: [^\r]+/g, '\r\nDate:')

/** What it is answered on a connection of its own. */
async function alone({ url }: Pick<Served, 'url'>, request: string): Promise<string> {
  const { text } = await say(url, [Buffer.from(request, 'latin1')])
  return text
}

/** The same, once it is in memory: the first answer may be made while it is sent, which shows in its headers. */
function fromMemory(served: Served): (request: string) => Promise<string> {
  const known = new Map<string, string>()
  return async (request) => {
    if (!known.has(request)) {
      await alone(served, request)
      known.set(request, await alone(served, request))
    }
    return known.get(request)!
  }
}

/** A few requests, again and again; how many were sent. */
async function converse(
  { url }: Served,
  answerTo: (request: string) => Promise<string>,
  random: () => number,
): Promise<number> {
  const first = await answerTo(get('/odata/shop_numbers?$top=2'))
  const etag = /\r\nETag: ([^\r]+)/.exec(first)?.[1] ?? 'W/"none"'
  const forms = Array.from({ length: 1 + Math.floor(random() * 3) }, () => lastingRequest(random))
  const count = Math.floor(random() * MOST)
  const requests = Array.from({ length: count }, () => pick(random, forms))
  if (random() < 0.3) requests.push(lastRequest(random))
  using kept = await keepConnection(url)
  let [expected, sent, isLast] = ['', '', false]
  for (const [number, form] of requests.entries()) {
    const request = form
      .replaceAll('{number}', String(number))
      .replaceAll('{etag}', etag)
      .replaceAll('{long}', 'x'.repeat(5_000))
    sent += request
    expected += await answerTo(request)
    isLast = number === requests.length - 1
    // Several in a packet, or all by itself, or in two parts.
    if (random() < 0.1 && !isLast) continue
    const at = random() < 0.1 ? Math.floor(random() * sent.length) : 0
    kept.send(sent.slice(0, at))
    if (at > 0) await new Promise((resolve) => setTimeout(resolve, 2))
    kept.send(sent.slice(at))
    if (isLast) kept.socket.end()
    const heard = await kept.read(isLast ? Infinity : expected.length)
    assert.is(shown(heard), shown(expected), JSON.stringify(requests.slice(0, number + 1)))
    ;[expected, sent] = ['', '']
  }
  return count
}

/** At least one of `share` requests of kept connections is answered without node:http. */
async function compare(share: number, options: Partial<ODataServiceOptions> = {}): Promise<void> {
  await using resources = new Resources()
  const served = await serve(resources, [numbers(1), letters], options)
  const random = seededRandom(SEED)
  const answerTo = fromMemory(served)
  let [sent, all] = [0, 0]
  const read = await readByNode(async () => {
    while (sent < REQUESTS / 3) sent += await converse(served, answerTo, random)
    all = served.log.filter(({ event }) => event === 'request').length
  })
  assert.ok(all - read > sent / share, `${all} requests, of which node:http read ${read}`)
}

test('the same answers as node:http', () => compare(10))

test('the same answers as node:http, with tokens', () =>
  compare(100, { token: 'secret', tokens: [tokenOf('part', ['shop_numbers'])] }))

test('the same answers as node:http, with origins of pages', () =>
  compare(10, { corsOrigins: ['https://shop.example'] }))

const PAGE = get('/odata/shop_numbers?$top=40', 'Accept-Encoding: gzip', 'traceparent: 1')

/** Asks for the page so often on one connection, one request after the other. */
async function repeat({ url }: Served, times: number, request = PAGE): Promise<readonly string[]> {
  using kept = await keepConnection(url)
  const answers: string[] = []
  let length = 1
  for (let i = 0; i < times; i++) {
    kept.send(request)
    let text = await kept.read(length)
    while (text.length < length) text += await kept.read(1)
    // The beginning of an answer may come alone.
    const body = Number(/\r\nContent-Length: (\d+)/.exec(text)?.[1] ?? 0)
    const whole = text.indexOf('\r\n\r\n') + 4 + body
    while (text.length < whole) text += await kept.read(1)
    answers.push(text)
    length = 1
  }
  return answers
}

const pagesIn = (log: Served['log']) =>
  log.filter(({ event, fields }) => event === 'request' && fields['path'] === '/odata/shop_numbers')

test('a request that comes again is not read by node:http, and is counted and logged as any other', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [numbers(1)])
  const root = new URL('/metrics', served.url).href
  await repeat(served, 2)
  const before = await readMetrics(root, 'eider_odata_')
  const lines = served.log.length
  const read = await readByNode(async () => void (await repeat(served, 20)))
  assert.ok(read < 8, `node:http read ${read} of 20`)
  await until(
    () => Promise.resolve(pagesIn(served.log.slice(lines))),
    (all) => all.length === 20,
  )
  const after = await readMetrics(root, 'eider_odata_')
  const more = (name: string) => after.get(name)! - before.get(name)!
  assert.is(more('cache_hits_total'), 20)
  assert.is(more('rows_total'), 20 * 40)
  assert.is(more('request_seconds_count'), 21)
  assert.is(after.get('open_requests'), before.get('open_requests'))
  const [answer] = await repeat(served, 1)
  const body = Number(/\r\nContent-Length: (\d+)/.exec(answer!)?.[1])
  const metricsBody = Buffer.byteLength(await (await fetch(root)).text())
  const bytes = more('bytes_total') - 20 * body
  assert.ok(bytes === 0 || Math.abs(bytes - metricsBody) < 200, String(bytes))
  const texts = pagesIn(served.log).map(({ level, fields: { ms, ...fields } }) => {
    assert.type(ms, 'number')
    return JSON.stringify({ level, ...fields })
  })
  assert.is(new Set(texts).size, 1, texts.join('\n'))
})

test('a new snapshot is answered at once', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [numbers(1)])
  using kept = await keepConnection(served.url)
  const request = get('/odata/shop_numbers?$top=2&$select=generation')
  const ask = async () => {
    kept.send(request)
    return await kept.read(1)
  }
  for (let i = 0; i < 10; i++) assert.match(await ask(), /"generation":\s*1/)
  await publish(served.dir, 'second', [numbers(2)])
  await until(
    async () => await alone(served, request),
    (text) => /"generation":\s*2/.test(text),
  )
  for (let i = 0; i < 10; i++) assert.match(await ask(), /"generation":\s*2/)
})

test('a token that has expired is refused on a connection that has used it', async () => {
  await using resources = new Resources()
  const expiresAt = new Date('2030-01-01T00:00:00Z')
  let now = new Date('2029-12-31T00:00:00Z')
  const tokens = [tokenOf('late', null, expiresAt)]
  const served = await serve(resources, [numbers(1)], { tokens, now: () => now })
  using kept = await keepConnection(served.url)
  const statusOf = async () => {
    kept.send(get('/odata/shop_numbers?$top=2', 'Authorization: Bearer late'))
    return (await kept.read(1)).slice(9, 12)
  }
  const read = await readByNode(async () => {
    for (let i = 0; i < 10; i++) assert.is(await statusOf(), '200')
  })
  assert.ok(read < 8, `node:http read ${read} of 10`)
  now = expiresAt
  assert.is(await statusOf(), '401')
  assert.is(await statusOf(), '401')
  now = new Date('2029-12-31T00:00:00Z')
  assert.is(await statusOf(), '200')
})

test('a service that ends closes connections that were answered so', async () => {
  const resources = new Resources()
  const served = await serve(resources, [numbers(1)])
  using kept = await keepConnection(served.url)
  for (let i = 0; i < 10; i++) {
    kept.send(PAGE)
    assert.match(await kept.read(1), /^HTTP\/1\.1 200/)
  }
  const closed = kept.read(Infinity)
  const startedMs = performance.now()
  await resources[Symbol.asyncDispose]()
  assert.is(await closed, '')
  assert.ok(performance.now() - startedMs < 5_000)
})

test.run()
