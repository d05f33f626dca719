// The built daemon and the built run, killed at moments of a seeded choice, so also inside the engine, in both orders,
// while events come in. Each event that was answered 202 is in its table once. EIDER_KILLS=100 kills so often, in several
// projects; EIDER_KILLS_SEED chooses other moments.

import { setTimeout as pause } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { seededRandom } from '../support/seeded-random.ts'
import type { Workspace } from '../support/workspace.ts'
import {
  crashProject,
  findWrong,
  nothingWrong,
  Sender,
  startDaemon,
  startRun,
} from './processes.ts'

const KILLS = Number(process.env['EIDER_KILLS'] ?? 10)
const SEED = Number(process.env['EIDER_KILLS_SEED'] ?? 20_260_101)
/** Then it is looked what has come of a project, and another one begins. */
const ROUNDS = 6
/** About as long as a run takes where nothing else works. */
const RUN_MS = 1_000
/** More than can be sent before the daemon is killed. */
const REQUESTS = 100_000

test('daemon and run killed at random, restarted in either order: each 202 is a row, once', async () => {
  const random = seededRandom(SEED)
  const found = { kills: 0, accepted: 0 }
  do {
    await using space = await crashProject()
    const sender = new Sender()
    let rounds = 0
    for (; rounds < ROUNDS; rounds++) found.kills += await killBoth(space, sender, random)
    const last = startRun(space, null)
    assert.is(await last.ended, 0, `seed ${SEED}: ${last.output()}`)
    assert.equal(await findWrong(space, sender), nothingWrong, `seed ${SEED}`)
    const accepted = sender.ids('accepted').length
    assert.ok(accepted > rounds * 10, `only ${accepted} events were accepted`)
    found.accepted += accepted
  } while (found.kills < KILLS)
  process.stdout.write(`${found.kills} kills, ${found.accepted} accepted events\n`)
})

/** How many of the two were killed: a run that has ended by itself is not waited for any longer, nor counted. */
async function killBoth(space: Workspace, sender: Sender, random: () => number): Promise<number> {
  const daemon = startDaemon(space)
  const urls = await daemon.urls
  assert.ok(urls !== null, daemon.output())
  const sending = sender.send(urls.url, REQUESTS)
  await pause(50 + random() * 150)
  const run = startRun(space, urls.admin_url)
  await Promise.race([pause(random() * RUN_MS), run.ended])
  let kills = 0
  for (const victim of random() < 0.5 ? [daemon, run] : [run, daemon]) {
    victim.kill('SIGKILL')
    if ((await victim.ended) === 'SIGKILL') kills++
    await pause(random() * 100)
  }
  await sending
  return kills
}

test.run()
