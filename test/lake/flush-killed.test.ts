// Flushes of two machines into one lake while flushes are killed at any moment, answers to COMMIT are lost and COMMITs
// are cut off: each accepted event is in the table once, and each file that the catalog names is there.
//
// EIDER_CRASH_POINTS=all makes 200 rounds of it; EIDER_CRASH_SEED=2 begins elsewhere.

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { test } from 'uvu'
import { lakeTest } from '../support/lake/lake-test.ts'
import { type TestLake, withLake } from '../support/lake/with-lake.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { repository, type Workspace, workspace } from '../support/workspace.ts'

const ROUNDS = process.env['EIDER_CRASH_POINTS'] === 'all' ? 200 : 4
const EVENTS = 7
/** Within this time most flushes begin to commit, on a machine with nothing else to do. */
const LONGEST_MS = 6_000

const machine = ({ settings }: TestLake): Promise<Workspace> =>
  workspace({
    'eider.yml': `name: shop\nlake:\n${Object.entries(settings)
      .map(([name, value]) => `  ${name}: '${value}'\n`)
      .join('')}`,
    'models/raw/orders.sql': '-- @kind: events\nid bigint not null\n',
  })

async function collect(space: Workspace, first: number): Promise<void> {
  await using daemon = await space.start(['collect', 'daemon', '--port', '0', '--admin-port', '0'])
  const ids = Array.from({ length: EVENTS }, (_, i) => first + i)
  const answer = await fetch(`${daemon.url}/collect/raw/orders/batch`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-ndjson' },
    body: ids.map((id) => `{"id":${id}}\n`).join(''),
  })
  assert.is(answer.status, 202)
}

/** Whether it ended by itself. */
async function killedFlush(space: Workspace, { env }: TestLake, afterMs: number): Promise<boolean> {
  const child = spawn(process.execPath, [join(repository, 'bin', 'run.js'), 'flush'], {
    cwd: space.dir,
    env: { ...process.env, ...env },
    stdio: 'ignore',
  })
  const ended = new Promise<boolean>((resolve) => {
    child.on('exit', (_, signal) => resolve(signal === null))
  })
  await Promise.race([ended, sleep(afterMs)])
  child.kill('SIGKILL')
  return ended
}

lakeTest('killed flushes, lost answers and cut commits lose and double nothing', async () => {
  const random = seededRandom(Number(process.env['EIDER_CRASH_SEED'] ?? 1))
  await using lake = await withLake()
  const { env } = lake
  await using one = await machine(lake)
  await using other = await machine(lake)
  let next = 0
  for (let round = 0; round < ROUNDS; round++) {
    for (const space of [one, other]) {
      await collect(space, next)
      next += EVENTS
    }
    // The promise ends with the fault, which may not come.
    if (round % 3 === 1) void lake.catalog.loseNextCommit()
    if (round % 3 === 2) void lake.catalog.cutNextCommit()
    await Promise.all([
      killedFlush(one, lake, random() * LONGEST_MS),
      killedFlush(other, lake, random() * LONGEST_MS),
    ])
  }
  for (const space of [one, other]) {
    await space.eider(['flush'], { env })
    await space.ok(['flush', '--wait', '60'], { env })
  }
  const text =
    'SELECT count(*)::INT AS n, count(DISTINCT id)::INT AS ids, max(id)::INT AS last FROM raw.orders'
  const { stdout } = await one.ok(['query', text, '--json'], { env })
  assert.equal(JSON.parse(stdout), { n: next, ids: next, last: next - 1 })
  assert.equal(lake.store.deletions, [])
})

test.run()
