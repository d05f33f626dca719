import { rm } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { errors } from '../../src/collect/errors.ts'
import { EnvironmentError } from '../../src/core/failures.ts'
import type { ModelName } from '../../src/core/names.ts'
import { eventsOf, openDaemon } from '../support/collect-daemon.ts'
import { post, send } from '../support/json-requests.ts'

const EVENTS = '/collect/raw/page_views'
const BATCH = '/collect/raw/page_views/batch'
const FLUSH = '/flush/raw/page_views'

test('E004, E024, E042, E056: one event is answered 202 and can then be claimed', async () => {
  await using fixture = await openDaemon()
  const { url, adminUrl } = fixture.daemon
  const event = '{"event_name": "view", "count": 9007199254740993, "extra": 0.10}'
  const reply = await post(url + EVENTS, event)
  assert.is(reply.status, 202)
  assert.equal(reply.body, { accepted: 1 })
  const { body: claim } = await post(adminUrl + FLUSH + '/claim', '')
  assert.is(claim['events'], 1)
  assert.is(claim['target'], 'raw.page_views')
  const text = await (
    await fetch(`${adminUrl}${FLUSH}/claims/${encodeURIComponent(String(claim['claim_id']))}`)
  ).text()
  assert.match(text, /^\{"s":1,"t":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z","e":/)
  assert.ok(text.endsWith(`"e":${event}}\n`), text)
})

test('E043, E065, E067: a batch is a JSON array or NDJSON', async () => {
  await using fixture = await openDaemon()
  const { url, adminUrl } = fixture.daemon
  const array = await post(url + BATCH, '[{"event_name":"a"},\r\n {"event_name":"b"}]')
  assert.equal([array.status, array.body], [202, { accepted: 2 }])
  const type = { 'Content-Type': 'application/x-ndjson' }
  const lines = await post(url + BATCH, '{"event_name":"c"}\n\n{"event_name":"d"}\n', type)
  assert.equal([lines.status, lines.body], [202, { accepted: 2 }])
  const empty = await post(url + BATCH, '[]')
  assert.equal([empty.status, empty.body], [202, { accepted: 0 }])
  const { body: claim } = await post(adminUrl + FLUSH + '/claim', '')
  assert.equal(
    await eventsOf(adminUrl, String(claim['claim_id'])),
    ['a', 'b', 'c', 'd'].map((name) => ({ event_name: name })),
  )
})

test('E043, E071: one bad event of a batch, and none of it is stored', async () => {
  await using fixture = await openDaemon()
  const { url, adminUrl } = fixture.daemon
  const { status, error } = await post(url + BATCH, '[{"event_name":"a"},{"user_id":"u"}]')
  assert.is(status, 400)
  assert.is(error.code, 'missing-field')
  assert.is(error.target, 'event_name')
  assert.match(error.message, 'event 1')
  assert.equal(await post(adminUrl + FLUSH + '/claim', '').then(({ body }) => body), {
    claim_id: null,
  })
})

test('E043, E024: large batches that come at the same moment are stored once each, but for a bad one', async () => {
  await using fixture = await openDaemon()
  const { url, adminUrl } = fixture.daemon
  const batches = Array.from({ length: 60 }, (_, batch) =>
    Array.from({ length: 1_000 }, (_, i) => ({ event_name: `event ${i}`, count: batch })),
  )
  const send = (events: readonly object[]) => post(url + BATCH, JSON.stringify(events))
  // The threads that read them are there from the second on.
  for (let turn = 0; turn < 2; turn++) {
    const [bad, ...answers] = await Promise.all([
      send([...batches[0]!, { count: 1 }]),
      ...batches.map((events) => send(events)),
    ])
    assert.is(bad.status, 400)
    assert.match(bad.error.message, 'event 1000')
    for (const { status, body } of answers) assert.equal([status, body], [202, { accepted: 1_000 }])
  }
  const { body: claim } = await post(adminUrl + FLUSH + '/claim', '')
  const events = (await eventsOf(adminUrl, String(claim['claim_id']))) as readonly {
    readonly count: number
  }[]
  const counts = new Map<number, number>()
  for (const { count } of events) counts.set(count, (counts.get(count) ?? 0) + 1)
  assert.equal(counts, new Map(batches.map((_, batch) => [batch, 2_000])))
})

test('E012, E055: a missing NOT NULL column is refused by name', async () => {
  await using fixture = await openDaemon()
  for (const body of ['{"user_id":"u"}', '{"event_name":null}']) {
    const { status, error } = await post(fixture.daemon.url + EVENTS, body)
    assert.equal([status, error.code, error.target], [400, 'missing-field', 'event_name'])
    assert.match(error.message, 'event_name')
  }
  assert.is(fixture.buffer.stats().bytes, 0)
})

test('E010, E049, E073: unknown targets, paths and methods are refused, each with its status', async () => {
  await using fixture = await openDaemon()
  const { url, adminUrl } = fixture.daemon
  const event = '{"event_name":"a"}'
  const cases: [string, string, number, string][] = [
    ['POST', `${url}/collect/raw/page_view`, 404, 'unknown-target'],
    ['POST', `${url}/collect/raw/PAGE_VIEWS`, 404, 'unknown-target'],
    ['POST', `${url}/collect/raw.page_views/x`, 404, 'unknown-target'],
    ['POST', `${url}/collect/raw/page_views%2Fbatch`, 404, 'unknown-target'],
    ['POST', `${url}/collect/raw/%00`, 404, 'unknown-target'],
    ['POST', `${url}/collect/raw/page%5views`, 404, 'not-found'],
    ['POST', `${url}/collect/raw`, 404, 'not-found'],
    ['POST', `${url}/collect/raw/page_views/`, 404, 'not-found'],
    ['POST', `${url}/collect/raw/page_views/batch/x`, 404, 'not-found'],
    ['POST', `${url}/`, 404, 'not-found'],
    ['POST', `${url}${FLUSH}/claim`, 404, 'not-found'],
    ['POST', `${adminUrl}${EVENTS}`, 404, 'not-found'],
    ['POST', `${adminUrl}/flush/raw/nothing/claim`, 404, 'unknown-target'],
    ['POST', `${adminUrl}${FLUSH}/constructor`, 404, 'not-found'],
    ['PUT', `${url}${EVENTS}`, 405, 'method-not-allowed'],
    ['POST', `${url}/health`, 405, 'method-not-allowed'],
    ['POST', `${adminUrl}${FLUSH}/inflight`, 405, 'method-not-allowed'],
    ['DELETE', `${adminUrl}${FLUSH}/claim`, 405, 'method-not-allowed'],
  ]
  for (const [method, address, status, code] of cases) {
    const reply = await send(method, address, event)
    assert.equal([reply.status, reply.error.code], [status, code], `${method} ${address}`)
    assert.type(reply.error.message, 'string')
    assert.is(reply.headers.get('content-type'), 'application/json')
    assert.is(reply.headers.has('allow'), status === 405)
  }
  const get = await send('GET', url + EVENTS)
  assert.equal([get.status, get.headers.get('allow')], [405, 'POST'])
  const near = await post(`${url}/collect/raw/pageviews`, event)
  assert.match(near.error.message, 'did you mean "raw.page_views"?')
})

test('E087: an event comes as JSON, also compressed; other media types and encodings are refused', async () => {
  await using fixture = await openDaemon()
  const { url } = fixture.daemon
  const event = Buffer.from('{"event_name":"é"}')
  const statusOf = async (
    headers: Record<string, string>,
    body: Uint8Array = event,
    path = EVENTS,
  ) => {
    const reply = await post(url + path, body, headers)
    return reply.status === 202 ? 202 : reply.error.code
  }
  assert.is(await statusOf({}), 202, 'without the header')
  assert.is(await statusOf({ 'Content-Type': 'application/json; charset=UTF-8' }), 202)
  assert.is(await statusOf({ 'Content-Type': 'application/cloudevents+json' }), 202)
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/x-ndjson',
    'application/json; charset=latin1',
  ])
    assert.is(await statusOf({ 'Content-Type': type }), 'unsupported-media-type', type)
  assert.is(await statusOf({ 'Content-Encoding': 'gzip' }, gzipSync(event)), 202)
  assert.is(await statusOf({ 'Content-Encoding': 'gzip' }), 'unreadable-body')
  assert.is(
    await statusOf({ 'Content-Encoding': 'gzip' }, gzipSync(event).subarray(0, 20)),
    'unreadable-body',
  )
  assert.is(await statusOf({ 'Content-Encoding': 'br' }), 'unsupported-encoding')
})

