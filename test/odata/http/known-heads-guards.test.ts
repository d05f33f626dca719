// Where an answer that is known may not be given, on a connection that was just given it.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import { alone as withoutOthers } from '../../../src/odata/engine/fellows.ts'
import type { ODataServiceOptions } from '../../../src/odata/service.ts'
import { type Served, serve } from '../../support/odata-service.ts'
import { RawClient } from '../../support/raw-client.ts'
import { get, readByNode, tokenOf } from '../../support/repeated-requests.ts'
import type { Table } from '../../support/snapshot-files.ts'
import { until } from '../../support/until.ts'

const numbers: Table = {
  model: 'shop.numbers',
  key: ['id'],
  rows: sql`SELECT i AS id, 'name ' || i AS name FROM range(3000) AS r(i)`,
}
const letters: Table = { ...numbers, model: 'shop.letters' }

const KNOWN = get('/odata/shop_numbers?$top=2')

const statusOf = async (client: RawClient, request: string) =>
  (await client.send(request).answer())?.status

/** A connection on which the request is answered without node:http from now on. */
async function warmed({ url }: Served, request = KNOWN): Promise<RawClient> {
  const client = await RawClient.open(url)
  for (let i = 0; i < 6; i++) assert.is(await statusOf(client, request), 200)
  const read = await readByNode(async () => void (await client.send(request).answer()))
  assert.is(read, 0, 'node:http still reads it')
  return client
}

const withService = async (
  work: (served: Served) => Promise<void>,
  options: Partial<ODataServiceOptions> = {},
) => {
  await using resources = new Resources()
  await work(await serve(resources, [numbers, letters], options))
}

/** Time in which an answer that must not come would come. */
const aMoment = () => new Promise((resolve) => setTimeout(resolve, 60))

test('a token that is gone, or may see less, is asked for again', () => {
  const [whole, other] = [tokenOf('whole', null), tokenOf('other', null)]
  return withService(
    async (served) => {
      const request = get('/odata/shop_numbers?$top=2', 'Authorization: Bearer whole')
      await using client = await warmed(served, request)
      await served.setTokens([tokenOf('whole', ['shop_letters']), other])
      assert.is(await statusOf(client, request), 404)
      await served.setTokens([whole, other])
      await using again = await warmed(served, request)
      await served.setTokens([other])
      assert.is(await statusOf(again, request), 401)
      assert.is(await statusOf(client, request), 401)
    },
    { tokens: [whole, other] },
  )
})

test('a known head inside another head is a part of it', () =>
  withService(async (served) => {
    await using client = await warmed(served)
    client.send('GET /odata/nothing HTTP/1.1\r\nX: ')
    await aMoment()
    assert.is(await statusOf(client, KNOWN), 404)
    await aMoment()
    assert.is(client.received, '')
    assert.is(await statusOf(client, KNOWN), 200)
  }))

test('a known head as a body is a body', () =>
  withService(async (served) => {
    for (const method of ['GET', 'POST'])
      for (const target of ['/odata/shop_numbers?$top=3', '/odata/nothing', '/odata/$batch']) {
        await using client = await warmed(served)
        const head = get(target, `Content-Length: ${KNOWN.length}`).replace('GET', method)
        client.send(head)
        await aMoment()
        client.send(KNOWN)
        const first = await client.answer()
        await aMoment()
        assert.is(client.received, '', head)
        const expected = method === 'GET' && target.endsWith('top=3') ? 200 : 400
        assert.ok(first!.status >= expected, `${head}${first!.status}`)
        assert.not.match(first!.body, '"id":1}', head)
        assert.is(await statusOf(client, KNOWN), 200, head)
      }
  }))

