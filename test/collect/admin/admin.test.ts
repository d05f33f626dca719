import { readFile, writeFile } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ModelName } from '../../../src/core/names.ts'
import { columnType } from '../../../src/core/relation.ts'
import { RawClient } from '../../support/raw-client.ts'
import { openDaemon, PAGE_VIEWS, targetsOf } from '../../support/collect-daemon.ts'
import { post, send } from '../../support/json-requests.ts'
import { eventsModel } from '../../support/handmade-models.ts'

const EVENTS = '/collect/raw/page_views'
const BATCH = '/collect/raw/page_views/batch'
const FLUSH = '/flush/raw/page_views'

test('E045 to E048, E060 to E063, E068: a claim is listed while it is open, goes back with nack and is gone with ack', async () => {
  await using fixture = await openDaemon()
  const { url, adminUrl } = fixture.daemon
  const call = async (action: string, id?: unknown) =>
    (await post(`${adminUrl}${FLUSH}/${action}`, JSON.stringify({ claim_id: id }))).body
  await post(url + BATCH, '[{"event_name":"a"},{"event_name":"b"}]')
  const claim = await call('claim')
  assert.equal(Object.keys(claim), [
    'claim_id',
    'target',
    'events',
    'bytes',
    'path',
    'first_seq',
    'last_seq',
    'oldest',
    'newest',
    'oldest_segment',
    'opening',
    'collector',
  ])
  const id = claim['claim_id']
  assert.equal(await call('claim'), { claim_id: null }, 'an event is handed out once')
  const { claims } = (await send('GET', `${adminUrl}${FLUSH}/inflight`)).body as {
    claims: Record<string, unknown>[]
  }
  const [{ claimed_at: claimedAt, ...listed }] = claims as [Record<string, unknown>]
  assert.equal(listed, claim)
  assert.ok(Math.abs(Date.parse(String(claimedAt)) - Date.now()) < 60_000)
  assert.equal(await call('nack', id), { claim_id: id, returned: 2 })
  assert.equal(await call('nack', id), { claim_id: id, returned: 0 })
  const { path: _, ...again } = await call('claim')
  assert.is(again['claim_id'], id, 'the id is the identity of the segment')
  assert.equal(await call('ack', id), { claim_id: id, removed: 2 })
  assert.equal(await call('ack', id), { claim_id: id, removed: 0 })
  assert.equal(await call('nack', id), { claim_id: id, returned: 0 })
  assert.equal((await send('GET', `${adminUrl}${FLUSH}/inflight`)).body, { claims: [] })
})

test('E061: claims of other targets, claims that never were, bodies that name none', async () => {
  await using fixture = await openDaemon({
    targets: targetsOf(PAGE_VIEWS, eventsModel('raw.orders', 'id BIGINT')),
  })
  const { url, adminUrl } = fixture.daemon
  await post(url + EVENTS, '{"event_name":"a"}')
  await post(`${url}/collect/raw/orders`, '{"id":1}')
  const { body: claim } = await post(`${adminUrl}/flush/raw/orders/claim`, '')
  const codeOf = async (action: string, body: string) => {
    const { status, error } = await post(`${adminUrl}${FLUSH}/${action}`, body)
    return `${status} ${error.code}`
  }
  for (const action of ['ack', 'nack']) {
    assert.is(
      await codeOf(action, JSON.stringify({ claim_id: claim['claim_id'] })),
      '400 claim-of-another-target',
    )
    assert.is(await codeOf(action, '{"claim_id":"raw.page_views/1"}'), '404 unknown-claim')
    assert.is(await codeOf(action, '{"claim_id":"nonsense"}'), '404 unknown-claim')
    for (const body of ['', '{}', '{"claim_id":7}', 'null', '[]'])
      assert.is(await codeOf(action, body), '400 bad-claim-request', body)
  }
  const unknown = await fetch(`${adminUrl}${FLUSH}/claims/raw.page_views%2F1`)
  assert.is(unknown.status, 404)
})

test('what is shown of a claim are the groups that are as they were written', async () => {
  await using fixture = await openDaemon()
  const { url, adminUrl } = fixture.daemon
  for (const name of ['kept', 'spoilt']) await post(url + EVENTS, `{"event_name":"${name}"}`)
  const { body: claim } = await post(`${adminUrl}${FLUSH}/claim`, '')
  assert.is(claim['events'], 2)
  const path = String(claim['path'])
  const text = await readFile(path, 'utf8')
  await writeFile(path, text.replace('spoilt', 'spoils'))
  const id = encodeURIComponent(String(claim['claim_id']))
  const shown = await fetch(`${adminUrl}${FLUSH}/claims/${id}`)
  const lines = (await shown.text()).trim().split('\n')
  assert.equal(
    lines.map((line) => (JSON.parse(line) as { e: { event_name: string } }).e.event_name),
    ['kept'],
  )
})

test('E053: the admin port answers programs of this machine, and no web page', async () => {
  await using fixture = await openDaemon()
  const { adminUrl } = fixture.daemon
  const origin = await send('GET', `${adminUrl}/flush`, undefined, { Origin: 'http://127.0.0.1' })
  assert.equal([origin.status, origin.error.code], [403, 'not-local'])
  const statusFor = async (host: string) => {
    await using client = await RawClient.open(adminUrl)
    return (await client.send(`GET /flush HTTP/1.1\r\nHost: ${host}\r\n\r\n`).answer())!.status
  }
  for (const host of ['127.0.0.1:8081', 'localhost', '[::1]:8081'])
    assert.is(await statusFor(host), 200)
  // A name of somebody else that resolves to 127.0.0.1.
  for (const host of ['rebound.example.org', '127.0.0.1.example.org:8081', '10.0.0.1', ''])
    assert.is(await statusFor(host), 403, host)
  const addresses = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  for (const { address } of addresses.filter(
    ({ family, internal }) => family === 'IPv4' && !internal,
  )) {
    const outside = fetch(adminUrl.replace('127.0.0.1', address) + '/flush')
    assert.ok(
      await outside.then(
        () => false,
        () => true,
      ),
      `${address} is closed`,
    )
  }
})

test('new models are taken over, all or none; events of a model that is gone can still be flushed', async () => {
  await using fixture = await openDaemon()
  const { daemon } = fixture
  await post(daemon.url + EVENTS, '{"event_name":"a"}')
  const broken = eventsModel('raw.broken', 'a INTEGER')
  const column = { name: 'b', type: columnType('NO_SUCH_TYPE'), nullable: true }
  assert.throws(() =>
    daemon.setTargets(
      targetsOf(eventsModel('raw.new', 'a INTEGER'), { ...broken, columns: [column] }),
    ),
  )
  assert.is((await post(`${daemon.url}/collect/raw/new`, '{"a":1}')).status, 404)
  daemon.setTargets(targetsOf(eventsModel('raw.new', 'a INTEGER')))
  assert.is((await post(`${daemon.url}/collect/raw/new`, '{"a":1}')).status, 202)
  assert.is((await post(daemon.url + EVENTS, '{"event_name":"a"}')).status, 404)
  const { body: claim } = await post(daemon.adminUrl + FLUSH + '/claim', '')
  assert.is(claim['events'], 1)
  const { targets } = (await send('GET', `${daemon.adminUrl}/flush`)).body as {
    targets: { target: ModelName }[]
  }
  assert.equal(targets.map(({ target }) => target).toSorted(), ['raw.new', 'raw.page_views'])
})

test.run()
