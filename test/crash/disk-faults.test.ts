// The built daemon and the built run on disks that really refuse: a full tmpfs, a read-only one, and system calls that
// fail by strace. Skipped, and counted as such, where mounting or tracing is not allowed.

// Its commands are processes: strace makes system calls of theirs fail.

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { startDaemon } from '../support/daemon-process.ts'
import { smallDisk, testOnDisk } from '../support/small-disk.ts'
import { type Running, type Workspace, workspace } from '../support/workspace.ts'

const project = {
  'eider.yml': 'name: faults\n',
  'models/raw/events.sql': '-- @kind: events\nid INTEGER NOT NULL, note VARCHAR',
}
const NOTE = 'n'.repeat(1_000)

class Sender {
  readonly accepted: number[] = []
  readonly refused: number[] = []
  readonly #daemon: Running
  #next = 1

  constructor(daemon: Running) {
    this.#daemon = daemon
  }

  /** Batches of three; stops at the first answer with the status `until`. */
  async send(batches: number, until = 0): Promise<Response | null> {
    for (let i = 0; i < batches; i++) {
      const ids = [this.#next++, this.#next++, this.#next++]
      const response = await fetch(`${this.#daemon.url}/collect/raw/events/batch`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(ids.map((id) => ({ id, note: NOTE }))),
      })
      await response.arrayBuffer()
      ;(response.status === 202 ? this.accepted : this.refused).push(...ids)
      if (response.status === until) return response
      if (![202, 503].includes(response.status)) throw new Error(`status ${response.status}`)
    }
    return null
  }
}

const adminOf = (daemon: Running) => ({ COLLECT_ADMIN_PORT: new URL(daemon.adminUrl!).port })

/** Each accepted event is in the table once, and nothing else. */
async function assertStored(space: Workspace, { accepted, refused }: Sender): Promise<void> {
  const path = space.path('.eider/warehouse.duckdb')
  await using database = await Database.open({ path, readOnly: true, threads: 1 })
  await using connection = await database.connect()
  const rows = await connection.rows(sql`SELECT id FROM raw.events ORDER BY id`)
  assert.ok(refused.length > 0 && accepted.length > 0)
  assert.equal(
    rows.map(({ id }) => id),
    accepted,
  )
}

testOnDisk(
  'a full disk: 503 until space returns, and nothing that was accepted is lost',
  async () => {
    await using space = await workspace(project)
    await using disk = await smallDisk(32 * 2 ** 20)
    await symlink(disk.dir, space.path('.eider'))
    await using daemon = await startDaemon(space, '--quiet')
    const env = adminOf(daemon)
    const sender = new Sender(daemon)
    await sender.send(10)
    await space.ok(['run'], { env })
    await disk.fill(40_000)
    const refusal = await sender.send(100, 503)
    assert.ok(refusal, 'the disk never got full')
    assert.ok(Number(refusal.headers.get('Retry-After')) > 0)
    assert.is((await fetch(`${daemon.url}/health`)).status, 503)
    const failed = await space.ok(['run'], { env, exitCode: 3 })
    assert.match(failed.stderr, /disk .*is full/)
    await disk.empty()
    assert.is(await sender.send(10, 503), null, 'it takes events again by itself')
    assert.is((await fetch(`${daemon.url}/health`)).status, 200)
    await space.ok(['run'], { env })
    await daemon.stop()
    await assertStored(space, sender)
  },
)

testOnDisk('a run on a full disk names it, though the system names no file', async () => {
  await using space = await workspace(project)
  await using disk = await smallDisk(24 * 2 ** 20)
  const dir = join(disk.dir, 'shop')
  await cp(space.dir, dir, { recursive: true })
  await space.ok(['run', '--project', dir])
  await disk.fill(0)
  const { stderr } = await space.ok(['run', '--project', dir], { exitCode: 3 })
  assert.match(stderr, `the disk of ${dir} is full\nhint: free some space`)
})

