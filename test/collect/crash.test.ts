// What was answered 202 is there after a kill -9; what was refused is not.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openBuffer } from '../support/open-buffer.ts'
import { PAGE_VIEWS } from '../support/collect-daemon.ts'
import { post } from '../support/json-requests.ts'

const ROUNDS = 6

test('kill -9 right after a 202 loses nothing, over several restarts', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'eider-kill-'))
  const accepted = new Set<number>()
  const sent = new Set<number>()
  for (let round = 0; round < ROUNDS; round++) {
    const { child, url } = await startDaemon(dir)
    const killAfter = accepted.size + 1 + round * 40
    let killed = false
    const kill = () => {
      killed = true
      child.kill('SIGKILL')
    }
    const sendMany = async (worker: number) => {
      for (let turn = 0; !killed; turn++) {
        const ids = turn % 2 === 0 ? [0] : [0, 1, 2]
        const events = ids.map((id) => (round * 10 + worker) * 1_000_000 + turn * 10 + id)
        for (const id of events) sent.add(id)
        const bodies = events.map((id) => `{"event_name":"e","count":${id}}`)
        const isBatch = bodies.length > 1
        const path = `${url}/collect/raw/page_views${isBatch ? '/batch' : ''}`
        const reply = await post(path, isBatch ? `[${bodies.join()}]` : bodies[0]!).catch(
          () => null,
        )
        if (reply === null) return
        assert.is(reply.status, 202)
        for (const id of events) accepted.add(id)
        if (accepted.size >= killAfter && !killed) kill()
      }
    }
    await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map(sendMany))
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
  const stored = await storedIds(dir)
  assert.ok(accepted.size > ROUNDS * 20, `${accepted.size} events were accepted`)
  assert.equal(
    [...accepted].filter((id) => !stored.includes(id)),
    [],
    'lost',
  )
  assert.is(new Set(stored).size, stored.length, 'doubled')
  assert.equal(
    stored.filter((id) => !sent.has(id)),
    [],
    'never sent',
  )
  // A batch is there as a whole or not at all.
  const batches = stored
    .filter((id) => Math.floor(id / 10) % 2 === 1)
    .map((id) => Math.floor(id / 10))
  for (const batch of new Set(batches))
    assert.is(batches.filter((other) => other === batch).length, 3)
  await rm(dir, { recursive: true })
})

async function startDaemon(dir: string): Promise<{ child: ChildProcess; url: string }> {
  const child = fork(fileURLToPath(new URL('../support/daemon-child.js', import.meta.url)), [dir])
  const [{ url }] = (await once(child, 'message')) as [{ url: string }]
  return { child, url }
}

/** The `count` of every event, in order of the files. */
async function storedIds(dir: string): Promise<readonly number[]> {
  await using buffer = await openBuffer(dir)
  const ids: number[] = []
  for (;;) {
    const claim = await buffer.claim(PAGE_VIEWS.name)
    if (claim === null) return ids
    for (const line of (await readFile(new URL(claim.url), 'utf8')).split('\n')) {
      if (!line.startsWith('{"s":')) continue
      ids.push((JSON.parse(line) as { e: { count: number } }).e.count)
    }
    await buffer.ack(claim)
  }
}

test.run()
