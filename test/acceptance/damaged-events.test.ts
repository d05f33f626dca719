// A disk changes bytes of events that were accepted: what the commands say, and what is in the table.

import { readdir, readFile, rm } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../src/core/sql.ts'
import { queryWarehouse, runBeside, startDaemon } from '../support/daemon-process.ts'
import { flipBit } from '../support/flip-bit.ts'
import { type Running, type Workspace, workspace } from '../support/workspace.ts'

const project = {
  'eider.yml': 'name: damaged\n',
  'models/raw/events.sql': '-- @kind: events\nid BIGINT NOT NULL, note VARCHAR',
  'models/mart/n.sql': '-- @expose n\nSELECT count(*) AS n FROM raw.events',
}

async function send(daemon: Running, id: number): Promise<number> {
  const response = await fetch(`${daemon.url}/collect/raw/events`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': `key-${id}` },
    body: JSON.stringify({ id, note: `note ${id}` }),
  })
  await response.arrayBuffer()
  return response.status
}

const bufferOf = (space: Workspace, name = '') => space.path('.eider/buffer/raw.events', name)

/** Changes a bit of what `text` stands for in the one segment with events. */
async function damage(space: Workspace, text: string, offset: number): Promise<void> {
  for (const name of await readdir(bufferOf(space))) {
    const at = (await readFile(bufferOf(space, name))).indexOf(text)
    if (at >= 0) return await flipBit(bufferOf(space, name), at + offset)
  }
  throw new Error(`no segment holds ${text}`)
}

const envOf = (daemon: Running) => ({ COLLECT_ADMIN_PORT: new URL(daemon.adminUrl!).port })

const idsIn = async (space: Workspace) =>
  (await queryWarehouse(space, sql`SELECT id::INTEGER AS id FROM raw.events ORDER BY id`)).map(
    ({ id }) => id,
  )

const places: readonly (readonly [
  what: string,
  text: string,
  offset: number,
  isRestarted: boolean,
])[] = [
  ['a digit', 'note 2', 5, false],
  ['a quote', '"note 2"', 0, false],
  ['a member', '"id":2', 1, false],
  ['a digit', 'note 2', 5, true],
]

for (const [what, text, offset, isRestarted] of places)
  test(`${what} changes ${isRestarted ? 'while no daemon runs' : 'under the daemon'}: all but that event is in the table, and everybody says so`, async () => {
    await using space = await workspace(project)
    let daemon = await startDaemon(space, '--quiet')
    for (const id of [1, 2, 3]) assert.is(await send(daemon, id), 202)
    if (isRestarted) await daemon.stop('SIGKILL')
    await damage(space, text, offset)
    if (isRestarted) daemon = await startDaemon(space, '--quiet')
    const env = envOf(daemon)

    const run = await space.ok(['run'], { env, exitCode: 1 })
    const [name = ''] = (await readdir(bufferOf(space))).filter((n) => n.endsWith('.damaged'))
    const kept = bufferOf(space, name)
    const { length } = await readFile(kept)
    const says = `1 event changed on disk and not in the table: ${length} bytes, kept in ${kept}`
    assert.ok(run.stdout.replace(/\s+/g, ' ').includes(`damaged raw.events ${says}`), run.stdout)
    assert.match(run.stdout, /failed, 2 built, published/)
    assert.equal(await idsIn(space), [1, 3])

    const status = await space.ok(['collect', 'status'], { env })
    assert.match(status.stdout, `damaged: raw.events: ${says}`)
    const { stdout } = await space.ok(['collect', 'status', '--json'], { env })
    const { damaged } = JSON.parse(stdout) as { damaged: unknown }
    assert.equal(damaged, [{ target: 'raw.events', path: kept, bytes: length, events: 1 }])
    const problems = await space.ok(['status', '--json'], { exitCode: 1 })
    assert.ok(problems.stdout.includes(`"message":"raw.events: ${says}"`), problems.stdout)
    const live = await space.ok(['status', '--live', '--json'], { exitCode: 1 })
    assert.not.ok(live.stdout.includes(says), live.stdout)
    const doctor = await space.eider(['doctor'], { env })
    assert.ok(doctor.stdout.replace(/\s+/g, ' ').includes(says), doctor.stdout)
    assert.is(doctor.exitCode, 1)

    // The same request again is no repeat: its event is missing.
    assert.is(await send(daemon, 2), 202)
    const again = await space.ok(['flush', '--json'], { env, exitCode: 1 })
    assert.match(again.stdout, /"event":"buffer-flushed","ok":false,.*"damaged":\[\{/)
    assert.equal(await idsIn(space), [1, 2, 3])
    await rm(kept)
    await runBeside(space, daemon)
    await daemon.stop()
    await space.ok(['run'])
  })

test('without a daemon a run looks at what it has in hand, and one with nothing to do still says what is missing', async () => {
  await using space = await workspace(project)
  await space.ok(['run'])
  {
    await using daemon = await startDaemon(space, '--quiet')
    for (const id of [1, 2]) await send(daemon, id)
    await daemon.stop()
  }
  await damage(space, '"id":2', 4)
  for (let round = 0; round < 3; round++) {
    const { stdout } = await space.ok(['run', '--json'], { exitCode: 1 })
    const lines = stdout.trim().split('\n')
    const events = lines.map((line) => JSON.parse(line) as { event: string; ok?: boolean })
    assert.is(events.filter(({ event }) => event === 'events-damaged').length, 1)
    assert.is(events.at(-1)?.ok, false)
    assert.equal(await idsIn(space), [1])
  }
  // A run that is not about these events has nothing to say.
  await space.ok(['run', 'mart.n'])
})

test.run()
