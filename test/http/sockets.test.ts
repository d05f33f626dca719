// Connections that HTTP gives up, and what all of them together may hold.

import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../src/core/limits.ts'
import { readBody } from '../../src/http/body.ts'
import { sendJson } from '../../src/http/respond.ts'
import { HttpServer, type ServerOptions } from '../../src/http/server.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { RawClient, rawPost } from '../support/raw-client.ts'
import { until } from '../support/until.ts'

const open = (options: Partial<ServerOptions> = {}) =>
  HttpServer.open({
    host: '127.0.0.1',
    port: 0,
    logger: silentLogger,
    async handle(request, response) {
      const body = await readBody(response, limits.bodiesBytes)
      sendJson(response, 200, { length: body.length })
    },
    ...options,
  })

const NEVER = new AbortController().signal
const CONNECT = 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n'

test('a CONNECT whose client resets the connection is no end of the process', async () => {
  await using server = await open()
  for (let round = 0; round < 20; round++) {
    const client = await RawClient.open(server.url)
    client.send(CONNECT)
    await sleep(round % 5)
    client.socket.resetAndDestroy()
  }
  await sleep(50)
  assert.is((await fetch(server.url, { method: 'POST', body: 'x' })).status, 200)
})

test('a CONNECT that stays half open does not hold up a stop', async () => {
  const server = await open({ shutdownMs: 200 })
  await using client = await RawClient.open(server.url)
  client.send(CONNECT)
  assert.is((await client.answer())!.status, 405)
  const startedAt = Date.now()
  await server[Symbol.asyncDispose]()
  assert.ok(Date.now() - startedAt < 1_500)
})

test('a CONNECT that stays half open is closed after a while', async () => {
  await using server = await open()
  await using client = await RawClient.open(server.url)
  let isClosed = false
  client.socket.on('close', () => (isClosed = true))
  client.send(CONNECT)
  assert.is((await client.answer())!.status, 405)
  await sleep(limits.lingerMs + 500)
  client.send('is anybody there?')
  await sleep(100)
  client.send('no')
  await sleep(100)
  assert.ok(isClosed, 'the reset has come')
})

const post = (length: number) => `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`

interface Watched {
  readonly request: IncomingMessage
  hasEnded: boolean
}

