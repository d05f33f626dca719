// The built run as the disk has seen it, the engine's own files included: the power goes at any of its calls, and what was
// not synced is torn. The next run needs no hand: it ends with 0, and each accepted event is in the table once.
//
// EIDER_POWER_CUTS=<n> tries so many cuts, EIDER_POWER_CUTS_SEED another set of them.

// Its commands are processes: strace records them.

import { execFileSync } from 'node:child_process'
import { cp, mkdir, rm } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../src/core/sql.ts'
import { readLogState } from '../../src/duckdb/log-file.ts'
import { COMMANDS_VARIABLE } from '../support/command-here.ts'
import { queryWarehouse } from '../support/daemon-process.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { eiderProcess, type Workspace } from '../support/workspace.ts'
import { crashProject, findWrong, nothingWrong, Sender, startDaemon } from './processes.ts'
import { readTrace } from './read-trace.ts'
import { type Call, RecordedDisk, straceTo, writeFiles } from './recorded-disk.ts'

const CUTS = Number(process.env['EIDER_POWER_CUTS'] ?? 24)
const SEED = Number(process.env['EIDER_POWER_CUTS_SEED'] ?? 1)
/** Of one recorded run. */
const CUTS_OF_RUN = 20
/** Each run begins with what a cut has left of the one before. */
const RUNS_OF_LIFE = 4
/** One command is called in this process at a time, where npm run prove has that. */
const AT_ONCE = process.env[COMMANDS_VARIABLE] === 'here' ? 1 : 2
/** Of cuts that come right after a write to the log. */
const LOG_SHARE = 0.7
const KEPT = '-- @kind: append\n-- @unique_key: id\n-- @incremental: id\nSELECT id FROM raw.events'

interface Found {
  cuts: number
  tornLogs: number
  /** Runs after a cut that said that they had cut the log. */
  repaired: number
  accepted: number
  readonly wrong: string[]
}

