// Connections of the fast front that send without waiting for their answers: others get their turns meanwhile, and what
// nobody reads is not made. All of it by the order of events, whatever time they take.

import { once } from 'node:events'
import type { Socket } from 'node:net'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../../src/core/limits.ts'
import { fastFront } from '../../../src/http/fast/post-front.ts'
import type { PostRoute } from '../../../src/http/head.ts'
import { RequestError } from '../../../src/http/request-error.ts'
import { sendJson } from '../../../src/http/respond.ts'
import { HttpServer } from '../../../src/http/server.ts'
import { silentLogger } from '../../support/silent-logger.ts'
import { openFront } from '../../support/open-front.ts'
import { RawClient, rawPost } from '../../support/raw-client.ts'

/** Some megabytes, with their heads. */
const COUNT = 20_000

/** Refuses every body at once, as ingest does with an empty one; tells of each. */
const refusing = (onTake: (body: string) => void, message = ''): PostRoute => ({
  maxBodyBytes: 1_000,
  take(body) {
    const text = body.toString()
    onTake(text)
    throw new RequestError(400, 'refused', message + text)
  },
  toRefusal: (error) => error,
})

const refusals = ({ received }: RawClient) => received.split('"refused"').length - 1

test('a connection is answered while another one floods', async () => {
  const taken: string[] = []
  using opened = await openFront(
    refusing((body) => {
      taken.push(body)
      if (taken.length === 1) other.send(rawPost('/', 'other'))
    }),
  )
  await using other = await RawClient.open(opened.url)
  await using flood = await RawClient.open(opened.url)
  const answersBefore = once(other.socket, 'data').then(() => refusals(flood))
  flood.send(rawPost('/', 'flood').repeat(COUNT))
  assert.ok((await answersBefore) < COUNT / 10, `after ${await answersBefore} answers of the flood`)
  const place = taken.indexOf('other')
  assert.ok(place < COUNT / 10, `after ${place} requests of the flood`)
})

test('floods on many connections take turns', async () => {
  const taken: string[] = []
  using opened = await openFront(refusing((body) => taken.push(body)))
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
  for (const name of names)
    (await RawClient.open(opened.url)).send(rawPost('/', name).repeat(COUNT / names.length))
  while (taken.length < COUNT) await new Promise((resolve) => setImmediate(resolve))
  for (let at = 0; at < COUNT;) {
    const name = taken[at]
    const start = at
    while (taken[at] === name) at++
    const others = new Set(taken.slice(at))
    const most = 2 * limits.frontRequestsInTurn
    assert.ok(at - start <= most || others.size === 0, `${at - start} of ${name} in a row`)
  }
})

test('answers wait in memory for a client that does not read only up to a turn', async () => {
  const size = 20_000
  let mostBytes = 0
  using opened = await openFront(
    refusing(() => (mostBytes = Math.max(mostBytes, socket.writableLength)), 'x'.repeat(size)),
  )
  const connected = once(opened.front.listener, 'connection') as Promise<[Socket]>
  await using client = await RawClient.open(opened.url)
  client.socket.pause()
  const [socket] = await connected
  const count = 1_000
  client.send(Array.from({ length: count }, (_, n) => rawPost('/', `-${n}`)).join(''))
  while (!socket.isPaused() || !socket.writableNeedDrain)
    await new Promise((resolve) => setImmediate(resolve))
  mostBytes = Math.max(mostBytes, socket.writableLength)
  client.socket.resume()
  client.socket.end()
  for (let n = 0; n < count; n++) assert.match((await client.answer())!.body, `x-${n}"`)
  assert.ok(await client.closes())
  const most = (limits.frontRequestsInTurn + 1) * (size + 1_000)
  assert.ok(mostBytes <= most, `${mostBytes} bytes, not ${most}`)
})

test('what is foreign, and the end, come behind all that waits for its turn', async () => {
  await using server = await HttpServer.open({
    host: '127.0.0.1',
    port: 0,
    handle: (request, response) => sendJson(response, 200, request.url),
    front: fastFront({
      routeOf: ({ url }) => (url === '/fast' ? refusing(() => {}) : null),
      changing: [],
      status: 202,
      answerHeaders: {},
    }),
    logger: silentLogger,
  })
  for (const [tail, status] of [
    ['GET /node HTTP/1.1\r\nHost: x\r\n\r\n', 200],
    [rawPost('/fast', 'half').slice(0, -2), 400],
    ['', null],
  ] as const) {
    await using client = await RawClient.open(server.url)
    const count = 10 * limits.frontRequestsInTurn
    client.send(Array.from({ length: count }, (_, n) => rawPost('/fast', `${n}.`)).join('') + tail)
    client.socket.end()
    for (let n = 0; n < count; n++) assert.match((await client.answer())!.body, `"${n}."`)
    assert.is((await client.answer())?.status ?? null, status)
    assert.ok(await client.closes())
  }
})

test('of a client that has left, what waits for its turn is not taken', async () => {
  let taken = 0
  using opened = await openFront(
    refusing(() => {
      // The socket is closed in the same turn in which its first requests are taken.
      if (++taken === 1) socket.destroy()
    }),
  )
  const connected = once(opened.front.listener, 'connection') as Promise<[Socket]>
  await using client = await RawClient.open(opened.url)
  const [socket] = await connected
  client.send(rawPost('/', 'flood').repeat(COUNT))
  assert.ok(await client.closes())
  await using next = await RawClient.open(opened.url)
  assert.is((await next.send(rawPost('/', 'next')).answer())!.status, 500)
  assert.is(taken, limits.frontRequestsInTurn + 1)
})

test.run()
