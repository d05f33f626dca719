// Queries of the built service that would take minutes: beside them small ones are answered, too many of them are
// refused, and what nobody waits for any more is ended.

import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../src/core/limits.ts'
import { admissionLimits } from '../../src/odata/engine/admission.ts'
import { readMetrics } from '../support/read-metrics.ts'
import { type Running, workspace } from '../support/workspace.ts'
import { isLong } from './generations.ts'
import { until } from '../support/until.ts'

const ROWS = 300_000
const files = {
  'eider.yml': 'name: heavy\nodata:\n  request_timeout_ms: 100000\n',
  'models/mart/rows.sql': `-- @expose id\nSELECT i AS id, repeat('text ', 20) || i AS text FROM range(${ROWS}) AS r(i)`,
  'models/mart/others.sql': `-- @expose id\nSELECT i AS id, 'text ' || i AS text FROM range(${ROWS}) AS r(i)`,
}
/** It compares each row of one set with each of another: 90,000 million pairs. Another query each time. */
let number = 0
const heavy = () => {
  const filter = `contains(concat(mart_rows/text,mart_others/text),'no such text ${++number}')`
  return `/odata/$crossjoin(mart_rows,mart_others)/$count?$filter=${encodeURIComponent(filter)}`
}
const BOUND_MS = 10_000

/** Asks and waits for nothing. */
function send({ url }: Running, path: string): Socket & { answer: string } {
  const { hostname, port } = new URL(url)
  const socket = Object.assign(connect(Number(port), hostname), { answer: '' })
  socket.on('error', () => {})
  socket.on('data', (chunk: Buffer) => {
    if (socket.answer.length < 1_000) socket.answer += chunk.toString('latin1')
  })
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  return socket
}

const metricsOf = ({ url }: Running) =>
  readMetrics(url.replace(/\/odata$/, '/metrics'), 'eider_odata_')

async function lookUp({ url }: Running, id: number): Promise<void> {
  const startedAt = Date.now()
  const answer = await fetch(`${url}/mart_rows(${id})`)
  assert.is(answer.status, 200)
  await answer.arrayBuffer()
  assert.ok(Date.now() - startedAt < BOUND_MS, `${Date.now() - startedAt} ms`)
}

test('small queries are answered beside heavy ones, which end when nobody waits for them', async () => {
  await using space = await workspace(files)
  await space.ok(['run', '--quiet'])
  await using service = await space.start(['serve', '--port', '0', '--quiet'])

  // More than may work at a time, so that some of them wait.
  const many = Array.from({ length: limits.runningQueries + 2 }, () => send(service, heavy()))
  const { large } = admissionLimits()
  const queries = async () => {
    const metrics = await metricsOf(service)
    return [metrics.get('running_queries'), metrics.get('waiting_queries')].join()
  }
  await until(async () => (await queries()) === `${large},${many.length - large}`)
  for (let id = 0; id < 10; id++) await lookUp(service, id)
  assert.is(await queries(), `${large},${many.length - large}`, 'they are still at work')
  for (const socket of many) socket.destroy()
  await until(async () => (await metricsOf(service)).get('running_queries') === 0)

  assert.is(await service.stop(), 0)
})

// For some time it keeps every processor busy, which other tests need as well.
if (isLong)
  test('more heavy queries than may wait are refused, and all end when nobody waits for them', async () => {
    await using space = await workspace(files)
    await space.ok(['run', '--quiet'])
    await using service = await space.start(['serve', '--port', '0', '--quiet'])
    const all = admissionLimits().large + limits.waitingQueries + 10
    const many = Array.from({ length: all }, () => send(service, heavy()))
    await until(() => many.filter(({ answer }) => answer !== '').length >= 10)
    const refused = many.filter(({ answer }) => answer !== '')
    for (const { answer } of refused) {
      assert.match(answer, /^HTTP\/1\.1 503 /)
      assert.match(answer, `Retry-After: ${limits.retryAfterSeconds}\r\n`)
      assert.match(answer, '"code":"overloaded"')
    }
    const health = await fetch(service.url.replace(/\/odata$/, '/health'))
    assert.is(health.status, 200, 'it needs no query')
    for (const socket of many) socket.destroy()
    await lookUp(service, 7)
    await until(async () => (await metricsOf(service)).get('running_queries') === 0)
    const after = await metricsOf(service)
    assert.is(after.get('waiting_queries'), 0)
    assert.ok(after.get('refused_queries_total')! >= 10)
    assert.is(await service.stop(), 0)
  })

test('of an export whose client leaves in the middle, the engine makes no more rows', async () => {
  await using space = await workspace(files)
  await space.ok(['run', '--quiet'])
  await using service = await space.start(['serve', '--port', '0', '--quiet'])
  const leave = () =>
    new Promise<void>((resolve, reject) => {
      const headers = { Prefer: `maxpagesize=${ROWS}` }
      const sent = request(`${service.url}/mart_rows`, { headers }, (response) => {
        response.once('data', () => {
          response.destroy()
          resolve()
        })
      })
      sent.on('error', reject)
      sent.end()
    })
  for (let client = 0; client < 5; client++) await leave()
  // The request for the metrics is open itself.
  await until(async () => (await metricsOf(service)).get('open_requests') === 1)
  const rows = (await metricsOf(service)).get('rows_total')!
  assert.ok(rows > 0 && rows < 5 * ROWS, `${rows} rows were made`)
  assert.is((await metricsOf(service)).get('running_queries'), 0)
  assert.is(await service.stop(), 0)
})

test('a query over the time limit is 504, and its connection is used again', async () => {
  await using space = await workspace({
    ...files,
    'eider.yml': 'name: heavy\nodata:\n  request_timeout_ms: 300\n',
  })
  await space.ok(['run', '--quiet'])
  await using service = await space.start(['serve', '--port', '0', '--quiet'])
  for (let i = 0; i < 3; i++) {
    const answer = await fetch(service.url.replace(/\/odata$/, heavy()))
    assert.is(answer.status, 504)
    assert.match(await answer.text(), '"code":"time-limit"')
  }
  assert.is((await metricsOf(service)).get('running_queries'), 0)
  assert.is(await service.stop(), 0)
})

test.run()
