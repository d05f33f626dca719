// Sixteen connections on the built service while the built run publishes over and over: no request fails, and each
// answer is of one snapshot. How long an answer takes meanwhile is a matter of test/bench/swaps.ts.

import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { readMetrics } from '../support/read-metrics.ts'
import { Client, generationsProject, isLong, runOf } from './generations.ts'

const CONNECTIONS = 16
const RUNS = isLong ? 20 : 5
/** Of all connections together: a minute for twenty runs. */
const PACE_MS = isLong ? 3_000 : 0
/** In the short form the runs shall have the machine. */
const PAUSE_MS = isLong ? 0 : 10

test(`${RUNS} publications under ${CONNECTIONS} connections: no failed request, no mixed answer`, async () => {
  await using space = await generationsProject()
  await space.ok(runOf(1))
  await using service = await space.start(['serve', '--port', '0', '--quiet'])
  const seen = new Map<string, number>()
  let isOver = false
  const clients = Array.from({ length: CONNECTIONS }, () => new Client(service.url, seen))
  const asking = Promise.all(clients.map((client) => client.askUntil(() => isOver, PAUSE_MS)))
  asking.catch(() => {}) // awaited below
  const one = new Client(service.url, seen)
  for (let generation = 2; generation <= RUNS + 1; generation++) {
    const pause = sleep(PACE_MS)
    await space.ok(runOf(generation))
    const deadline = Date.now() + 20_000
    while ((await one.askOnce()) !== generation) {
      assert.ok(Date.now() < deadline, `generation ${generation} is not served`)
      await sleep(10)
    }
    await pause
  }
  isOver = true
  one.close()
  await asking
  assert.equal(
    [...seen.values()].toSorted((a, b) => a - b),
    Array.from({ length: RUNS + 1 }, (_, i) => i + 1),
    'each publication was seen',
  )
  const metrics = await readMetrics(service.url.replace(/\/odata$/, '/metrics'), 'eider_odata_')
  const statuses = [...metrics.keys()].filter((name) => name.startsWith('requests_total{'))
  assert.equal(statuses, ['requests_total{status="200"}'])
  assert.is(await service.stop(), 0)
  const asked = clients.reduce((sum, client) => sum + client.asked, 0)
  process.stdout.write(`${asked} requests, ${RUNS} publications\n`)
})

test.run()
