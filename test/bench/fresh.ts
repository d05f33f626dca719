// From the answer to a sender to the answer that shows its event to a reader, with `eider up`: ten models, of which a run
// each second updates those that read the events. It is time by the clock, so it says what else the machine was doing.

import os from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { startUp } from '../support/up-process.ts'
import { type Workspace, workspace } from '../support/workspace.ts'
import type { Benchmark } from './figure.ts'

const PER_SECOND = 1_000
/** A batch holds so many: they are sent in ten of them a second. */
const BATCH = PER_SECOND / 10
const MODELS = 10
const ASKED_EVERY_MS = 25
const GOAL_MS = 2_000

/** Events, a table of each kind of update, one that is exposed and shows the newest event, and others that read these. */
const FILES = {
  'eider.yml': 'name: bench\nschedule:\n  runs:\n    - every: 1 second\n',
  'models/raw/orders.sql': `-- @kind: events
id BIGINT NOT NULL, customer INTEGER NOT NULL, amount DECIMAL(10,2), note VARCHAR, received_at TIMESTAMPTZ`,
  'models/core/customers.sql':
    "-- @kind: table\nSELECT i::INTEGER AS customer, 'customer ' || i AS name, i % 5 AS region FROM range(1000) AS r(i)",
  'models/core/orders.sql':
    '-- @kind: append\n-- @incremental: id\n-- @expose: id\nSELECT id, customer, amount, note FROM raw.orders',
  'models/mart/newest.sql':
    '-- @kind: table\n-- @expose: one\nSELECT 1 AS one, max(id) AS id FROM core.orders',
  'models/mart/by_customer.sql':
    '-- @kind: table\n-- @expose: customer\nSELECT customer, count(*) AS orders, sum(amount) AS total FROM core.orders GROUP BY customer',
  'models/mart/by_region.sql':
    '-- @kind: table\n-- @expose: region\nSELECT c.region, sum(b.total) AS total FROM mart.by_customer AS b JOIN core.customers AS c USING (customer) GROUP BY c.region',
  'models/mart/large.sql':
    '-- @kind: table\n-- @expose: id\nSELECT id, customer, amount FROM core.orders WHERE amount > 190',
  'models/mart/best.sql':
    '-- @kind: view\nSELECT customer, total FROM mart.by_customer WHERE total > 1000',
  'models/mart/regions.sql':
    '-- @kind: table\nSELECT region, count(*) AS customers FROM core.customers GROUP BY region',
  'models/mart/named.sql':
    '-- @kind: table\n-- @expose: customer\nSELECT b.customer, c.name, b.total FROM mart.by_customer AS b JOIN core.customers AS c USING (customer)',
} as const

export const freshBenchmark: Benchmark = {
  name: 'fresh',
  async *run({ quick }) {
    await using space = await workspace(FILES)
    const seconds = quick ? 15 : 60
    const load = os.loadavg()[0]!.toFixed(1)
    const { latencies, runs } = await measured(space, seconds)
    latencies.sort((a, b) => a - b)
    const at = (share: number) => latencies[Math.floor(latencies.length * share)]!
    const ms = (time: number) => `${Math.round(time)} ms`
    yield {
      name: `from 202 to an answer that shows the event, 99th percentile / ${GOAL_MS} ms`,
      ratio: at(0.99) / GOAL_MS,
      bound: { at: 'most', ratio: 1 },
      measured: `p99 ${ms(at(0.99))}, median ${ms(at(0.5))} of ${latencies.length.toLocaleString('en-US')} events, ${PER_SECOND.toLocaleString('en-US')} a second, ${MODELS} models, ${runs} runs; load ${load} before`,
    }
  },
}

interface Measured {
  /** Milliseconds of each event. */
  readonly latencies: number[]
  readonly runs: number
}

async function measured(space: Workspace, seconds: number): Promise<Measured> {
  await space.ok(['run', '--quiet'])
  const up = await startUp(space)
  const { collect_url: collect, odata_url: odata } = up.ready
  if (collect === null || odata === null) throw new Error('a service was not started')
  const acknowledgedAt: number[] = []
  const latencies: number[] = []
  const isOver = () => latencies.length >= seconds * PER_SECOND
  const see = (newest: number) => {
    const now = performance.now()
    while (latencies.length <= newest) latencies.push(now - acknowledgedAt[latencies.length]!)
  }
  const ask = async () => {
    while (!isOver()) {
      see(await newestId(odata))
      await sleep(ASKED_EVERY_MS)
    }
  }
  await Promise.all([send(collect, seconds, acknowledgedAt), ask()])
  const runs = up.all('scheduled-run-finished').length
  await up.running.stop()
  return { latencies, runs }
}

async function send(url: string, seconds: number, acknowledgedAt: number[]): Promise<void> {
  const startedAt = performance.now()
  for (let batch = 0; batch < (seconds * PER_SECOND) / BATCH; batch++) {
    await sleep(startedAt + batch * ((1_000 * BATCH) / PER_SECOND) - performance.now())
    const events = Array.from({ length: BATCH }, (_, i) => {
      const id = batch * BATCH + i
      return JSON.stringify({ id, customer: id % 1_000, amount: id % 200, note: `order ${id}` })
    })
    const response = await fetch(`${url}/collect/raw/orders/batch`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-ndjson' },
      body: events.join('\n'),
    })
    if (response.status !== 202) throw new Error(await response.text())
    for (let i = 0; i < BATCH; i++) acknowledgedAt.push(performance.now())
  }
}

/** -1: no event is shown yet. */
async function newestId(odata: string): Promise<number> {
  const response = await fetch(`${odata}/mart_newest(1)`)
  if (response.status !== 200) return -1
  const { id } = (await response.json()) as { readonly id: number | null }
  return id ?? -1
}
