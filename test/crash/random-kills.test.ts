// The built daemon and the built run, killed at moments of a seeded choice, in both orders of restart, while events
// come in. Each event that was answered 202 is in its table once. (test/buffer and test/pipeline kill at every step.)

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { eiderProcess, type Running, type Workspace, workspace } from '../workspace.ts'

const ROUNDS = 12
const SEED = 20_260_101

const files = {
  'eider.yml': 'name: crash\n',
  'models/raw/events.sql': '-- @kind: events\nid BIGINT NOT NULL, batch INTEGER',
  'models/mart/counts.sql':
    '-- @kind: table\n-- @expose batch\nSELECT coalesce(batch, -1) AS batch, count(*)::INTEGER AS n FROM raw.events GROUP BY ALL',
}

test('daemon and run killed at random, restarted in either order: each 202 is a row, once', async () => {
  await using space = await workspace(files)
  const random = generator(SEED)
  const sender = { next: 1, accepted: new Set<number>(), unanswered: new Set<number>() }
  let daemon = await startDaemon(space)
  for (let round = 0; round < ROUNDS; round++) {
    const sending = sendUntilGone(daemon, sender)
    await pause(50 + random() * 150)
    const run = startRun(space, daemon)
    await pause(random() * 1_000)
    const [first, second] = random() < 0.5 ? ['daemon', 'run'] : ['run', 'daemon']
    for (const victim of [first, second]) {
      if (victim === 'daemon') await daemon.stop('SIGKILL')
      else await run.kill()
      await pause(random() * 100)
    }
    await sending
    daemon = await startDaemon(space)
  }
  await space.ok(['run'], { env: { COLLECT_ADMIN_PORT: new URL(daemon.adminUrl!).port } })
  await daemon.stop()

  await using database = await Database.open({
    path: space.path('.eider/warehouse.duckdb'),
    readOnly: true,
  })
  await using connection = await database.connect()
  const rows = await connection.rows(
    sql`SELECT id::INTEGER AS id, count(*)::INTEGER AS n FROM raw.events GROUP BY id`,
  )
  const doubled = rows.filter((row) => row['n'] !== 1).map((row) => row['id'])
  const stored = new Set(rows.map((row) => row['id']))
  const lost = [...sender.accepted].filter((id) => !stored.has(id))
  const invented = [...stored].filter(
    (id) => !sender.accepted.has(id as number) && !sender.unanswered.has(id as number),
  )
  assert.equal({ doubled, lost, invented }, { doubled: [], lost: [], invented: [] }, `seed ${SEED}`)
  assert.ok(sender.accepted.size > ROUNDS * 10, `only ${sender.accepted.size} events were accepted`)
})

type Sender = { next: number; readonly accepted: Set<number>; readonly unanswered: Set<number> }

/** Posts events one by one, every tenth request a batch of three, until the daemon is gone. */
async function sendUntilGone(daemon: Running, sender: Sender): Promise<void> {
  for (let request = 0; ; request++) {
    const ids = Array.from({ length: request % 10 === 9 ? 3 : 1 }, () => sender.next++)
    const [path, body] =
      ids.length === 1
        ? ['', { id: ids[0] }]
        : ['/batch', ids.map((id) => ({ id, batch: request }))]
    try {
      const answer = await fetch(`${daemon.url}/collect/raw/events${path}`, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'Content-Type': 'application/json' },
      })
      await answer.arrayBuffer()
      if (answer.status === 202) for (const id of ids) sender.accepted.add(id)
    } catch {
      for (const id of ids) sender.unanswered.add(id) // may or may not have been stored; never twice
      return
    }
  }
}

const startDaemon = (space: Workspace) =>
  space.start(['collect', 'daemon', '--port', '0', '--admin-port', '0', '--quiet'])

function startRun(space: Workspace, daemon: Running) {
  const { command, args, env } = eiderProcess(['run', '--wait', '0'], {
    COLLECT_ADMIN_PORT: new URL(daemon.adminUrl!).port,
  })
  const child = spawn(command, args, { cwd: space.dir, env, stdio: 'ignore' })
  const exited = once(child, 'exit')
  return {
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

/** mulberry32: small, seeded, good enough to choose moments. */
function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

test.run()
