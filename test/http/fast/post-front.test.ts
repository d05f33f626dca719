// What the fast front answers by itself, what it leaves to node:http, and in which order. (That both say the same about
// events is shown in test/collect/front.test.ts.)

import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../../src/core/limits.ts'
import { createLogger } from '../../../src/core/logger.ts'
import { readBody } from '../../../src/http/body.ts'
import { fastFront } from '../../../src/http/fast/post-front.ts'
import type { PostRoute } from '../../../src/http/head.ts'
import { mayBecomePlainPost, readPlainPost } from '../../../src/http/fast/plain-post.ts'
import { RequestError } from '../../../src/http/request-error.ts'
import { sendJson } from '../../../src/http/respond.ts'
import { HttpServer, type ServerOptions } from '../../../src/http/server.ts'
import { silentLogger } from '../../support/silent-logger.ts'
import { openFront } from '../../support/open-front.ts'
import { RawClient, rawPost } from '../../support/raw-client.ts'

const MAX_BODY_BYTES = 1_000_000

/** Bodies are answered with themselves: "late…" after a while, "no…" with a refusal, "bug" with a bug. */
const route: PostRoute = {
  maxBodyBytes: MAX_BODY_BYTES,
  take(body) {
    const text = body.toString()
    if (text.startsWith('no')) throw new RequestError(400, 'refused', text)
    if (text === 'bug') throw new Error('a secret of the inside')
    if (text === 'never') return { body: '', ready: Promise.reject(new Error('not stored')) }
    const ready = text.startsWith('late') ? sleep(50) : Promise.resolve()
    return { body: JSON.stringify({ front: text }), ready }
  },
  toRefusal: (error) => new RequestError(503, 'later', (error as Error).message),
}

const open = (options: Partial<ServerOptions> = {}) =>
  HttpServer.open({
    host: '127.0.0.1',
    port: 0,
    async handle(request, response) {
      const body = await readBody(response, MAX_BODY_BYTES)
      sendJson(response, 200, { node: body.toString().slice(0, 20) })
    },
    front: fastFront({
      routeOf: ({ url }) => (url.startsWith('/fast') ? route : null),
      changing: [],
      status: 202,
      answerHeaders: {},
    }),
    logger: silentLogger,
    ...options,
  })

const bodies = async (client: RawClient, count: number) => {
  const read: string[] = []
  for (let n = 0; n < count; n++) {
    const answer = await client.answer()
    read.push(answer === null ? 'no answer' : `${answer.status} ${answer.body}`)
  }
  return read
}

const inChunks = (body: string) =>
  `POST /fast HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${body}`

const error = (code: string, message: string) => JSON.stringify({ error: { code, message } })

