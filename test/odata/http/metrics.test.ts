// What the service says about itself: /metrics and the log.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { RawClient } from '../../support/raw-client.ts'
import { readMetrics } from '../../support/read-metrics.ts'
import { repository } from '../../support/workspace.ts'
import { ask, type Served, serve } from '../../support/odata-service.ts'
import { publish } from '../../support/snapshot-files.ts'
import { shop } from '../../support/related-tables.ts'

const urlOf = ({ url }: Served) => new URL('/metrics', url).href
const metricsOf = (served: Served) => readMetrics(urlOf(served), 'eider_odata_')

test('metrics count answers, refusals, rows and bytes', async () => {
  await using resources = new Resources()
  const served = await serve(resources, shop)
  assert.is((await metricsOf(served)).get('rows_total'), 0)
  const customers = await served.get('shop_customers')
  await served.get('shop_customers')
  await served.get('shop_customers(1)')
  await served.get('shop_customers', { 'if-none-match': customers.headers['etag']! })
  await served.get('nope')
  await served.get('shop_customers?$filter=(')
  {
    await using raw = await RawClient.open(served.url)
    await raw.send('NO HTTP\r\n\r\n').answer()
  }
  const metrics = await metricsOf(served)
  const expected: readonly (readonly [string, number])[] = [
    ['requests_total{status="200"}', 4], // one of them is the first look at the metrics
    ['requests_total{status="304"}', 1],
    ['requests_total{status="404"}', 1],
    ['requests_total{status="400"}', 1],
    ['refused_total{code="unknown-entity-set"}', 1],
    ['refused_total{code="syntax-error"}', 1],
    ['refused_total{code="bad-request"}', 1],
    ['request_seconds_count', 7],
    ['request_seconds_bucket{le="+Inf"}', 7],
    ['open_requests', 1],
    ['rows_total', 7],
    ['running_queries', 0],
    ['waiting_queries', 0],
    ['open_streams', 0],
    ['refused_queries_total', 0],
    ['snapshot_info{id="first"}', 1],
    ['snapshots_opened_total', 1],
    ['snapshot_stale', 0],
  ]
  for (const [name, value] of expected) assert.is(metrics.get(name), value, name)
  assert.ok(metrics.get('bytes_total')! >= 2 * customers.bytes.length)
  assert.ok(metrics.get('snapshot_age_seconds')! < 600)
  assert.ok(metrics.get('memory_bytes{of="resident"}')! > 1_000_000)
})

test('metrics name a new snapshot', async () => {
  await using resources = new Resources()
  const served = await serve(resources, shop)
  await publish(served.dir, 'second', shop)
  const deadline = Date.now() + 10_000
  while (!(await metricsOf(served)).has('snapshot_info{id="second"}'))
    if (Date.now() > deadline) throw new Error('it was not taken up in 10 s')
  const metrics = await metricsOf(served)
  assert.is(metrics.get('snapshots_opened_total'), 2)
  assert.not(metrics.has('snapshot_info{id="first"}'))
})

test('metrics need the token', async () => {
  await using resources = new Resources()
  const served = await serve(resources, shop, { token: 'secret' })
  assert.is((await ask(urlOf(served), {})).status, 401)
  const headers = { authorization: 'Bearer secret' }
  const answer = await ask(urlOf(served), { headers })
  assert.is(answer.status, 200)
  assert.not.match(answer.text, 'secret')
})

test('the page names all metrics and no other', async () => {
  await using resources = new Resources()
  const served = await serve(resources, shop)
  const { text } = await ask(urlOf(served), {})
  const actual = [...text.matchAll(/^# TYPE eider_odata_(\w+)/gm)].map(([, name]) => name)
  const page = readFileSync(join(repository, 'docs', 'odata', 'operating.md'), 'utf8')
  const [, table = ''] = page.split('\n| metric ')
  const rows = table.slice(0, table.indexOf('\n\n')).split('\n').slice(2)
  const names = rows.flatMap((row) => {
    const [cell = ''] = row.slice(1).split('|')
    return [...cell.matchAll(/`(\w+)/g)].map(([, name]) => name)
  })
  assert.equal(new Set(names), new Set(actual))
})

test('the log can be turned off, and holds neither token nor query', async () => {
  await using resources = new Resources()
  const quiet = await serve(resources, shop, { accessLog: false })
  assert.is((await quiet.get('shop_customers')).status, 200)
  const loud = await serve(resources, shop, { token: 'secret' })
  const headers = { authorization: 'Bearer secret' }
  await loud.get('shop_customers?$filter=name%20eq%20%27private%27', headers)
  await loud.get('shop_customers?$filter=name%20eq%20%27private%27', headers)
  const requests = ({ log }: Served) => log.filter(({ event }) => event === 'request')
  assert.is(requests(quiet).length, 0)
  assert.is(requests(loud).length, 2)
  assert.not.match(JSON.stringify(loud.log), /secret|private/)
})

test.run()