testOnDisk('a run on a disk without inodes says so, and not that it is full', async () => {
  await using space = await workspace(project)
  await using disk = await smallDisk(32 * 2 ** 20, 20)
  await symlink(disk.dir, space.path('.eider'))
  await disk.useUpInodes()
  const failed = await space.ok(['run'], { exitCode: 3 })
  assert.match(failed.stderr, /the disk of \S+ has no inodes left/)
})

testOnDisk('a read-only disk: daemon and run say so and end with 3', async () => {
  await using space = await workspace(project)
  await using disk = await smallDisk(32 * 2 ** 20)
  await mkdir(join(disk.dir, 'buffer'))
  await symlink(disk.dir, space.path('.eider'))
  disk.makeReadOnly()
  for (const command of [['collect', 'daemon', '--port', '0', '--admin-port', '0'], ['run']]) {
    const failed = await space.ok(command, { exitCode: 3 })
    assert.match(failed.stderr, /read-only|EROFS/i)
  }
})

testOnDisk(
  'a disk that becomes read-only under the daemon: 503 until it can be written',
  async () => {
    await using space = await workspace(project)
    await using disk = await smallDisk(32 * 2 ** 20)
    await symlink(disk.dir, space.path('.eider'))
    await using daemon = await startDaemon(space, '--quiet')
    const sender = new Sender(daemon)
    disk.makeReadOnly() // before the first event; with a segment open the system would refuse it
    const refusal = await sender.send(1, 503)
    assert.ok(refusal, 'it was taken')
    assert.ok(Number(refusal.headers.get('Retry-After')) > 0)
    assert.is((await fetch(`${daemon.url}/health`)).status, 503)
    disk.makeWritable()
    assert.is(await sender.send(3, 503), null)
    await space.ok(['run'], { env: adminOf(daemon) })
    await daemon.stop()
    await assertStored(space, sender)
  },
)

const canTrace = (() => {
  try {
    execFileSync('strace', ['-qq', '-e', 'trace=fdatasync', 'true'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()
const testTraced = (name: string, run: () => Promise<void>) =>
  canTrace ? test(name, run) : test.skip(name, run)

for (const [what, call, error] of [
  ['a sync that fails', 'fdatasync', 'EIO'],
  ['a write to a disk that the system has made read-only', 'pwrite64', 'EROFS'],
])
  testTraced(
    `${what}: 503, the refused batch nowhere, and the daemon goes on by itself`,
    async () => {
      await using space = await workspace(project)
      await using daemon = await startDaemon(space, '--quiet')
      const sender = new Sender(daemon)
      await sender.send(10)
      const inject = ['-e', `trace=${call}`, '-e', `inject=${call}:error=${error}`]
      const strace = spawn('strace', ['-f', ...inject, '-o', '/dev/null', '-p', String(daemon.pid)])
      const detached = once(strace, 'exit')
      try {
        await once(strace.stderr, 'data') // says that it is attached
        const refusal = await sender.send(20, 503)
        assert.ok(refusal, 'nothing has failed')
        assert.ok(Number(refusal.headers.get('Retry-After')) > 0)
        await sender.send(3)
      } finally {
        strace.kill('SIGINT')
        await detached
      }
      assert.is(await sender.send(10, 503), null)
      await space.ok(['run'], { env: adminOf(daemon) })
      await daemon.stop()
      await assertStored(space, sender)
    },
  )

test('a daemon that hangs: the run ends with 3 after the time that is set, and loses nothing', async () => {
  await using space = await workspace({
    ...project,
    'eider.yml': 'name: faults\ncollect:\n  admin_timeout_ms: 1500\n',
  })
  await using daemon = await startDaemon(space, '--quiet')
  const sender = new Sender(daemon)
  await sender.send(2)
  process.kill(daemon.pid, 'SIGSTOP')
  try {
    const startedAt = Date.now()
    const failed = await space.ok(['run'], { env: adminOf(daemon), exitCode: 3 })
    assert.match(failed.stderr, /has not answered for 1.5 s/)
    assert.ok(Date.now() - startedAt >= 1_500)
  } finally {
    process.kill(daemon.pid, 'SIGCONT')
  }
  await space.ok(['run'], { env: adminOf(daemon) })
  await daemon.stop()
  sender.refused.push(0) // none here
  await assertStored(space, sender)
})

test.run()
