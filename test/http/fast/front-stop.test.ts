// A connection of the fast front when the server stops: one that is in use gets to its next answer.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openFront } from '../../support/open-front.ts'
import { RawClient, rawPost } from '../../support/raw-client.ts'

test('a connection counts as idle once nothing has moved between two looks', async () => {
  using opened = await openFront({
    maxBodyBytes: 10,
    take: (body) => ({ body: body.toString(), ready: Promise.resolve() }),
    toRefusal: (error) => error,
  })
  const { front, url } = opened
  await using client = await RawClient.open(url)
  for (const body of ['1', '2', '3']) {
    client.send(rawPost('/', body))
    assert.is((await client.answer())?.body, body)
    front.closeIdle() // something has moved since the last look
  }
  front.closeIdle()
  assert.ok(await client.closes())
})

test.run()
