// npm run bench -- --soak MINUTES: everything at once for that long. Events come in at half of the rate that the daemon was
// measured at, a run is due every 20 seconds, 16 clients read, and each minute the daemon, the service or a run is killed.
// What was acknowledged must be in the table, once.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { sql } from '../../../src/core/sql.ts'
import { startDaemon } from '../../support/daemon-process.ts'
import { queryWarehouse } from '../../support/daemon-process.ts'
import { until } from '../../support/until.ts'
import { lives, startUp, type UpProcess } from '../../support/up-process.ts'
import { type Workspace, workspace } from '../../support/workspace.ts'
import type { Figure } from '../figure.ts'
import { measureLoad, postRequest } from '../load.ts'
import { type Latency, LatencyMinutes } from './latencies.ts'
import type { Sent } from './sender.ts'

const READERS = 16
const READ_PAUSE_MS = 20
const SAMPLE_MS = 5_000
const MINUTE_MS = 60_000
const VICTIMS = ['collect', 'serve', 'run'] as const
const LAST_ROWS = 1_000
/** A last minute that is slower than this is not like the second one. */
const LIKE = 1.5
const BOUNDED = 1.25

const files = {
  'eider.yml': 'name: soak\nschedule:\n  runs:\n    - { name: often, every: 20 seconds }\n',
  'models/raw/e.sql': '-- @kind: events\nid BIGINT NOT NULL, note VARCHAR\n',
  'models/mart/total.sql': '-- @expose id\nSELECT 1 AS id, count(*) AS events FROM raw.e\n',
  'models/mart/last.sql': `-- @expose place\nSELECT row_number() OVER (ORDER BY id DESC)::INTEGER AS place, id, note FROM raw.e ORDER BY id DESC LIMIT ${LAST_ROWS}\n`,
}

/** Throws when an event is lost or stored twice. */
export async function soak(minutes: number): Promise<readonly Figure[]> {
  const halfRate = (await measuredRate()) / 2
  await using space = await workspace(files)
  const up = await startUp(space)
  await until(() => up.all('scheduled-run-finished').length > 0)
  const port = Number(new URL(up.ready.collect_url!).port)
  const sender = fork(fileURLToPath(new URL('./sender.js', import.meta.url)), [
    String(port),
    String(halfRate),
  ])
  const stop = new AbortController()
  const reading = readAll(up.ready.odata_url!, stop.signal)
  const watching = watch(up, stop.signal)
  const endAt = performance.now() + minutes * MINUTE_MS
  let kills = 0
  while (performance.now() < endAt) {
    const left = endAt - performance.now()
    await sleep(Math.min(MINUTE_MS, left))
    // The last minute is left to them, to be like the second.
    if (left > 1.5 * MINUTE_MS) await killOne(up, VICTIMS[kills++ % VICTIMS.length]!)
  }
  const told = once(sender, 'message')
  sender.send('end')
  const [sent] = (await told) as [Sent]
  stop.abort()
  const [read, used] = [await reading, await watching]
  await lastRun(up)
  const runs = up.all('scheduled-run-finished')
  await up.running.stop()
  const stored = await compare(space, sent)
  const failed = runs.filter(({ status }) => status === 'failed').length
  const conditions = `${minutes} minutes, ${Math.round(halfRate).toLocaleString('en-US')} events a second asked for; ${kills} kills, ${runs.length} runs, ${failed} of them failed`
  return [
    {
      name: 'events in the table / events acknowledged',
      ratio: stored / (sent.numbers - sent.unknown.length),
      bound: { at: 'least', ratio: 1 },
      measured: `${stored.toLocaleString('en-US')} stored, each once, ${sent.unknown.length} sent without an answer, ${sent.refused} of them refused, none acknowledged for ${Math.round(sent.longestGapMs)} ms at most; ${conditions}`,
    },
    likeFigure('an event', sent.minutes),
    likeFigure(`a read of ${READERS} clients`, read.minutes),
    ...used,
  ]
}

/** Events a second, of a daemon with nothing else to do. */
async function measuredRate(): Promise<number> {
  await using space = await workspace(files)
  await using daemon = await startDaemon(space, '--quiet')
  const { answers, ms } = await measureLoad({
    port: Number(new URL(daemon.url).port),
    connections: 64,
    pipelined: 1,
    durationMs: 5_000,
    request: postRequest('/collect/raw/e', '{"id":1,"note":"an event of a soak"}'),
    status: 202,
  })
  return (answers * 1_000) / ms
}

async function readAll(url: string, signal: AbortSignal) {
  const latencies = new LatencyMinutes()
  const client = async (_: unknown, first: number) => {
    for (let n = first; !signal.aborted; n++) {
      const startedAt = performance.now()
      const path = n % 10 === 0 ? 'mart_total' : `mart_last?$filter=place%20eq%20${n % LAST_ROWS}`
      const isGood = await fetch(`${url}/${path}`, { signal: AbortSignal.timeout(20_000) })
        .then(async (answer) => (await answer.text()) !== '' && answer.ok)
        .catch(() => false)
      if (isGood) latencies.add(performance.now() - startedAt)
      await sleep(READ_PAUSE_MS)
    }
  }
  await Promise.all(Array.from({ length: READERS }, client))
  return { minutes: latencies.minutes() }
}

