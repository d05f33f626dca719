// Connections that the fast front gives to node:http, with more on the way than is read at once.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { seededRandom } from '../../support/seeded-random.ts'
import { fastFront } from '../../../src/http/fast/post-front.ts'
import type { PostRoute } from '../../../src/http/head.ts'
import { readBody } from '../../../src/http/body.ts'
import { sendJson } from '../../../src/http/respond.ts'
import { HttpServer } from '../../../src/http/server.ts'
import { silentLogger } from '../../support/silent-logger.ts'
import { RawClient, rawPost } from '../../support/raw-client.ts'

const SEED = 20_261_122
const CONNECTIONS = 8
const REQUESTS = 300
/** The first ones, which the front answers itself; meanwhile all that comes behind them waits in the socket. */
const FAST = 20

const late: PostRoute = {
  maxBodyBytes: 1_000,
  take: ({ length }) => ({
    body: JSON.stringify({ length }),
    ready: new Promise((resolve) => setTimeout(resolve, 20)),
  }),
  toRefusal: (error) => error,
}

test('all of their requests are answered in their order', async () => {
  const random = seededRandom(SEED)
  const below = (count: number) => Math.floor(random() * count)
  await using server = await HttpServer.open({
    host: '127.0.0.1',
    port: 0,
    async handle(request, response) {
      const { length } = await readBody(response, 1_000)
      await new Promise((resolve) => setTimeout(resolve, below(3)))
      sendJson(response, 202, { length })
    },
    front: fastFront({
      routeOf: ({ url }) => (url === '/fast' ? late : null),
      changing: [],
      status: 202,
      answerHeaders: {},
    }),
    logger: silentLogger,
  })
  const talk = async () => {
    await using client = await RawClient.open(server.url)
    const lengths = Array.from({ length: REQUESTS }, () => below(300))
    const text = lengths
      .map((length, n) => rawPost(n < FAST ? '/fast' : '/', 'x'.repeat(length)))
      .join('')
    for (let at = 0; at < text.length;) {
      const piece = text.slice(at, at + 1 + below(3_000))
      client.send(piece)
      at += piece.length
      if (below(3) === 0) await new Promise((resolve) => setTimeout(resolve, below(4)))
    }
    for (const length of lengths) assert.is((await client.answer())?.body, `{"length":${length}}`)
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, talk))
})

test.run()