test('E074, E075: bodies above the limits are refused with 413, also when they are compressed', async () => {
  await using fixture = await openDaemon({ maxEventBytes: 200, maxBatchBytes: 100_000 })
  const { url } = fixture.daemon
  const event = (size: number) => `{"event_name":"${'x'.repeat(size - 17)}"}`
  assert.is((await post(url + EVENTS, event(200))).status, 202)
  for (const size of [201, 50_000, 3_000_000]) {
    const { status, error } = await post(url + EVENTS, event(size))
    assert.equal([status, error.code], [413, 'body-too-large'], String(size))
  }
  const bomb = gzipSync(Buffer.alloc(10_000_000, ' '))
  assert.is((await post(url + BATCH, bomb, { 'Content-Encoding': 'gzip' })).status, 413)
  const many = `[${Array.from({ length: 400 }, () => event(200)).join()}]`
  assert.equal((await post(url + BATCH, many)).body, { accepted: 400 })
  const { status, error } = await post(url + BATCH, `[${event(200)},${event(201)}]`)
  assert.equal([status, error.code], [413, 'event-too-large'])
})

test('E069: requests need the token when one is set, and an open port needs one', async () => {
  await using fixture = await openDaemon({ token: 'secret' })
  const { url, adminUrl } = fixture.daemon
  const event = '{"event_name":"a"}'
  const refused = await post(url + EVENTS, event)
  assert.equal([refused.status, refused.error.code], [401, 'unauthorized'])
  assert.ok(refused.headers.get('www-authenticate'))
  const show = async (Authorization: string) =>
    (await post(url + EVENTS, event, { Authorization, 'Content-Type': 'application/json' })).status
  assert.is(await show('Bearer wrong'), 401)
  assert.is(await show('Bearer secret'), 202)
  assert.is((await send('GET', `${url}/health`)).body['targets'], undefined)
  const shown = await send('GET', `${url}/health`, undefined, { Authorization: 'Bearer secret' })
  assert.is((shown.body['targets'] as unknown[]).length, 1)
  assert.is((await post(adminUrl + FLUSH + '/claim', '')).status, 200, 'the admin port needs none')
  await rejects(openDaemon({ host: '0.0.0.0' }), 'open-without-token')
  await using open = await openDaemon({ host: '0.0.0.0', allowAnonymous: true })
  assert.match(open.daemon.adminUrl, 'http://127.0.0.1:', 'the admin port stays local')
})

