// Large answers whose clients take them slowly or not at all.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import { readMetrics } from '../../support/read-metrics.ts'
import { type Answer, type Served, serve } from '../../support/odata-service.ts'
import type { Table } from '../../support/snapshot-files.ts'
import { openStalled } from '../../support/stalled-client.ts'
import { until } from '../../support/until.ts'

const numbers = (rows: number): Table => ({
  model: 'shop.numbers',
  key: ['id'],
  rows: sql`SELECT i AS id, repeat('name ', 10) || i AS name FROM range(${sql.value(rows)}) AS r(i)`,
})

const openStreams = async ({ url }: Served) =>
  (await readMetrics(new URL('/metrics', url).href, 'eider_odata_')).get('open_streams')

test('a client that takes nothing is cut off, a slow one is not', async () => {
  await using resources = new Resources()
  const stalledClientMs = 2_000
  const served = await serve(resources, [numbers(300_000)], { stalledClientMs })
  const prefer = 'Prefer: maxpagesize=300000\r\n'
  openStalled(resources, served, 'shop_numbers', prefer)
  const slow = openStalled(resources, served, 'shop_numbers', `${prefer}Connection: close\r\n`)
  const parts: Buffer[] = []
  const read = () => {
    const part = slow.read(64 * 1024) as Buffer | null
    if (part !== null) parts.push(part)
  }
  const reading = setInterval(read, 20)
  resources.defer(() => clearInterval(reading))
  const ends = () => served.log.filter(({ event }) => event === 'request')
  await until(() => ends().length > 0)
  await new Promise((resolve) => setTimeout(resolve, stalledClientMs))
  assert.equal(
    ends().map(({ fields }) => [fields['status'], fields['aborted']]),
    [[200, true]],
  )
  clearInterval(reading)
  slow.on('data', (part: Buffer) => parts.push(part)).resume()
  await new Promise((resolve) => slow.once('close', resolve))
  assert.match(Buffer.concat(parts).toString('latin1'), /"id":299999,[^]*\]\}\r\n0\r\n\r\n$/)
  assert.is(await openStreams(served), 0)
})

test('beside so many large answers as may be open small ones are made, and no other large one', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [numbers(300_000)], { openStreams: 2 })
  const large = { prefer: 'maxpagesize=300000' }
  const stalled = [1, 2].map(() =>
    openStalled(resources, served, 'shop_numbers', `Prefer: ${large.prefer}\r\n`),
  )
  await until(async () => (await openStreams(served)) === 2)
  const refused = await served.get('shop_numbers', large)
  assert.is(refused.status, 503)
  assert.is(refused.json.error.code, 'overloaded')
  assert.ok(Number(refused.headers['retry-after']) > 0)
  assert.is((await served.get('shop_numbers?$format=csv')).status, 503)
  for (const small of ['shop_numbers(1)', 'shop_numbers?$top=100', 'shop_numbers?$filter=id eq 7'])
    assert.is((await served.get(encodeURI(small), large)).status, 200, small)
  const requests = ['shop_numbers?$top=200000', 'shop_numbers(2)'].map((url, i) => ({
    id: `${i}`,
    method: 'GET',
    url,
    headers: large,
  }))
  const batch = await served.send({
    target: '$batch',
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ requests }),
  })
  assert.equal(
    batch.json.responses.map(({ status }: Answer) => status),
    [503, 200],
  )
  stalled[0]!.destroy()
  await until(async () => (await openStreams(served)) === 1)
  const answer = await served.get('shop_numbers', large)
  assert.is(answer.json.value.length, 300_000)
})

test.run()
