// A flush is frozen before its COMMIT, as when a machine is suspended; PostgreSQL gives its lock away, and it thaws later.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { lakeProject } from '../support/lake/lake-project.ts'
import { lakeTest } from '../support/lake/lake-test.ts'
import { withLake } from '../support/lake/with-lake.ts'
import { until } from '../support/until.ts'
import { eiderProcess, type Workspace } from '../support/workspace.ts'

const files = { 'models/raw/orders.sql': '-- @kind: events\nid bigint not null\n' }
const given = { timeoutMs: 180_000 }

async function collect(space: Workspace, ids: readonly number[]): Promise<void> {
  await using daemon = await space.start(['collect', 'daemon', '--port', '0', '--admin-port', '0'])
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
    const { command, args, env } = eiderProcess(['flush'], lake.env)
    const frozen = spawn(command, args, { cwd: one.dir, env, stdio: 'ignore' })
    const ended = once(frozen, 'exit')
    // Its rows are in the store, and the catalog is slow to answer.
    await until(() => lake.store.requests.some(({ method }) => method === 'PUT'))
    lake.catalog.delayMs = 2_000
    frozen.kill('SIGSTOP')
    lake.catalog.delayMs = 0
    await lake.postgres(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'eider flush%'",
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

test.run()