test('a plain POST with a route is answered by the front, anything else by node:http for good', async () => {
  await using server = await open()
  for (const [request, by] of [
    [rawPost('/fast', 'a'), '202 {"front":"a"}'],
    [rawPost('/fast', 'a', 'Accept: */*', 'Connection: keep-alive'), '202 {"front":"a"}'],
    [rawPost('/fast?source=web', 'a'), '202 {"front":"a"}'],
    [rawPost('/slow', 'a'), '200 {"node":"a"}'],
    [rawPost('/fast', 'a', 'Expect: 100-continue'), '100 '],
    [rawPost('/fast', 'a', 'Connection: close'), '200 {"node":"a"}'],
    [inChunks('1\r\na\r\n0\r\n\r\n'), '202 {"front":"a"}'],
    [inChunks('1\r\na\r\n1\r\nb\r\n0\r\n\r\n'), '200 {"node":"ab"}'],
    [inChunks('01\r\na\r\n0\r\n\r\n'), '200 {"node":"a"}'],
    [inChunks('1;x=y\r\na\r\n0\r\n\r\n'), '200 {"node":"a"}'],
    [inChunks('1\r\na\r\n0\r\nX: y\r\n\r\n'), '200 {"node":"a"}'],
    [inChunks('0\r\n\r\n'), '200 {"node":""}'],
    [rawPost('/fast', 'x'.repeat(2 * limits.frontPartialBytes)), /^20[02] \{"(front|node)":"x/],
    [rawPost('/fast', 'x'.repeat(100_000)), `200 {"node":"${'x'.repeat(20)}"}`],
  ] as const) {
    await using client = await RawClient.open(server.url)
    const [answer] = await bodies(client.send(request), 1)
    if (typeof by === 'string') assert.is(answer, by)
    else assert.match(answer!, by)
  }
  await using client = await RawClient.open(server.url)
  client.send(rawPost('/fast', 'a') + rawPost('/slow', 'b') + rawPost('/fast', 'c'))
  assert.equal(await bodies(client, 3), [
    '202 {"front":"a"}',
    '200 {"node":"b"}',
    '200 {"node":"c"}',
  ])
})

test('answers, refusals, handed over requests and the end keep their order', async () => {
  const refusals: string[] = []
  await using server = await open({
    onRefusal: (status, code) => refusals.push(`${status} ${code}`),
  })
  await using client = await RawClient.open(server.url)
  client.send(
    rawPost('/fast', 'late1') +
      rawPost('/fast', 'no2') +
      rawPost('/fast', 'three') +
      rawPost('/fast', 'never') +
      rawPost('/slow', 'four') +
      'nonsense\r\n\r\n',
  )
  client.socket.end()
  assert.equal(await bodies(client, 6), [
    '202 {"front":"late1"}',
    `400 ${error('refused', 'no2')}`,
    '202 {"front":"three"}',
    `503 ${error('later', 'not stored')}`,
    '200 {"node":"four"}',
    `400 ${error('bad-request', 'malformed HTTP request')}`,
  ])
  assert.ok(await client.closes())
  assert.equal(refusals.toSorted(), ['400 bad-request', '400 refused', '503 later'])
})

test('a client that does not wait for its answers gets all of them', async () => {
  await using server = await open()
  await using client = await RawClient.open(server.url)
  const count = 3 * limits.frontPipelinedRequests
  const sent = Array.from({ length: count }, (_, n) => (n % 5 === 0 ? `late${n}` : `${n}`))
  client.send(sent.map((body) => rawPost('/fast', body)).join(''))
  client.socket.end()
  assert.equal(
    await bodies(client, count),
    sent.map((body) => `202 {"front":"${body}"}`),
  )
})

test('answers that are alike, and more of them than a turn takes, keep their places', async () => {
  await using server = await open()
  await using client = await RawClient.open(server.url)
  const texts = [20, 1, 2, 16, 40].flatMap((count, n) => Array(count).fill(`late ${n % 2}`))
  for (const round of [1, 2]) {
    client.send(texts.map((text) => rawPost('/fast', text)).join(''))
    const expected = texts.map((text) => `202 ${JSON.stringify({ front: text })}`)
    assert.equal(await bodies(client, texts.length), expected, `round ${round}`)
  }
})

test('a client that takes no answers is not read from, also while some are still to come', async () => {
  let sent = 0
  let ends = () => {}
  const end = new Promise<void>((resolve) => (ends = resolve))
  const answers: (() => void)[] = []
  using opened = await openFront({
    ...route,
    take: () => {
      const ready = new Promise<void>((resolve) => answers.push(resolve))
      return { body: '9'.repeat(1_000_000), ready: Promise.race([ready, end]) }
    },
  })
  const connected = once(opened.front.listener, 'connection') as Promise<[Socket]>
  await using client = await RawClient.open(opened.url)
  client.socket.pause()
  const [socket] = await connected
  // An answer is ready when the request behind it is there, so one is waited for all the time.
  while (sent < 60 && !socket.isPaused()) {
    client.send(rawPost('/fast', 'a'))
    sent++
    while (answers.length < sent && !socket.isPaused()) await sleep(1)
    answers[sent - 2]?.()
    await sleep(1)
  }
  assert.ok(socket.isPaused(), `${socket.writableLength} bytes wait for the client`)
  ends()
  client.socket.resume()
  client.send(rawPost('/fast', 'a'))
  for (let n = 0; n <= sent; n++) assert.is((await client.answer())?.status, 202)
})

test('a client that has left with half a request is told so, behind its answers', async () => {
  await using server = await open()
  for (const half of [
    'POST /fa',
    'POST /fast HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc',
  ]) {
    await using client = await RawClient.open(server.url)
    client.send(rawPost('/fast', 'late') + half)
    client.socket.end()
    assert.equal(await bodies(client, 2), [
      '202 {"front":"late"}',
      `400 ${error('bad-request', 'malformed HTTP request')}`,
    ])
    assert.ok(await client.closes())
  }
})

test('a slow request goes to node:http, which has the clocks', async () => {
  await using server = await open()
  let read: readonly string[] = []
  // Two looks at the connections have to pass; on a busy machine they may be late.
  for (let looks = 3; looks < 20 && read[0] !== '200 {"node":"slow"}'; looks *= 2) {
    await using client = await RawClient.open(server.url)
    client.send(rawPost('/fast', 'a') + rawPost('/fast', 'slow').slice(0, 20))
    assert.equal(await bodies(client, 1), ['202 {"front":"a"}'])
    await sleep(looks * limits.frontSweepMs)
    read = await bodies(client.send(rawPost('/fast', 'slow').slice(20)), 1)
  }
  assert.equal(read, ['200 {"node":"slow"}'])
})

test('a stop waits for what is under way', async () => {
  const server = await open()
  await using silent = await RawClient.open(server.url)
  await using idle = await RawClient.open(server.url)
  await bodies(idle.send(rawPost('/fast', 'a')), 1)
  await using busy = await RawClient.open(server.url)
  busy.send(rawPost('/fast', 'late'))
  await using sending = await RawClient.open(server.url)
  sending.send(rawPost('/fast', 'slow').slice(0, -2))
  // All is in this process, so a few turns of the loop bring what is sent over.
  for (let turn = 0; turn < 3; turn++) await sleep(10)
  const stopped = server[Symbol.asyncDispose]()
  await sleep(60)
  sending.send('ow')
  assert.equal(await bodies(busy, 1), ['202 {"front":"late"}'])
  assert.equal(await bodies(sending, 1), ['200 {"node":"slow"}'])
  await stopped
  for (const client of [silent, idle, busy, sending]) assert.ok(await client.closes())
})

test('a bug of a route is answered 500 without its message, and logged with it', async () => {
  const lines: string[] = []
  const logger = createLogger(({ event, fields }) =>
    lines.push(`${event} ${String(fields['url'])} ${String(fields['error'])}`),
  )
  await using server = await open({ logger })
  await using client = await RawClient.open(server.url)
  const [answer] = await bodies(client.send(rawPost('/fast', 'bug')), 1)
  assert.match(answer!, /^500 /)
  assert.not.match(answer!, 'secret')
  assert.equal(lines, ['request-failed /fast Error: a secret of the inside'])
})

test('the shape of a plain POST', () => {
  const head = (...lines: readonly string[]) =>
    readPlainPost(`POST /a HTTP/1.1\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`)
  const plain = head('Host: x', 'content-LENGTH:  12 ', 'X: a:b')!
  assert.equal([plain.url, plain.bodyBytes, plain.headers['x']], ['/a', 12, 'a:b'])
  for (const line of [
    'Host: y',
    'Content-Length: 12',
    'Transfer-Encoding: chunked',
    'Connection: close',
    'Upgrade: h2c',
    'Bad Name: 1',
    ' X: folded',
    'X : 1',
    'X: \t',
    'X: a\nb',
    '',
  ])
    assert.is(head('Host: x', 'Content-Length: 12', line), null, line)
  for (const length of ['+1', '-1', '1,1', '01', '1 1', '', '0x1', '9999999999'])
    assert.is(head('Host: x', `Content-Length: ${length}`), null, length)
  assert.is(head('Host: x', 'transfer-encoding: Chunked')!.bodyBytes, null)
  for (const coding of ['gzip, chunked', 'gzip', '', 'chunked, chunked'])
    assert.is(head('Host: x', `Transfer-Encoding: ${coding}`), null, coding)
  assert.is(head('Content-Length: 1'), null)
  assert.is(head('Host: x'), null)
  for (const start of ['', 'PO', 'POST /', 'POST /a HTTP/1.1\r\nHost: x\r'])
    assert.ok(mayBecomePlainPost(start), start)
  for (const start of ['G', 'POST  /', 'POST /a HTTP/1.1\nHost: x', '\r\n'])
    assert.not(mayBecomePlainPost(start), start)
})

test.run()
