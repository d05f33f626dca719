// A connection of the fast front when the server stops: one that is in use gets to its next answer.

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { PostFront } from '../../src/http/post-front.ts'
import { RequestError } from '../../src/http/request-error.ts'
import { RawClient, rawPost } from './raw-client.ts'

test('a connection counts as idle once nothing has moved between two looks', async () => {
  const front = new PostFront({
    routeOf: () => ({
      maxBodyBytes: 10,
      take: (body) => ({ body: body.toString(), ready: Promise.resolve() }),
      toRefusal: (error) => error,
    }),
    status: 202,
    answerHeaders: {},
    toRefusal: (cause) => new RequestError(500, 'internal-error', String(cause)),
    handOver: (socket) => socket.destroy(),
    refuseBroken: (socket) => socket.destroy(),
  })
  front.listener.listen(0, '127.0.0.1')
  await once(front.listener, 'listening')
  const { port } = front.listener.address() as AddressInfo
  try {
    await using client = await RawClient.open(`http://127.0.0.1:${port}`)
    for (const body of ['1', '2', '3']) {
      client.send(rawPost('/', body))
      assert.is((await client.answer())?.body, body)
      front.closeIdle() // something has moved since the last look
    }
    front.closeIdle()
    assert.ok(await client.closes())
  } finally {
    front.stop()
    front.closeAll()
    front.listener.close()
  }
})

test.run()
