// kill -9 of a process at each of its file calls, on the real disk. (The page cache outlives a process, so this cannot
// show a missing sync; power-cut.test.ts does.)

import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openBuffer, readClaim, target } from '../support/open-buffer.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const child = fileURLToPath(new URL('../support/buffer-child.js', import.meta.url))

interface Told {
  readonly accepted: Set<string>
  /** Claim id to its events. */
  readonly flushed: Map<string, readonly string[]>
  readonly acked: Set<string>
  readonly done: boolean
}

test('every accepted event is there once after kill -9 at any file call', async () => {
  let kills = 0
  for (let n = 1, done = false; !done; n += 1) {
    const lives = await Promise.all([killAt(n, 'before'), killAt(n, 'after')])
    done = lives.every((told) => told.done)
    if (!done) kills += lives.length
  }
  assert.ok(kills > 80, `only ${kills} kills`)
})

async function killAt(n: number, when: 'before' | 'after'): Promise<Told> {
  await using directory = await temporaryDirectory()
  const told = await runChild([directory.path, String(n), when])
  const table = [...told.flushed.values()].flat()
  // The dead child's lock is still there and is taken over.
  await using buffer = await openBuffer(directory.path)
  const inflight = await buffer.inflight(target)
  for (const claim of inflight) {
    assert.not(told.acked.has(claim.id), `${claim.id} came back after its ack`)
    if (!told.flushed.has(claim.id)) await buffer.nack(claim)
    else await buffer.ack(claim)
  }
  for (let claim = await buffer.claim(target); claim !== null; claim = await buffer.claim(target)) {
    assert.not(told.flushed.has(claim.id), `${claim.id} came back`)
    table.push(...(await readClaim(claim)).map(({ event }) => event as string))
    await buffer.ack(claim)
  }
  assert.is(new Set(table).size, table.length, `doubled events, killed ${when} call ${n}`)
  for (const call of told.accepted)
    assert.ok(table.includes(`${call}/0`), `call ${call} is lost, killed ${when} call ${n}`)
  for (const event of table) {
    const [call, i] = event.split('/')
    assert.ok(table.includes(`${call}/${i === '0' ? 1 : 0}`), `call ${call} is there in part`)
  }
  return told
}

async function runChild(args: readonly string[]): Promise<Told> {
  const process_ = spawn(process.execPath, [child, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let [output, errors] = ['', '']
  process_.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  process_.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  const signal = await new Promise((resolve) => process_.on('close', (_, by) => resolve(by)))
  const done = output.endsWith('done\n')
  assert.ok(done || signal === 'SIGKILL', `the child ended by itself: ${errors}`)
  const told = { accepted: new Set<string>(), flushed: new Map(), acked: new Set<string>(), done }
  for (const line of output.split('\n')) {
    const [verb, subject = '', events = ''] = line.split(' ')
    if (verb === 'accepted') told.accepted.add(subject)
    if (verb === 'flushed') told.flushed.set(subject, JSON.parse(events))
    if (verb === 'acked') told.acked.add(subject)
  }
  return told
}

test.run()
