// What a service does under load, with clients that leave or stall, and when the engine fails.

import { connect } from 'node:net'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../../src/core/limits.ts'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import { readMetrics } from '../../support/read-metrics.ts'
import { openStalled } from '../../support/stalled-client.ts'
import { until } from '../../support/until.ts'
import { type Answer, ask, serve, type Served } from '../../support/odata-service.ts'
import { publish, type Table } from '../../support/snapshot-files.ts'

const numbers = (rows: number, generation = 0): Table => ({
  model: 'shop.numbers',
  key: ['id'],
  rows: sql`SELECT i AS id, ${sql.value(generation)} AS generation, repeat('name ', 10) || i AS name
    FROM range(${sql.value(rows)}) AS r(i)`,
})

const failing = (model: string, row: number): Table => ({
  model,
  isView: true,
  rows: sql`SELECT i AS id, CASE WHEN i = ${sql.value(row)} THEN CAST(CAST('secret' || i AS INTEGER) AS VARCHAR)
    ELSE 'some text' END AS name FROM range(1000000) AS r(i)`,
})

/** So many rows that the engine takes seconds to look at the texts of all. */
const endless: Table = {
  model: 'shop.endless',
  isView: true,
  rows: sql`SELECT i AS id, CAST(hash(i) AS VARCHAR) AS name FROM range(100000000) AS r(i)`,
}
const SLOW_FILTER = "$filter=contains(name,'x')"

test('new snapshots come while requests run, and none of them fails', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [numbers(3_000)])
  const targets = [
    'shop_numbers?$count=true',
    'shop_numbers(5)',
    'shop_numbers/$count',
    '$metadata',
    "shop_numbers?$filter=contains(name,'99')",
  ]
  const answers: Answer[] = []
  let stopped = false
  const clients = Array.from({ length: 8 }, async (_, client) => {
    for (let i = client; !stopped; i++)
      answers.push(await served.get(targets[i % targets.length]!, { connection: 'close' }))
  })
  for (let generation = 1; generation <= 10; generation++) {
    const id = `generation-${generation}`
    await publish(served.dir, id, [numbers(3_000 + generation, generation)])
    await until(() => answers.at(-1)?.headers['eider-snapshot'] === id)
  }
  stopped = true
  await Promise.all(clients)
  assert.equal(
    answers.filter(({ status, aborted }) => status !== 200 || aborted),
    [],
  )
  // Rows, count and header of one response are of one snapshot.
  let collections = 0
  for (const { text, headers } of answers) {
    if (!text.includes('"@odata.count"')) continue
    collections++
    const { value, '@odata.count': count } = JSON.parse(text)
    const generation = Number(headers['eider-snapshot']!.replace(/^first$|\D/g, ''))
    assert.is(count, 3_000 + generation)
    assert.is(value.length, count)
    assert.ok(value.every((row: { generation: number }) => row.generation === generation))
  }
  assert.ok(collections > 10)
})

test('a failure in the middle of a stream cuts the connection', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [failing('shop.late', 500_000)])
  const answer = await served.get('shop_late', { prefer: 'maxpagesize=1000000' })
  assert.is(answer.status, 200)
  assert.is(answer.aborted, true)
  assert.ok(answer.text.length > 100_000)
  assert.throws(() => JSON.parse(answer.text))
  const failure = served.log.find(({ event }) => event === 'request-failed')
  assert.ok(failure !== undefined)
  const line = served.log.findLast(({ event }) => event === 'request')
  assert.is(line?.fields['aborted'], true)
})

test('a failure before the first byte has its status, and no words of the engine', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [failing('shop.early', 5), failing('shop.page', 9_000)])
  const answers = [
    await served.get('shop_early', { prefer: 'maxpagesize=1000000' }),
    await served.get('shop_early?$top=10'),
    await served.get('shop_page'),
  ]
  for (const answer of answers) {
    assert.is(answer.status, 500)
    assert.is(answer.json.error.code, 'internal-error')
    assert.not.match(answer.text, /secret|convert|INT32/i)
    assert.is(answer.aborted, false)
  }
  const body = JSON.stringify({
    requests: ['shop_early', 'shop_page?$top=5'].map((url, i) => ({
      id: `${i}`,
      method: 'GET',
      url,
    })),
  })
  const headers = { 'content-type': 'application/json' }
  const batch = await served.send({ target: '$batch', method: 'POST', headers, body })
  assert.equal(
    batch.json.responses.map(({ status }: Answer) => status),
    [500, 200],
  )
})

