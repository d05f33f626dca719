// The built daemon and the built run, killed at moments of a seeded choice, so also inside the engine, in both orders,
// while events come in. Each event that was answered 202 is in its table once. EIDER_KILLS_SEED chooses others.

import { setTimeout as pause } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { seededRandom } from '../support/seeded-random.ts'
import {
  crashProject,
  findWrong,
  nothingWrong,
  Sender,
  startDaemon,
  startRun,
} from './processes.ts'

const ROUNDS = 6
const SEED = Number(process.env['EIDER_KILLS_SEED'] ?? 20_260_101)
/** More than can be sent before the daemon is killed. */
const REQUESTS = 100_000

test('daemon and run killed at random, restarted in either order: each 202 is a row, once', async () => {
  await using space = await crashProject()
  const random = seededRandom(SEED)
  const sender = new Sender()
  for (let round = 0; round < ROUNDS; round++) {
    const daemon = startDaemon(space)
    const urls = await daemon.urls
    assert.ok(urls !== null, daemon.output())
    const sending = sender.send(urls.url, REQUESTS)
    await pause(50 + random() * 150)
    const run = startRun(space, urls.admin_url)
    await pause(random() * 1_000)
    for (const victim of random() < 0.5 ? [daemon, run] : [run, daemon]) {
      victim.kill('SIGKILL')
      await victim.ended
      await pause(random() * 100)
    }
    await sending
  }
  const last = startRun(space, null)
  assert.is(await last.ended, 0, last.output())
  assert.equal(await findWrong(space, sender), nothingWrong, `seed ${SEED}`)
  const accepted = sender.ids('accepted').length
  process.stdout.write(`${2 * ROUNDS} kills, ${accepted} accepted events\n`)
  assert.ok(accepted > ROUNDS * 10, `only ${accepted} events were accepted`)
})

test.run()
