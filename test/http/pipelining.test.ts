// Requests that are sent without waiting for answers, to a server that works on one of a connection at a time.

import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../src/core/limits.ts'
import { readBody } from '../../src/http/body.ts'
import { sendJson } from '../../src/http/respond.ts'
import { HttpServer } from '../../src/http/server.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { RawClient, rawPost } from '../support/raw-client.ts'
import { until } from '../support/until.ts'

const get = (url: string, ...headers: readonly string[]) =>
  `GET ${url} HTTP/1.1\r\nHost: localhost\r\n${headers.map((line) => `${line}\r\n`).join('')}\r\n`

/** A server that answers with the URL; to `/slow…` when it is let go. */
async function open() {
  const begun: string[] = []
  const atWork = new Set<string>()
  let most = 0
  const gate = new AbortController()
  const server = await HttpServer.open({
    host: '127.0.0.1',
    port: 0,
    logger: silentLogger,
    async handle(request, response) {
      const url = request.url!
      begun.push(url)
      atWork.add(url)
      most = Math.max(most, atWork.size)
      if (url.startsWith('/slow') && !gate.signal.aborted) await once(gate.signal, 'abort')
      if (request.method === 'POST') await readBody(response, 1_000)
      await sleep(0)
      atWork.delete(url)
      sendJson(response, 200, url)
    },
  })
  return {
    server,
    begun,
    letGo: () => gate.abort(),
    most: () => most,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

test('the next request begins when the one before it is answered; other connections do not wait', async () => {
  await using served = await open()
  await using client = await RawClient.open(served.server.url)
  client.send(get('/slow') + get('/second') + rawPost('/third', 'body'))
  await until(() => served.begun.length === 1)
  await using other = await RawClient.open(served.server.url)
  assert.is((await other.send(get('/other')).answer())!.status, 200)
  assert.equal(served.begun, ['/slow', '/other'])
  served.letGo()
  for (const url of ['/slow', '/second', '/third'])
    assert.is((await client.answer())!.body, JSON.stringify(url))
  assert.equal(served.begun, ['/slow', '/other', '/second', '/third'])
})

test('more requests than may wait are all answered, in order', async () => {
  await using served = await open()
  await using client = await RawClient.open(served.server.url)
  const count = 40 * limits.requestsInLine
  client.send(Array.from({ length: count }, (_, i) => get(`/${i}`)).join(''))
  for (let i = 0; i < count; i++) assert.is((await client.answer())!.body, `"/${i}"`)
  assert.is(served.most(), 1)
})

test('no more is read while requests wait, however often an answer drains', async () => {
  let readBytes: number | null = null
  await using server = await HttpServer.open({
    host: '127.0.0.1',
    port: 0,
    logger: silentLogger,
    async handle({ url, socket }, response) {
      const part = Buffer.alloc(256 * 1024)
      for (let i = 0; url === '/large' && i < 40; i++) {
        if (!response.write(part)) await once(response, 'drain')
        await sleep(1) // time to read, if it were read
      }
      if (url === '/large') readBytes = socket.bytesRead
      response.end()
    },
  })
  await using client = await RawClient.open(server.url)
  const requests = get('/small').repeat(50_000)
  client.send(get('/large') + requests)
  await until(() => readBytes !== null)
  // Two reads of 64 KiB at most, and some room.
  assert.ok(readBytes! < 256 * 1024, `${readBytes} of ${requests.length} bytes`)
})

test('of a client that has left, what waits is not begun', async () => {
  await using served = await open()
  const client = await RawClient.open(served.server.url)
  client.send(get('/slow') + Array.from({ length: 100 }, (_, i) => get(`/${i}`)).join(''))
  await until(() => served.begun.length === 1)
  client.socket.resetAndDestroy()
  await sleep(50)
  served.letGo()
  await using next = await RawClient.open(served.server.url)
  assert.is((await next.send(get('/next')).answer())!.status, 200)
  assert.equal(served.begun, ['/slow', '/next'])
})

test('what waits behind the last answer of its connection is not begun', async () => {
  await using served = await open()
  await using client = await RawClient.open(served.server.url)
  client.send(get('/slow') + get('/last', 'Connection: close') + get('/behind'))
  await until(() => served.begun.length === 1)
  served.letGo()
  assert.is((await client.answer())!.body, '"/slow"')
  assert.is((await client.answer())!.body, '"/last"')
  assert.is(await client.answer(), null)
  assert.equal(served.begun, ['/slow', '/last'])
})

test('broken bytes behind requests that wait are refused behind their answers', async () => {
  await using served = await open()
  await using client = await RawClient.open(served.server.url)
  client.send(get('/slow') + get('/second') + rawPost('/broken', 'x', 'Transfer-Encoding: chunked'))
  await until(() => served.begun.length === 1)
  await sleep(20)
  served.letGo()
  assert.is((await client.answer())!.body, '"/slow"')
  assert.is((await client.answer())!.body, '"/second"')
  assert.is((await client.answer())!.status, 400)
  assert.ok(await client.closes())
})

test('a server that works without waiting still gives other connections their turn', async () => {
  await using server = await HttpServer.open({
    host: '127.0.0.1',
    port: 0,
    logger: silentLogger,
    handle(request, response) {
      seen.push(request.url!)
      sendJson(response, 200, request.url)
      // The other connection's request is on its way before the second one begins.
      if (seen.length === 1) other.send(get('/other'))
    },
  })
  const seen: string[] = []
  await using other = await RawClient.open(server.url)
  await using client = await RawClient.open(server.url)
  const count = 1_000
  client.send(Array.from({ length: count }, (_, i) => get(`/${i}`)).join(''))
  for (let i = 0; i < count; i++) assert.is((await client.answer())!.body, `"/${i}"`)
  assert.is((await other.answer())!.status, 200)
  assert.ok(seen.indexOf('/other') < count / 2, `after ${seen.indexOf('/other')} others`)
})

test('bodies that are read do not make the server read on while requests wait', async () => {
  const line = new AbortController()
  let came = 0
  let paused = () => false
  await using server = await HttpServer.open({
    host: '127.0.0.1',
    port: 0,
    logger: silentLogger,
    async handle(request, response) {
      const { socket } = request
      paused = () => socket.isPaused()
      await readBody(response, 1_000)
      came++
      // Only the first is let through: then its successor reads its body, with many behind it.
      if (came === 2) await once(line.signal, 'abort')
      sendJson(response, 200, request.url)
    },
  })
  await using client = await RawClient.open(server.url)
  const count = 4 * limits.requestsInLine
  client.send(Array.from({ length: count }, (_, i) => rawPost(`/${i}`, 'body')).join(''))
  await until(() => came === 2)
  await until(() => paused())
  line.abort()
  for (let i = 0; i < count; i++) assert.is((await client.answer())!.body, `"/${i}"`)
})

test('a connection is closed that would have more requests wait than all may', async () => {
  await using served = await open()
  await using client = await RawClient.open(served.server.url)
  const requests = get('/slow') + get('/second').repeat(100)
  const { requestsInLines } = limits
  const clients: RawClient[] = []
  try {
    for (let waiting = 0; waiting <= requestsInLines; waiting += 100)
      clients.push((await RawClient.open(served.server.url)).send(requests))
    await until(() => clients.some(({ socket }) => socket.readableEnded || socket.destroyed))
    // Those that do not pipeline go on.
    assert.is((await client.send(get('/other')).answer())!.status, 200)
  } finally {
    for (const one of clients) await one[Symbol.asyncDispose]()
    served.letGo()
  }
})

test('a server that stops answers what waits', async () => {
  const served = await open()
  await using client = await RawClient.open(served.server.url)
  client.send(get('/slow') + get('/second'))
  await until(() => served.begun.length === 1)
  await sleep(20)
  const stopped = served[Symbol.asyncDispose]()
  served.letGo()
  assert.is((await client.answer())!.body, '"/slow"')
  assert.is((await client.answer())!.body, '"/second"')
  await stopped
})

test.run()
