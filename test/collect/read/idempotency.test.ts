// The header Idempotency-Key over HTTP.

import { gzipSync } from 'node:zlib'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { eventsModel } from '../../support/handmade-models.ts'
import { eventsOf, openDaemon, PAGE_VIEWS, targetsOf } from '../../support/collect-daemon.ts'
import { post } from '../../support/json-requests.ts'

const EVENTS = '/collect/raw/page_views'
const json = { 'Content-Type': 'application/json' }
const keyed = (key: string) => ({ ...json, 'Idempotency-Key': key })

async function storedIn(adminUrl: string, table = 'page_views'): Promise<readonly unknown[]> {
  const { body } = await post(`${adminUrl}/flush/raw/${table}/claim`, '')
  const id = body['claim_id']
  return typeof id === 'string' ? eventsOf(adminUrl, id) : []
}

test('a repeated request is answered as the first, and stored once', async () => {
  await using fixture = await openDaemon()
  const { url, adminUrl } = fixture.daemon
  const one = '{"event_name":"one"}'
  const batch = '[{"event_name":"a"},{"event_name":"b"}]'
  const send = async (path: string, body: string | Uint8Array, headers: Record<string, string>) => {
    const { status, body: answer } = await post(url + path, body, headers)
    return [status, answer['accepted']]
  }
  // Together: the later ones come while the first waits for its sync.
  const together = Array.from({ length: 20 }, () => send(EVENTS, one, keyed('k1')))
  for (const answer of await Promise.all(together)) assert.equal(answer, [202, 1])
  assert.equal(await send(EVENTS, one, keyed('k1')), [202, 1])
  assert.equal(await send(`${EVENTS}/batch`, batch, keyed('k2')), [202, 2])
  assert.equal(await send(`${EVENTS}/batch`, batch, keyed('k2')), [202, 2])
  const packed = { ...keyed('k2'), 'Content-Encoding': 'gzip' }
  assert.equal(await send(`${EVENTS}/batch`, gzipSync(batch), packed), [202, 2])
  assert.equal(await send(EVENTS, one, keyed('K1')), [202, 1], 'letter case counts')
  assert.equal(await send(EVENTS, one, json), [202, 1], 'without a key')
  const names = ['one', 'a', 'b', 'one', 'one']
  assert.equal(
    await storedIn(adminUrl),
    names.map((name) => ({ event_name: name })),
  )
})

test('the key of a request with another body is refused; a refused body leaves its key free', async () => {
  await using fixture = await openDaemon()
  const { url, adminUrl } = fixture.daemon
  const bad = await post(url + EVENTS, '{}', keyed('k'))
  assert.equal([bad.status, bad.error.code], [400, 'missing-field'])
  assert.is((await post(url + EVENTS, '{"event_name":"a"}', keyed('k'))).status, 202)
  const other = await post(url + EVENTS, '{"event_name":"b"}', keyed('k'))
  assert.equal([other.status, other.error.code], [422, 'idempotency-key-reused'])
  for (const key of ['', 'x'.repeat(256)]) {
    const { status, error } = await post(url + EVENTS, '{"event_name":"c"}', keyed(key))
    assert.equal([status, error.code], [400, 'invalid-idempotency-key'])
  }
  assert.is((await post(url + EVENTS, '{"event_name":"d"}', keyed('x'.repeat(255)))).status, 202)
  assert.equal(await storedIn(adminUrl), [{ event_name: 'a' }, { event_name: 'd' }])
})

test('each target has keys of its own; a model that changed meanwhile refuses no repeat', async () => {
  const other = eventsModel('raw.other', 'event_name VARCHAR')
  await using fixture = await openDaemon({ targets: targetsOf(PAGE_VIEWS, other) })
  const { url, adminUrl } = fixture.daemon
  const body = '{"event_name":"a"}'
  assert.is((await post(url + EVENTS, body, keyed('k'))).status, 202)
  assert.is((await post(`${url}/collect/raw/other`, body, keyed('k'))).status, 202)
  fixture.daemon.setTargets(targetsOf(eventsModel('raw.page_views', 'needed INTEGER NOT NULL')))
  assert.is((await post(url + EVENTS, body, keyed('k'))).status, 202)
  assert.is((await post(url + EVENTS, body, keyed('k2'))).status, 400)
  assert.is((await storedIn(adminUrl)).length, 1)
  assert.is((await storedIn(adminUrl, 'other')).length, 1)
})

test.run()