test('E044, E066, E023: health counts events, and names no state of one', async () => {
  await using fixture = await openDaemon({ maxBufferBytes: 2_000 })
  const { url, adminUrl } = fixture.daemon
  await post(url + EVENTS, '{"event_name":"a"}')
  await post(adminUrl + FLUSH + '/claim', '')
  await post(url + EVENTS, '{"event_name":"b"}')
  const { status, body } = await send('GET', `${url}/health`)
  assert.equal([status, body['status'], body['events']], [200, 'ok', 2])
  const [target] = body['targets'] as Record<string, unknown>[]
  assert.equal(
    [target!['target'], target!['events'], target!['inflight']],
    ['raw.page_views', 2, 1],
  )
  for (const address of [
    `${url}/health`,
    `${adminUrl}/health`,
    `${adminUrl}/flush`,
    `${adminUrl}${FLUSH}/inflight`,
  ])
    assert.not.match(await (await fetch(address)).text(), /"(buffered|claimed|committed)"/)
  assert.is((await fetch(`${url}/health`, { method: 'HEAD' })).status, 200)
})

test('E066: a buffer whose directory was removed takes nothing, and health says so', async () => {
  await using fixture = await openDaemon()
  const { url, adminUrl } = fixture.daemon
  assert.is((await post(url + EVENTS, '{"event_name":"a"}')).status, 202)
  await rm(fixture.bufferDir, { recursive: true })
  const reply = await post(url + EVENTS, '{"event_name":"b"}')
  assert.equal([reply.status, reply.error.code], [503, 'buffer-unavailable'])
  for (const address of [`${url}/health`, `${adminUrl}/health`]) {
    const { status, body } = await send('GET', address)
    assert.equal([status, body['status'], body['disk_free_bytes']], [503, 'unavailable', 0])
  }
  assert.match(await (await fetch(`${adminUrl}/metrics`)).text(), '\neider_collect_writable 0\n')
})

