// `eider up` for a long time, with events that never stop and a child that is killed each minute. What was accepted is
// in the tables once, whatever died meanwhile. EIDER_SOAK_SECONDS=600 is the long form; the short one kills each child once.

import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { UpState } from '../../src/core/report/up.ts'
import { sql } from '../../src/core/sql.ts'
import { queryWarehouse } from '../support/daemon-process.ts'
import { receiver } from '../support/notified.ts'
import { until } from '../support/until.ts'
import { lives, startUp } from '../support/up-process.ts'
import { workspace } from '../support/workspace.ts'

const SECONDS = Number(process.env['EIDER_SOAK_SECONDS'] ?? 24)
const KILL_EVERY_MS = Math.min(60_000, Math.max(8_000, (SECONDS * 1000) / 6))
const VICTIMS = ['collect', 'serve', 'run'] as const

const files = (hook: string) => ({
  'eider.yml': `name: soak\nschedule:\n  runs:\n    - { name: often, every: 5 seconds }\nnotify:\n  late_after: 10 minutes\n  webhook: ${hook}\n`,
  'models/raw/e.sql': '-- @kind: events\nid bigint not null\n',
  'models/mart/total.sql': '-- @expose id\nselect 1 as id, count(*) as events from raw.e\n',
})

/** Calls again and again, and knows for how long nothing came of it at most. */
async function again(signal: AbortSignal, pauseMs: number, call: () => Promise<boolean>) {
  let [good, bad, longestMs, lastGood] = [0, 0, 0, performance.now()]
  while (!signal.aborted) {
    if (await call().catch(() => false)) {
      good++
      longestMs = Math.max(longestMs, performance.now() - lastGood)
      lastGood = performance.now()
    } else bad++
    await sleep(pauseMs)
  }
  return { good, bad, longestMs: Math.round(longestMs) }
}

const residentMb = (pid: number) => {
  const [, kb] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kb) / 1024)
}

test('what is accepted while children are killed is in the tables, once', async () => {
  await using hook = await receiver()
  await using space = await workspace(files(hook.url))
  const up = await startUp(space)
  const { collect_url: collect, odata_url: odata } = up.ready
  const stop = new AbortController()
  const accepted = new Set<number>()
  let next = 0
  const sending = again(stop.signal, 10, async () => {
    const id = next++
    const { status } = await fetch(`${collect}/collect/raw/e`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ id }),
      signal: AbortSignal.timeout(20_000),
    })
    if (status === 202) accepted.add(id)
    return status === 202
  })
  const reading = again(stop.signal, 100, async () => {
    const signal = AbortSignal.timeout(20_000)
    return (await fetch(`${odata}/mart_total`, { signal })).status === 200
  })
  const pid = up.running.pid
  const isLinux = process.platform === 'linux'
  const before = isLinux ? residentMb(pid) : 0
  const endMs = performance.now() + SECONDS * 1000
  let kills = 0
  while (performance.now() + KILL_EVERY_MS / 2 < endMs) {
    await sleep(KILL_EVERY_MS * 0.9)
    const victim = VICTIMS[kills % VICTIMS.length]!
    process.kill(await pidOf(up.state, victim), 'SIGKILL')
    kills++
    await sleep(KILL_EVERY_MS * 0.1)
  }
  const after = isLinux ? residentMb(pid) : 0
  const services = ['collect', 'serve'] as const
  await Promise.all(services.map((service) => up.pidOf(service)))
  stop.abort()
  const [sent, read] = [await sending, await reading]
  // A run that begins now takes all.
  const begun = up.all('scheduled-run-started').length
  await up.saw('scheduled-run-started', begun + 1)
  await until(async () => {
    const [run] = (await up.state()).runs
    return run!.last!.status === 'ok' && up.all('scheduled-run-finished').length > begun
  })
  assert.is(await up.running.stop(), 0)

  const rows = await queryWarehouse(
    space,
    sql`SELECT id::INTEGER AS id, count(*)::INTEGER AS n FROM raw.e GROUP BY ALL`,
  )
  const stored = new Set(rows.map(({ id }) => Number(id)))
  assert.equal(
    [...accepted].filter((id) => !stored.has(id)),
    [],
    'lost',
  )
  assert.equal(
    rows.filter(({ n }) => Number(n) !== 1),
    [],
    'twice',
  )
  const finished = up.all('scheduled-run-finished')
  const runs = (status: string) => finished.filter((run) => run.status === status).length
  const restarts = up.all('service-ended').length
  assert.is(restarts, kills - Math.floor(kills / VICTIMS.length))
  assert.is(runs('failed') >= Math.floor(kills / VICTIMS.length), true)
  const told = hook.received.map(({ event }) => event)
  for (const [i, event] of told.entries())
    assert.is(event, i % 2 === 0 ? 'failed' : 'recovered', told.join(' '))
  process.stdout.write(
    `${SECONDS} s: ${kills} kills, ${restarts} restarts; ${accepted.size} events accepted, ${sent.bad} refused, none for ${sent.longestMs} ms at most; ${read.good} answers, ${read.bad} without, none for ${read.longestMs} ms at most; runs: ${runs('ok')} ok, ${runs('failed')} failed, ${runs('busy')} busy, ${up.all('scheduled-run-skipped').length} skipped; told: ${told.length}; supervisor: ${before} MB, then ${after} MB\n`,
  )
  assert.ok(after < before * 1.5 + 20, `${before} MB, then ${after} MB`)
})

/** Waits until it is there. */
async function pidOf(
  state: () => Promise<UpState>,
  victim: (typeof VICTIMS)[number],
): Promise<number> {
  return (await until(async () => {
    const { services, runs } = await state()
    const found =
      victim === 'run'
        ? runs[0]!.working?.pid
        : services.find(({ service, state: is }) => service === victim && is === 'running')?.pid
    return found != null && lives(found) ? found : null
  }))!
}

test.run()
