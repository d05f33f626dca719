// What the daemon says about itself: /metrics and /health.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { RawClient } from '../support/raw-client.ts'
import { readMetrics } from '../support/read-metrics.ts'
import { openDaemon } from '../support/collect-daemon.ts'
import { post, send } from '../support/json-requests.ts'

const EVENTS = '/collect/raw/page_views'
const OF_TARGET = '{target="raw.page_views"}'

const metricsOf = (adminUrl: string) => readMetrics(`${adminUrl}/metrics`, 'eider_collect_')

test('metrics count what was accepted, refused and committed', async () => {
  await using fixture = await openDaemon()
  const { url, adminUrl } = fixture.daemon
  const before = await metricsOf(adminUrl)
  assert.is(before.get(`events_total${OF_TARGET}`), 0)
  await post(url + EVENTS, '{"event_name":"a"}')
  await post(`${url}${EVENTS}/batch`, '[{"event_name":"b"},{"event_name":"c"}]')
  await post(url + EVENTS, '{}')
  await post(url + EVENTS, '{')
  await post(`${url}/collect/raw/nothing`, '{}')
  await using raw = await RawClient.open(url)
  await raw.send('NO HTTP\r\n\r\n').answer()
  await post(`${adminUrl}/flush/raw/page_views/claim`, '')
  await post(url + EVENTS, '{"event_name":"d"}')
  const after = await metricsOf(adminUrl)
  const expected: [string, number][] = [
    [`events_total${OF_TARGET}`, 4],
    ['requests_total{status="202"}', 3],
    ['requests_total{status="400"}', 3],
    ['requests_total{status="404"}', 1],
    ['refused_total{code="missing-field"}', 1],
    ['refused_total{code="invalid-json"}', 1],
    ['refused_total{code="unknown-target"}', 1],
    ['refused_total{code="bad-request"}', 1],
    ['commit_seconds_count', 3],
    ['commit_seconds_bucket{le="+Inf"}', 3],
    [`backlog_events${OF_TARGET}`, 4],
    [`inflight_events${OF_TARGET}`, 3],
    [`inflight_claims${OF_TARGET}`, 1],
    ['writable', 1],
    ['models_stale', 0],
  ]
  for (const [name, value] of expected) assert.is(after.get(name), value, name)
  for (const name of ['commit_seconds_sum', `backlog_bytes${OF_TARGET}`, 'disk_free_bytes'])
    assert.ok(after.get(name)! > 0, name)
  assert.is(after.get(`bytes_total${OF_TARGET}`)! > 0, true)
  assert.ok(after.get('memory_bytes{of="resident"}')! > 1e6)
  assert.ok(after.get(`oldest_seconds${OF_TARGET}`)! < 60)
  assert.is((await send('GET', `${url}/metrics`)).status, 404, 'not on the public port')
  assert.is((await post(`${adminUrl}/metrics`, '')).status, 405)
})

test('a repeat by its Idempotency-Key is counted as that and as nothing else', async () => {
  await using fixture = await openDaemon()
  const { url, adminUrl } = fixture.daemon
  const keyed = { 'Idempotency-Key': 'k', 'Content-Type': 'application/json' }
  for (let i = 0; i < 3; i++)
    assert.is((await post(url + EVENTS, '{"event_name":"a"}', keyed)).status, 202)
  const metrics = await metricsOf(adminUrl)
  assert.is(metrics.get(`repeats_total${OF_TARGET}`), 2)
  assert.is(metrics.get(`events_total${OF_TARGET}`), 1)
  assert.is(metrics.get('requests_total{status="202"}'), 1)
})

test('E066 health says the backlog, its oldest event, the rate, and the room on the disk', async () => {
  await using fixture = await openDaemon({ token: 'secret' })
  const { url, adminUrl } = fixture.daemon
  const shown = { Authorization: 'Bearer secret', 'Content-Type': 'application/json' }
  const start = new Date().toISOString()
  const empty = await send('GET', `${url}/health`, undefined, shown)
  assert.equal([empty.body['oldest'], empty.body['models']], [null, 'current'])
  await post(url + EVENTS, '{"event_name":"a"}', shown)
  for (const address of [url, adminUrl]) {
    const { body } = await send('GET', `${address}/health`, undefined, shown)
    assert.is(body['events'], 1)
    assert.ok((body['oldest'] as string) >= start)
    assert.ok((body['disk_free_bytes'] as number) > 0)
    const [target] = body['targets'] as { rate: number }[]
    assert.ok(target!.rate > 0)
  }
  const { body } = await send('GET', `${url}/health`)
  assert.equal(Object.keys(body), ['status', 'models', 'events', 'bytes', 'oldest'])
})

test.run()