/** A server, and what it knows of the request that began last. */
async function watched() {
  let last: Watched | undefined
  const server = await open({
    async handle(request, response) {
      const own: Watched = { request, hasEnded: false }
      last = own
      response.once('close', () => (own.hasEnded = true))
      sendJson(response, 200, { length: (await readBody(response, limits.bodiesBytes)).length })
    },
  })
  return {
    server,
    bytesRead: () => last?.request.socket.bytesRead ?? 0,
    last: () => last!,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

test('bodies under way are bounded in their sum, and count until their request has ended', async () => {
  await using served = await watched()
  const { server } = served
  const most = limits.bodiesBytes - 1000
  for (const end of ['answered', 'gone'] as const) {
    const first = await RawClient.open(server.url)
    first.send(post(most)).send(Buffer.alloc(most - 1, 'x'))
    // All but the last byte.
    await until(() => served.bytesRead() === post(most).length + most - 1)
    const underWay = served.last()
    const refused: readonly (readonly [string, string | Buffer])[] = [
      ['by its announced length', rawPost('/', 'x'.repeat(2000))],
      ['by what has come', chunked('x'.repeat(2000))],
      ['by what it decompresses to', gzipped(Buffer.alloc(2000))],
    ]
    for (const [what, request] of refused) {
      await using second = await RawClient.open(server.url)
      const answer = await second.send(request).answer()
      assert.is(answer!.status, 503, what)
      assert.match(answer!.body, 'too-many-bodies')
      assert.is(answer!.headers.get('retry-after'), String(limits.retryAfterSeconds))
    }
    await using small = await RawClient.open(server.url)
    assert.is((await small.send(rawPost('/', 'x')).answer())!.status, 200)
    if (end === 'answered') assert.is((await first.send('x').answer())!.status, 200)
    else first.socket.resetAndDestroy()
    await until(() => underWay.hasEnded)
    await using next = await RawClient.open(server.url)
    assert.is((await next.send(rawPost('/', 'x'.repeat(2000))).answer())!.status, 200, end)
    await first[Symbol.asyncDispose]()
  }
})

test('a body that was compressed counts until it is answered, and no longer', async () => {
  const [isRead, mayAnswer] = [new AbortController(), new AbortController()]
  await using server = await open({
    async handle({ url }, response) {
      const { length } = await readBody(response, limits.bodiesBytes)
      if (url === '/slow') isRead.abort()
      if (url === '/slow') await once(mayAnswer.signal, 'abort')
      sendJson(response, 200, { length })
    },
  })
  const large = gzipSync(Buffer.alloc(limits.bodiesBytes - 1000))
  const post = async (path: string, body: Buffer) => {
    const headers = { 'Content-Encoding': 'gzip' }
    return (await fetch(server.url + path, { method: 'POST', headers, body })).status
  }
  assert.is(await post('/', large), 200)
  const slow = post('/slow', large)
  await once(isRead.signal, 'abort')
  assert.is(await post('/', gzipSync(Buffer.alloc(2000))), 503)
  mayAnswer.abort()
  assert.is(await slow, 200)
  assert.is(await post('/', large), 200)
})

test('a client that only announces a body takes nothing from the others', async () => {
  await using server = await open()
  await using silent = await RawClient.open(server.url)
  silent.send(post(limits.bodiesBytes))
  await sleep(30)
  await using other = await RawClient.open(server.url)
  assert.is((await other.send(rawPost('/', 'x'.repeat(2000))).answer())!.status, 200)
})

function chunked(body: string): string {
  const head = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'
  return `${head}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
}

function gzipped(body: Buffer): Buffer {
  const packed = gzipSync(body)
  const head = `POST / HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\nContent-Length: ${packed.length}\r\n\r\n`
  return Buffer.concat([Buffer.from(head), packed])
}

test('of a server that stops, no request is worked on behind the answer that closes its connection', async () => {
  const handled: string[] = []
  let go = () => {}
  const gate = new Promise<void>((resolve) => (go = resolve))
  const server = await HttpServer.open({
    host: '127.0.0.1',
    port: 0,
    logger: silentLogger,
    async handle(request, response) {
      handled.push(request.url!)
      await gate
      sendJson(response, 200, request.url)
    },
  })
  await using client = await RawClient.open(server.url)
  const get = (url: string) => `GET ${url} HTTP/1.1\r\nHost: localhost\r\n\r\n`
  client.send(get('/1'))
  while (handled.length < 1) await sleep(1)
  const stopped = server[Symbol.asyncDispose]()
  client.send(get('/2') + get('/3'))
  // Both are in this process, so a few turns of the loop bring the requests over; they wait for the first.
  for (let turn = 0; turn < 5; turn++) await sleep(10)
  go()
  assert.is((await client.answer())?.body, '"/1"')
  assert.is((await client.answer())?.body, '"/2"')
  assert.is(await client.answer(), null)
  await stopped
  assert.equal(handled, ['/1', '/2'])
})

test('to HTTP/1.0 an answer that is cut off ends with a reset, since a close would make it whole', async () => {
  const fail = new AbortController()
  const server = await open({
    shutdownMs: 50,
    async handle({ url }, response) {
      response.writeHead(200).write('a part')
      await once(url === '/fails' ? fail.signal : NEVER, 'abort')
      throw new Error('no more')
    },
  })
  await using failing = await RawClient.open(server.url)
  await using hanging = await RawClient.open(server.url)
  const clients = [
    failing.send('GET /fails HTTP/1.0\r\n\r\n'),
    hanging.send('GET / HTTP/1.0\r\n\r\n'),
  ]
  for (const client of clients) while (!client.received.endsWith('a part')) await sleep(5)
  fail.abort()
  assert.ok(await failing.closes())
  assert.is(failing.error, 'ECONNRESET')
  assert.is(hanging.error, null)
  await server[Symbol.asyncDispose]()
  assert.ok(await hanging.closes())
  assert.is(hanging.error, 'ECONNRESET')
})

test.run()
