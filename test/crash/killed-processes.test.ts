// The built daemon and the built run, each killed at a chosen call, over and over on the same project, restarted in
// either order while events come in.

// Its commands are processes: they are killed.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { seededRandom } from '../support/seeded-random.ts'
import type { Workspace } from '../support/workspace.ts'
import { crashSeed, isLong, testGroups } from './long-form.ts'
import {
  crashProject,
  type Death,
  type Disk,
  findWrong,
  nothingWrong,
  type Process,
  Sender,
  startDaemon,
  startRun,
} from './processes.ts'

const SEED = 20_260_101
const LIVES = 3
const REQUESTS = 12
/** About as many as they make in a life that is not cut; some fewer when less is left to flush. */
const CALLS = { daemon: 50, run: 100 }
/** Exit code of a run whose daemon is gone. */
const ENVIRONMENT = 3

interface Deaths {
  readonly daemon: Death
  readonly run: Death
}

/**
 * Daemon and run at work at the same time or, `runFirst`, the run alone before the daemon starts. Gives what each ended
 * with, and has printed: what was not killed has ended well, but for a run that has lost its daemon.
 */
async function liveOnce(space: Workspace, sender: Sender, deaths: Deaths, runFirst: boolean) {
  if (runFirst) await runAlone(space, `before ${JSON.stringify(deaths)}`)
  const daemon = startDaemon(space, deaths.daemon)
  const urls = await daemon.urls
  const sending = urls === null ? null : sender.send(urls.url, REQUESTS)
  const run = startRun(space, urls?.admin_url ?? null, deaths.run)
  const ended = await run.ended
  await sending
  daemon.kill('SIGTERM')
  const ends = { daemon: await daemon.ended, run: ended }
  const what = `${JSON.stringify({ ...deaths, runFirst, ends })}
daemon: ${daemon.output()}
run: ${run.output()}`
  assert.ok(['SIGKILL', 0].includes(ends.daemon!), what)
  const lost = ends.daemon === 'SIGKILL' ? [ENVIRONMENT] : []
  assert.ok(['SIGKILL', 0, ...lost].includes(ends.run!), what)
  return { ends, outputs: { daemon: daemon.output(), run: run.output() } }
}

/** Takes up what the lives before have left. */
async function runAlone(space: Workspace, what: string): Promise<void> {
  const run = startRun(space, null)
  assert.is(await run.ended, 0, `a run that nobody kills, ${what}: ${run.output()}`)
}

async function finish(space: Workspace, sender: Sender) {
  await runAlone(space, 'at the end')
  return await findWrong(space, sender)
}

test('killed at chosen calls, restarted in either order: each 202 is a row, once; no refused batch', async () => {
  await using space = await crashProject()
  const random = seededRandom(SEED)
  const sender = new Sender()
  const chosen = (calls: number) =>
    `${random() < 0.5 ? 'before' : 'after'} ${1 + Math.floor(random() * calls)}`
  let kills = 0
  for (let life = 0; life < LIVES; life++) {
    const deaths = { daemon: chosen(CALLS.daemon), run: chosen(CALLS.run) }
    const { ends } = await liveOnce(space, sender, deaths, random() < 0.3)
    kills += Object.values(ends).filter((end) => end === 'SIGKILL').length
  }
  assert.equal(await finish(space, sender), nothingWrong, `seed ${SEED}`)
  assert.ok(kills >= LIVES, `only ${kills} kills`)
  assert.ok(sender.ids('accepted').length > 0 && sender.ids('refused').length > 0)
})

interface Point {
  readonly victim: keyof Deaths
  readonly death: string
}

/** Every call of both, before and after it, in an order that the seed decides. */
function shuffledPoints(): readonly Point[] {
  const random = seededRandom(crashSeed)
  const points = (['daemon', 'run'] as const).flatMap((victim) =>
    Array.from({ length: CALLS[victim] }, (_, i) => i + 1).flatMap((at) => [
      { victim, death: `before ${at}` },
      { victim, death: `after ${at}` },
    ]),
  )
  return points
    .map((point) => ({ point, place: random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ point }) => point)
}

/**
 * How many calls a life makes depends on how many events meet in a group, and so on the load of the machine: a point may be
 * beyond the last one. But whoever has got to its point is dead; after the last call the end may come first.
 */
function requireNotReached(death: string, output: string): void {
  const [when, at] = death.split(' ')
  const calls = Number(/^calls (\d+)$/m.exec(output)?.[1])
  assert.ok(when === 'before' ? calls < Number(at) : calls <= Number(at), `${death}: ${output}`)
}

/** Lives of one project, one victim in each. Gives how many died at their point. */
async function killAtPoints(points: readonly Point[], seed: number): Promise<number> {
  await using space = await crashProject()
  const random = seededRandom(seed)
  const sender = new Sender()
  let kills = 0
  for (const { victim, death } of points) {
    const deaths = { daemon: null, run: null, [victim]: death }
    const { ends, outputs } = await liveOnce(space, sender, deaths, random() < 0.3)
    if (ends[victim] === 'SIGKILL') kills++
    else requireNotReached(death, outputs[victim])
  }
  assert.equal(await finish(space, sender), nothingWrong, JSON.stringify(points))
  return kills
}

/** Points of one project. */
const GROUP = 10

if (isLong) {
  const points = shuffledPoints()
  testGroups(points.length / GROUP, `killed at ${GROUP} calls`, async (group) => {
    const chosen = points.slice((group - 1) * GROUP, group * GROUP)
    const kills = await killAtPoints(chosen, crashSeed + group)
    assert.ok(kills > 0, 'no point was reached')
    return kills
  })
}

/** Lives of a daemon on a disk that forgets, each ended by a power cut after its requests. */
async function cutPower(disk: Disk) {
  await using space = await crashProject()
  const sender = new Sender()
  for (let life = 0; life < 2; life++) {
    const daemon: Process = startDaemon(space, null, disk)
    const urls = await daemon.urls
    assert.ok(urls !== null, daemon.output())
    await sender.send(urls.url, REQUESTS)
    daemon.kill('SIGKILL')
    await daemon.ended
  }
  return { wrong: await finish(space, sender), accepted: sender.ids('accepted') }
}

test('what is not synced dies with the daemon: each 202 is a row all the same', async () => {
  const { wrong, accepted } = await cutPower('volatile')
  assert.equal(wrong, nothingWrong)
  assert.ok(accepted.length > 0)
})

test('control: without syncs the same check finds losses', async () => {
  const { wrong, accepted } = await cutPower('lying')
  assert.ok(wrong.lost.length > 0, `none of ${accepted.length} events was lost`)
})

test.run()
