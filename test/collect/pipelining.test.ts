// One connection that does not wait for its answers.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { RawClient, rawPost } from '../support/raw-client.ts'
import { eventsOf, openDaemon } from '../support/collect-daemon.ts'
import { post } from '../support/json-requests.ts'

const COUNT = 300

test('events keep their order, and every answer has the place of its request', async () => {
  await using fixture = await openDaemon()
  const { url, adminUrl } = fixture.daemon
  await using client = await RawClient.open(url)
  // Every tenth event is refused, by the validator or before it.
  const expected = Array.from({ length: COUNT }, (_, id) =>
    id % 20 === 10 ? 400 : id % 20 === 0 ? 404 : 202,
  )
  for (const [id, status] of expected.entries()) {
    const path = status === 404 ? '/collect/raw/nothing' : '/collect/raw/page_views'
    client.send(rawPost(path, `{"event_name":${status === 400 ? 'null' : '"e"'},"count":${id}}`))
  }
  for (const [id, status] of expected.entries())
    assert.is((await client.answer())!.status, status, String(id))
  const { body: claim } = await post(`${adminUrl}/flush/raw/page_views/claim`, '')
  const events = (await eventsOf(adminUrl, String(claim['claim_id']))) as { count: number }[]
  const accepted = expected.flatMap((status, id) => (status === 202 ? [id] : []))
  assert.equal(
    events.map(({ count }) => count),
    accepted,
  )
})

test.run()
