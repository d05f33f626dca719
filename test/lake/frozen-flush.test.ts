// A flush that is frozen, as when a machine is suspended, and thaws later: before its COMMIT, where PostgreSQL gives its
// lock away meanwhile, and in the middle of making the state of a new lake.

// Its commands are processes: they are frozen.

import { startDaemon } from '../support/daemon-process.ts'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { lakeProject } from '../support/lake/lake-project.ts'
import { lakeTest } from '../support/lake/lake-test.ts'
import { type TestLake, withLake } from '../support/lake/with-lake.ts'
import { until } from '../support/until.ts'
import { eiderProcess, type Workspace } from '../support/workspace.ts'

const files = { 'models/raw/orders.sql': '-- @kind: events\nid bigint not null\n' }
const given = { timeoutMs: 180_000 }

async function collect(space: Workspace, ids: readonly number[]): Promise<void> {
  await using daemon = await startDaemon(space)
  const { status } = await fetch(`${daemon.url}/collect/raw/orders/batch`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-ndjson' },
    body: ids.map((id) => `{"id":${id}}\n`).join(''),
  })
  assert.is(status, 202)
}

lakeTest(
  'a flush that is frozen before its COMMIT and thaws later flushes nothing twice',
  async () => {
    await using lake = await withLake()
    await using one = await lakeProject(lake, files)
    await using other = await lakeProject(lake, files)
    await one.ok(['run'], given)
    await collect(one, [1, 2, 3])
    await collect(other, [4, 5])
    lake.store.forget()
    const { child: frozen, ended } = startFlush(one, lake)
    // Its rows are in the store, and the catalog is slow to answer.
    await until(() => lake.store.requests.some(({ method }) => method === 'PUT'))
    lake.catalog.delayMs = 2_000
    frozen.kill('SIGSTOP')
    lake.catalog.delayMs = 0
    await lake.postgres(
      // The servers are those of all tests, so others flush there too.
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE application_name LIKE 'eider flush%' AND datname = current_database()`,
    )
    // Nobody waits for the one that is frozen but its own machine.
    await other.ok(['flush'], given)
    frozen.kill('SIGCONT')
    await ended
    await one.ok(['flush'], given)
    const text = 'SELECT count(*)::INT AS n, count(DISTINCT id)::INT AS once FROM raw.orders'
    const { stdout } = await one.ok(['query', text, '--json'], given)
    assert.equal(JSON.parse(stdout), { n: 5, once: 5 })
    assert.equal(lake.store.deletions, [])
  },
)

lakeTest('a flush waits for another that makes the state, and neither ends the other', async () => {
  await using lake = await withLake()
  await using one = await lakeProject(lake, files)
  await using other = await lakeProject(lake, files)
  await collect(one, [1, 2, 3])
  await collect(other, [4, 5])
  const held = lake.catalog.holdNextCommit(/created_schema:"+_eider"+,/)
  const first = startFlush(one, lake)
  const { release } = await held
  first.child.kill('SIGSTOP')
  release()
  // An option of a schema, which is next, would end the engine where the other has made its view meanwhile.
  const second = startFlush(other, lake)
  const waits = () =>
    lake.postgres(
      `SELECT 1 FROM pg_locks JOIN pg_database d ON d.oid = database
       WHERE locktype = 'advisory' AND NOT granted AND datname = current_database()`,
    )
  await until(async () => second.child.exitCode !== null || (await waits()).length > 0)
  first.child.kill('SIGCONT')
  assert.equal(await Promise.all([first.ended, second.ended]), [
    [0, null],
    [0, null],
  ])
})

function startFlush({ dir }: Workspace, lake: TestLake) {
  const { command, args, env } = eiderProcess(['flush'], lake.env)
  const child = spawn(command, args, { cwd: dir, env, stdio: 'ignore' })
  return { child, ended: once(child, 'exit') }
}

test.run()