const canTrace = (() => {
  try {
    execFileSync('strace', [...straceTo('/dev/null'), 'true'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()

const testTraced = (name: string, run: () => Promise<void>) =>
  canTrace ? test(name, run) : test.skip(name, run)

testTraced(
  `the power goes ${CUTS} times under a run: the next one opens the warehouse, accepted events are in it once`,
  async () => {
    const found: Found = { cuts: 0, tornLogs: 0, repaired: 0, accepted: 0, wrong: [] }
    for (let life = 0; found.cuts < CUTS; life++) await live(1000 * SEED + life, found)
    const { cuts, tornLogs, repaired, accepted, wrong } = found
    process.stdout.write(
      `${cuts} cuts, ${tornLogs} with a torn log, ${repaired} said so; ${accepted} accepted events looked for; ${wrong.length} wrong\n`,
    )
    assert.equal(wrong, [])
    assert.ok(tornLogs > 0 && repaired >= tornLogs)
  },
)

testTraced(
  'a run is killed, and the power goes under the next one: what the first one had not synced is not taken for kept',
  async () => {
    const found: Found = { cuts: 0, tornLogs: 0, repaired: 0, accepted: 0, wrong: [] }
    for (let life = 0; found.cuts < CUTS / 4; life++) await liveKilled(7000 * SEED + life, found)
    process.stdout.write(`${found.cuts} cuts after a kill; ${found.wrong.length} wrong\n`)
    assert.equal(found.wrong, [])
  },
)

/** A kill leaves what the process wrote to all who read; a power cut, later, leaves what was synced by then. */
async function liveKilled(seed: number, found: Found): Promise<void> {
  const random = seededRandom(seed)
  await using space = await crashProject()
  await space.write('models/mart/kept.sql', KEPT)
  const sender = new Sender()
  await accept(space, sender, 6)
  const killed = await recordRun(space)
  const writes = placesOfLogWrites(killed.calls)
  const diesAt = writes[Math.floor(random() * writes.length)] ?? 1
  const afterKill = async () => {
    const disk = await killed.before()
    for (const call of killed.calls.slice(0, diesAt)) call.act(disk)
    return disk
  }
  await replaceState(space, (await afterKill()).files)
  const { calls } = await recordRun(space, 'next')
  for (let cut = 0; cut < 6; cut++, found.cuts++) {
    const disk = await afterKill()
    for (const call of calls.slice(0, Math.floor(random() * calls.length))) call.act(disk)
    const name = `seed ${seed}, killed at ${diesAt}, cut ${cut}`
    await tryCut(space, sender, disk.afterCut(random), name, found)
  }
}

const placesOfLogWrites = (calls: readonly Call[]): readonly number[] =>
  calls.flatMap(({ path, isWrite }, i) => (isWrite && path.endsWith('.wal') ? [i + 1] : []))

async function live(seed: number, found: Found): Promise<void> {
  const random = seededRandom(seed)
  await using space = await crashProject()
  await space.write('models/mart/kept.sql', KEPT)
  const sender = new Sender()
  for (let run = 0; run < RUNS_OF_LIFE && found.cuts < CUTS; run++) {
    await accept(space, sender, 2 + Math.floor(random() * 12))
    const { before, calls } = await recordRun(space)
    const logWrites = placesOfLogWrites(calls)
    const cutFiles = async (isInLog: boolean) => {
      const choices = isInLog && logWrites.length > 0 ? logWrites : [...calls.keys()]
      const at = choices[Math.floor(random() * choices.length)]!
      const disk = await before()
      for (const call of calls.slice(0, at)) call.act(disk)
      return disk.afterCut(random)
    }
    const torn: ReadonlyMap<string, Buffer>[] = []
    for (let cut = 0; cut < CUTS_OF_RUN && found.cuts < CUTS; cut += AT_ONCE) {
      const cuts = Math.min(AT_ONCE, CUTS - found.cuts)
      const states = []
      for (let i = 0; i < cuts; i++) states.push(await cutFiles(random() < LOG_SHARE))
      await Promise.all(
        states.map(async (files, i) => {
          const name = `seed ${seed}, run ${run}, cut ${cut + i}`
          if (await tryCut(space, sender, files, name, found)) torn.push(files)
        }),
      )
      found.cuts += cuts
    }
    await replaceState(space, torn[0] ?? (await cutFiles(true)))
  }
}

const stateOf = (space: Workspace) => space.path('.eider')

async function accept(space: Workspace, sender: Sender, requests: number): Promise<void> {
  const daemon = startDaemon(space)
  const listening = await daemon.urls
  if (listening === null) throw new Error(daemon.output())
  await sender.send(listening.url, requests)
  daemon.kill('SIGTERM')
  await daemon.ended
}

/** What was on disk before a run, and its calls. */
async function recordRun(space: Workspace, name = 'before') {
  const state = stateOf(space)
  const kept = space.path(name)
  await rm(kept, { recursive: true, force: true })
  await cp(state, kept, { recursive: true })
  const { command, args, env } = eiderProcess(['run', '--quiet'])
  const trace = space.path('trace')
  execFileSync('strace', [...straceTo(trace), command, ...args], {
    cwd: space.dir,
    env,
    stdio: 'pipe',
  })
  const calls = await readTrace(trace, state)
  const before = () => RecordedDisk.of(kept)
  await assertRecorded(state, await before(), calls)
  return { before, calls }
}

/** A recording that leaves out a call would show less than what may happen. */
async function assertRecorded(state: string, disk: RecordedDisk, calls: readonly Call[]) {
  for (const call of calls) call.act(disk)
  const left = await RecordedDisk.of(state)
  assert.equal([...disk.files.keys()].toSorted(), [...left.files.keys()].toSorted())
  for (const [path, bytes] of left.files) assert.ok(disk.files.get(path)!.equals(bytes), path)
}

async function replaceState(space: Workspace, files: ReadonlyMap<string, Buffer>): Promise<void> {
  await rm(stateOf(space), { recursive: true, force: true })
  await mkdir(stateOf(space))
  await writeFiles(stateOf(space), files)
}

/** true: the log was torn. */
async function tryCut(
  from: Workspace,
  sender: Sender,
  files: ReadonlyMap<string, Buffer>,
  name: string,
  found: Found,
): Promise<boolean> {
  await using space = await crashProject()
  await cp(from.path('models'), space.path('models'), { recursive: true })
  await replaceState(space, files)
  const log = await readLogState(space.path('.eider/warehouse.duckdb.wal'))
  const { exitCode, stderr } = await space.eider(['run', '--quiet'])
  const problems = [
    ...(log.is === 'damaged' || log.is === 'unknown' ? [`its log is ${log.is}`] : []),
    ...(exitCode === 0 ? await problemsIn(space, sender) : [`exit code ${exitCode}: ${stderr}`]),
  ]
  found.wrong.push(...problems.map((problem) => `${name}: ${problem}`))
  if (log.is === 'torn') found.tornLogs++
  if (stderr.includes('had a torn end')) found.repaired++
  found.accepted += sender.ids('accepted').length
  return log.is === 'torn'
}

async function problemsIn(space: Workspace, sender: Sender): Promise<readonly string[]> {
  const wrong = await findWrong(space, sender)
  const [counts] = await queryWarehouse(
    space,
    sql`SELECT (SELECT count(*) FROM raw.events) = (SELECT sum(n) FROM mart.counts) AS counted,
      (SELECT count(*) FROM raw.events) = (SELECT count(*) FROM mart.kept) AS kept`,
  )
  return [
    ...(JSON.stringify(wrong) === JSON.stringify(nothingWrong) ? [] : [JSON.stringify(wrong)]),
    ...(counts?.['counted'] === true && counts['kept'] === true ? [] : [JSON.stringify(counts)]),
  ]
}

test.run()