test('E072, E076: a full buffer is answered 503 with Retry-After, and takes events again after a flush', async () => {
  await using fixture = await openDaemon({ maxBufferBytes: 2_000 })
  const { url, adminUrl } = fixture.daemon
  const event = `{"event_name":"${'x'.repeat(600)}"}`
  let reply = await post(url + EVENTS, event)
  for (let count = 0; reply.status === 202 && count < 10; count++)
    reply = await post(url + EVENTS, event)
  assert.equal([reply.status, reply.error.code], [503, 'buffer-full'])
  assert.match(reply.headers.get('retry-after')!, /^\d+$/)
  const health = async () => (await fetch(`${url}/health`)).status
  // For some seconds after a refusal, so a machine that sleeps in between gets another chance.
  let seen = await health()
  for (let tries = 0; seen !== 503 && tries < 10; tries++) {
    await post(url + EVENTS, event)
    seen = await health()
  }
  assert.is(seen, 503)
  const { body: claim } = await post(adminUrl + FLUSH + '/claim', '')
  await post(adminUrl + FLUSH + '/ack', JSON.stringify({ claim_id: claim['claim_id'] }))
  assert.is(await health(), 200)
  assert.is((await post(url + EVENTS, event)).status, 202)
})

test('E051: ports that are the same or busy are refused', async () => {
  await rejects(openDaemon({ port: 18_080, adminPort: 18_080 }), 'same-ports')
  await using fixture = await openDaemon()
  const busy = Number(new URL(fixture.daemon.adminUrl).port)
  const failure = await rejects(openDaemon({ adminPort: busy }), 'port-busy')
  assert.match(failure.hint!, '--admin-port')
})

test('a project without an events model says so', async () => {
  await using fixture = await openDaemon({ targets: new Map() })
  const { status, error } = await post(fixture.daemon.url + EVENTS, '{}')
  assert.is(status, 404)
  assert.match(error.message, 'the project has none')
})

test('E086: a stop lets open requests finish', async () => {
  const fixture = await openDaemon()
  const { url } = fixture.daemon
  const post50 = Array.from({ length: 50 }, () => post(url + EVENTS, '{"event_name":"a"}'))
  const settled = Promise.allSettled(post50)
  await post50[0]
  await fixture.daemon[Symbol.asyncDispose]()
  // Connections that were still on their way were refused; nobody who got no answer has an event stored.
  const accepted = (await settled).filter(({ status }) => status === 'fulfilled').length
  const { targets } = fixture.buffer.stats()
  assert.is(targets.get('raw.page_views' as ModelName)!.buffered, accepted)
  await fixture[Symbol.asyncDispose]()
})

test('every code of the table has a status', () => {
  for (const [code, status] of Object.entries(errors)) {
    assert.match(code, /^[a-z0-9]+(-[a-z0-9]+)*$/)
    assert.ok(status >= 400, code)
  }
})

async function rejects(promise: Promise<unknown>, code: string): Promise<EnvironmentError> {
  try {
    await promise
  } catch (error) {
    assert.instance(error, EnvironmentError)
    assert.is((error as EnvironmentError).code, code)
    return error as EnvironmentError
  }
  throw new Error(`it did not fail with ${code}`)
}

test.run()