async function killOne(up: UpProcess, victim: (typeof VICTIMS)[number]): Promise<void> {
  const pid = await until(async () => {
    const { services, runs } = await up.state()
    const found =
      victim === 'run'
        ? runs[0]!.working?.pid
        : services.find(({ service, state }) => service === victim && state === 'running')?.pid
    return found != null && lives(found) ? found : null
  })
  process.kill(pid!, 'SIGKILL')
}

interface Use {
  readonly atMs: number
  readonly bytes: number
  readonly descriptors: number
}

/** Memory and descriptors of the supervisor and its services, of the last third beside the second; of Linux only. */
async function watch(up: UpProcess, signal: AbortSignal): Promise<readonly Figure[]> {
  const seen = new Map<string, Use[]>()
  const startedAt = performance.now()
  while (!signal.aborted) {
    await sleep(SAMPLE_MS, null, { signal }).catch(() => {})
    const { services } = await up.state()
    const processes: readonly (readonly [string, number | null])[] = [
      ['supervisor', up.running.pid],
      ...services.map(({ service, pid }) => [service, pid ?? null] as const),
    ]
    for (const [name, pid] of processes) {
      const use = pid === null ? null : await useOf(pid).catch(() => null)
      if (use === null) continue
      const uses = seen.get(name) ?? []
      seen.set(name, [...uses, { atMs: performance.now() - startedAt, ...use }])
    }
  }
  const wholeMs = performance.now() - startedAt
  return [...seen].flatMap(([name, uses]) => {
    const most = (third: number, what: 'bytes' | 'descriptors') =>
      Math.max(
        ...uses
          .filter(({ atMs }) => Math.floor((3 * atMs) / wholeMs) === third)
          .map((use) => use[what]),
      )
    const figure = (what: 'bytes' | 'descriptors', shown: (value: number) => string): Figure => ({
      name: `most ${what === 'bytes' ? 'memory' : 'descriptors'} of ${name} in the last third / in the second`,
      ratio: most(2, what) / most(1, what),
      bound: { at: 'most', ratio: BOUNDED },
      measured: `${shown(most(2, what))} against ${shown(most(1, what))}`,
    })
    return [
      figure('bytes', (bytes) => `${Math.round(bytes / 1e6)} MB`),
      figure('descriptors', String),
    ]
  })
}

async function useOf(pid: number): Promise<Omit<Use, 'atMs'>> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const [, kb] = /^VmRSS:\s+(\d+) kB$/m.exec(status) ?? []
  if (kb === undefined) throw new Error(`process ${pid} has ended`)
  const descriptors = (await readdir(`/proc/${pid}/fd`)).length
  return { bytes: Number(kb) * 1_024, descriptors }
}

/** A run that begins now takes all. */
async function lastRun(up: UpProcess): Promise<void> {
  const begun = up.all('scheduled-run-started').length
  const timeoutMs = 10 * MINUTE_MS
  await until(() => up.all('scheduled-run-started').length > begun, Boolean, timeoutMs)
  await until(
    async () => {
      const [run] = (await up.state()).runs
      return run!.working === null && run!.last?.status === 'ok'
    },
    Boolean,
    timeoutMs,
  )
}

/** Gives how many acknowledged events are stored. */
async function compare(space: Workspace, sent: Sent): Promise<number> {
  const unknown = sql.value(JSON.stringify(sent.unknown))
  const [row] = await queryWarehouse(
    space,
    sql`
    WITH unknown AS (SELECT unnest(from_json(${unknown}, '["BIGINT"]')) AS id),
    sent AS (SELECT range AS id FROM range(${sql.value(sent.numbers)}) ANTI JOIN unknown ON range = unknown.id)
    SELECT
      (SELECT count(*) FROM sent SEMI JOIN raw.e USING (id))::INTEGER AS stored,
      (SELECT count(*) FROM sent ANTI JOIN raw.e USING (id))::INTEGER AS lost,
      (SELECT count(*) - count(DISTINCT id) FROM raw.e)::INTEGER AS twice`,
  )
  const [stored, lost, twice] = ['stored', 'lost', 'twice'].map((name) => Number(row?.[name]))
  if (lost !== 0 || twice !== 0) throw new Error(`${lost} events are lost, ${twice} stored twice`)
  return stored!
}

function likeFigure(what: string, minutes: readonly Latency[]): Figure {
  const second = minutes[Math.min(1, minutes.length - 1)]!
  const last = minutes.at(-1)!
  const shown = ({ medianMs, p99Ms, answers }: Latency) =>
    `${p99Ms.toFixed(1)} ms (median ${medianMs.toFixed(1)} ms, ${answers.toLocaleString('en-US')} answers)`
  return {
    name: `99th percentile of ${what} in the last minute / in the second`,
    ratio: last.p99Ms / second.p99Ms,
    bound: { at: 'most', ratio: LIKE },
    measured: `${shown(last)} against ${shown(second)}`,
  }
}
