// `eider collect status` with a daemon, without one, and while a run has the warehouse.

import { mkdir } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Database } from '../../src/duckdb/database.ts'
import { type Running, type Workspace, workspace } from '../support/workspace.ts'
import { startDaemon, runBeside } from '../support/daemon-process.ts'
import { postJson } from '../support/json-requests.ts'

const project = {
  'eider.yml': 'name: status\n',
  'models/raw/events.sql': '-- @kind: events\nid BIGINT NOT NULL, day DATE',
}

const portOf = (daemon: Running) => ({ COLLECT_ADMIN_PORT: new URL(daemon.adminUrl!).port })

async function statusOf(space: Workspace, env: Record<string, string> = {}) {
  const { stdout } = await space.ok(['collect', 'status', '--json'], { env })
  const { event, ...status } = JSON.parse(stdout) as {
    event: string
    daemon: boolean
    targets: Record<string, unknown>[]
    rejected_unknown: string | null
  }
  assert.is(event, 'collect-status')
  return status
}

test('status of a project that has collected nothing', async () => {
  await using space = await workspace(project)
  assert.equal(await statusOf(space), { daemon: false, targets: [], rejected_unknown: null })
  assert.match((await space.ok(['collect', 'status'])).stdout, 'nothing was collected')
})

test('status with a daemon: buffered, claimed, rejected, oldest, rate', async () => {
  await using space = await workspace(project)
  await using daemon = await startDaemon(space, '--quiet')
  const url = `${daemon.url}/collect/raw/events/batch`
  await postJson(url, [{ id: 1 }, { id: 2 }])
  await runBeside(space, daemon)
  await postJson(url, [{ id: 3 }, { id: 4 }, { id: 5 }])
  await fetch(`${daemon.adminUrl}/flush/raw/events/claim`, { method: 'POST' })
  await postJson(url, [{ id: 6 }])
  const status = await statusOf(space, portOf(daemon))
  const [target] = status.targets
  const { bytes, oldest, rate, ...counts } = target!
  assert.equal(counts, { target: 'raw.events', buffered: 1, claimed: 3, rejected: 0 })
  assert.ok((bytes as number) > 0 && (rate as number) > 0)
  assert.ok(Math.abs(Date.parse(oldest as string) - Date.now()) < 60_000)
  assert.equal([status.daemon, status.rejected_unknown], [true, null])

  assert.is(await daemon.stop(), 0)
  const offline = await statusOf(space)
  const [onDisk] = offline.targets
  assert.equal(
    [offline.daemon, onDisk!['buffered'], onDisk!['claimed'], onDisk!['rate']],
    [false, 1, 3, null],
  )
  const { stdout } = await space.ok(['collect', 'status'])
  assert.match(stdout, /^no daemon is running; .*\ntarget +buffered +claimed +rejected/)
  assert.match(stdout, /\nraw\.events +1 +3 +0 +\d+ +- +\d{4}-/)
})

test('status counts rejected events, and says why it cannot while the warehouse is held', async () => {
  await using space = await workspace(project)
  await using daemon = await startDaemon(space, '--quiet')
  // A day that the validator of this model accepts and the table of the next model does not.
  await postJson(`${daemon.url}/collect/raw/events`, { id: 1, day: '2026-01-01' })
  await daemon.stop()
  await space.write('models/raw/events.sql', '-- @kind: events\nid BIGINT NOT NULL, day INTEGER')
  await space.ok(['run'])
  assert.is((await statusOf(space)).targets[0]!['rejected'], 1)
  await mkdir(space.path('.eider'), { recursive: true })
  await using _held = await Database.open({ path: space.path('.eider/warehouse.duckdb') })
  const held = await statusOf(space)
  assert.is(held.targets[0]?.['rejected'], null)
  assert.match(held.rejected_unknown!, 'a run has the warehouse open')
  assert.match((await space.ok(['collect', 'status'])).stdout, 'rejected events are unknown')
})

test.run()