test('heads with bodies are read by node:http, however often they come', () =>
  withService(async (served) => {
    await using client = await warmed(served)
    const bodies = [
      ['Content-Length: {n}', (n: number) => `${'x'.repeat(n - 4)}\r\n\r\n`],
      ['Transfer-Encoding: chunked', (n: number) => `${n}\r\n${'x'.repeat(n)}\r\n0\r\n\r\n`],
    ] as const
    for (const [line, bodyOf] of bodies)
      for (const n of [5, 6, 7, 8]) {
        const head = get('/odata/shop_numbers?$top=2', line.replace('{n}', String(n)))
        let status: number | undefined
        const read = await readByNode(async () => void (status = await statusOf(client, head)))
        assert.equal([status, read], [200, 1], head)
        client.send(bodyOf(n))
        await aMoment()
        assert.is(client.received, '', head)
      }
    assert.is(await statusOf(client, KNOWN), 200)
  }))

const SLOW_REQUESTS = 300
const KNOWN_REQUESTS = 260

test('a client that reads slowly gets all answers in their order, and they do not pile up in memory', () =>
  withService(async (served) => {
    const known = get('/odata/shop_numbers?$top=1500')
    await using client = await warmed(served, known)
    client.socket.pause()
    // The answer to one that is not known keeps what follows from being answered ahead.
    const isKnown = (i: number) => i < KNOWN_REQUESTS || i % 2 === 0
    const read = await readByNode(async () => {
      for (let i = 0; i < SLOW_REQUESTS; i++) {
        client.send(isKnown(i) ? known : get(`/odata/shop_numbers(${i})`))
        // Each in a packet of its own, as long as they are read.
        await new Promise((resolve) => setTimeout(resolve, 1))
      }
      await aMoment()
      client.socket.resume()
      for (let i = 0; i < SLOW_REQUESTS; i++) {
        const { status, body } = (await client.answer())!
        const expected = isKnown(i) ? '"id":1499,' : `"id":${i},`
        assert.is(status, 200)
        assert.ok(body.includes(expected), `answer ${i}: ${body.slice(0, 200)}`)
      }
    })
    assert.is(client.received, '')
    const beyond = SLOW_REQUESTS - KNOWN_REQUESTS
    assert.ok(read > 2 * beyond, `node:http read ${read}`)
  }))

test('while all processes turn to another state nothing is answered', () => {
  let [pause, go] = [null as Promise<void> | null, () => {}]
  const fellows = {
    ...withoutOthers,
    get pause() {
      return pause
    },
  }
  return withService(
    async (served) => {
      await using client = await warmed(served)
      pause = new Promise((resolve) => (go = resolve))
      client.send(KNOWN)
      await aMoment()
      assert.is(client.received, '')
      pause = null
      go()
      assert.is((await client.answer())!.status, 200)
    },
    { fellows },
  )
})

test('a service that ends says so on a connection that is answered once more', async () => {
  const resources = new Resources()
  const served = await serve(resources, [numbers])
  await using client = await warmed(served)
  const ended = resources[Symbol.asyncDispose]()
  client.send(KNOWN)
  const answer = await client.answer()
  assert.is(answer!.status, 200)
  assert.is(answer!.headers.get('connection'), 'close')
  await ended
})

test('a token that expires between two looks at it is refused as such', () => {
  const expiresAt = new Date('2030-01-01T00:00:00Z')
  let looks = Infinity
  const now = () => (looks-- > 0 ? new Date('2029-12-31T00:00:00Z') : expiresAt)
  return withService(
    async (served) => {
      for (const left of [0, 1, 2, 3]) {
        const request = get(`/odata/shop_numbers?$top=${left}`, 'Authorization: Bearer late')
        looks = Infinity
        await using client = await RawClient.open(served.url)
        for (let i = 0; i < 4; i++) assert.is(await statusOf(client, request), 200)
        // The first that is learned from.
        looks = left
        await client.send(request).answer()
      }
      const requests = () => served.log.filter(({ event }) => event === 'request')
      await until(() => requests().length === 20)
      const refused = requests().filter(({ fields }) => fields['status'] === 401)
      assert.is(refused.length, 2)
      for (const { fields } of refused) assert.is(fields['code'], 'token-expired')
    },
    { tokens: [tokenOf('late', null, expiresAt)], now },
  )
})

test.run()