test('a calculation without a result is the mistake of who asked for it', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [numbers(10)])
  for (const filter of [
    '1 div id eq 1',
    'id mul id mul 9223372036854775807 gt id',
    'id add 99999999999999999999999999999999999999 gt 1',
    'id add 0.1 mul 99999999999999999999999999999999999999 gt 1',
    '99999999999999999999999999999999999999 add 0.1 gt id',
    "9999-12-31T00:00:00Z add duration'P106751991D' gt now()",
  ]) {
    const answer = await served.get(`shop_numbers?$filter=${encodeURIComponent(filter)}`)
    assert.is(answer.status, 400, answer.text)
    assert.is(answer.json.error.code, 'arithmetic-error')
  }
})

test('a query over the time limit ends in the engine, as 504', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [numbers(10), endless], { requestTimeoutMs: 150 })
  const startedAt = Date.now()
  for (const path of ['shop_endless', 'shop_endless/$count']) {
    const answer = await served.get(`${path}?${SLOW_FILTER}`)
    assert.is(answer.status, 504, answer.text)
    assert.is(answer.json.error.code, 'time-limit')
  }
  assert.ok(Date.now() - startedAt < 10_000, String(Date.now() - startedAt))
  assert.is((await served.get('shop_numbers(1)')).status, 200)
})

const openRequests = async ({ url }: Served) =>
  (await readMetrics(new URL('/metrics', url).href, 'eider_odata_')).get('open_requests')

test('queries of clients that left end, and make room', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [numbers(10), endless])
  const left = Array.from({ length: 40 }, () =>
    openStalled(resources, served, `shop_endless?${SLOW_FILTER}`),
  )
  // And the one that asks.
  await until(async () => (await openRequests(served)) === left.length + 1)
  for (const socket of left) socket.destroy()
  const startedAt = Date.now()
  assert.is((await served.get('shop_numbers(1)')).status, 200)
  const waitedMs = Date.now() - startedAt
  assert.ok(waitedMs < 2_000, String(waitedMs))
  const cut = () => served.log.filter(({ fields }) => fields['aborted'] === true)
  await until(() => cut().length === 40)
  assert.ok(cut().every(({ fields }) => fields['status'] === 499))
  assert.equal(
    served.log.filter(({ level }) => level === 'error'),
    [],
  )
})

test('a client that closes its direction still gets its answer', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [numbers(10)])
  const { hostname, port } = new URL(served.url)
  const socket = connect(Number(port), hostname)
  socket.end('GET /odata/shop_numbers/$count HTTP/1.1\r\nHost: localhost\r\n\r\n')
  const chunks: Buffer[] = []
  for await (const chunk of socket as AsyncIterable<Buffer>) chunks.push(chunk)
  assert.match(Buffer.concat(chunks).toString(), /\r\n\r\n10$/)
})

test('clients that do not read hold nobody up', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [numbers(300_000)])
  for (let i = 0; i < 2 * limits.runningQueries; i++)
    openStalled(resources, served, 'shop_numbers', 'Prefer: maxpagesize=300000\r\n')
  await new Promise((resolve) => setTimeout(resolve, 300))
  const startedAt = Date.now()
  assert.is((await served.get('shop_numbers(1)')).status, 200)
  const waitedMs = Date.now() - startedAt
  assert.ok(waitedMs < 5_000, String(waitedMs))
})

test('many requests at once are all answered, each with its own rows', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [numbers(50_000)])
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, i) =>
      served.get(`shop_numbers?$filter=id%20ge%20${i}&$top=${i + 1}`),
    ),
  )
  for (const [i, answer] of answers.entries()) {
    const ids = answer.json.value.map(({ id }: { id: number }) => id)
    assert.equal(
      ids,
      Array.from({ length: i + 1 }, (_, k) => i + k),
    )
  }
})

test('stopping waits for answers that are under way', async () => {
  const resources = new Resources()
  const served = await serve(resources, [numbers(100_000)])
  const { url } = served
  const large = ask(`${url}/shop_numbers`, { headers: { prefer: 'maxpagesize=100000' } })
  await until(async () => (await served.get('')).status === 200)
  const [answer] = await Promise.all([large, resources[Symbol.asyncDispose]()])
  assert.is(answer.aborted, false)
  assert.is(answer.json.value.length, 100_000)
})

test.run()
