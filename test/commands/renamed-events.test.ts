// An events model that is renamed in letter case only: one table, whichever spelling its events came under.

import { startDaemon } from '../support/daemon-process.ts'
import { rename } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Running, workspace } from '../support/workspace.ts'

const files = {
  'eider.yml': 'name: shop\n',
  'models/raw/Orders.sql': '-- @kind: events\nid INTEGER\n',
  'models/mart/sum.sql': 'SELECT count(*) AS n, sum(id) AS total FROM raw.orders\n',
}

async function post(daemon: Running, path: string, ...ids: readonly unknown[]): Promise<void> {
  const body = JSON.stringify(ids.map((id) => ({ id })))
  const url = `${daemon.url}/collect/${path}/batch`
  for (let tries = 0; ; tries++) {
    const { status } = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body,
    })
    if (status === 202) return
    // The daemon takes a moment to see the new name.
    if (status !== 404 || tries === 600) throw new Error(`${path}: ${status}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

for (const during of ['with the daemon', 'without a daemon'])
  test(`events of the old spelling reach the table, ${during}`, async () => {
    await using space = await workspace(files)
    let daemon = await startDaemon(space)
    // A run finds the daemon on its admin port.
    const env = () => ({ COLLECT_ADMIN_PORT: new URL(daemon.adminUrl!).port })
    const run = async () => (await space.ok(['run'], { env: env() })).stdout
    const sum = async () =>
      (await space.ok(['query', '--format', 'csv', 'FROM mart.sum'])).stdout.split(/\r?\n/)[1]
    await post(daemon, 'raw/Orders', 1)
    await run()
    assert.is(await sum(), '1,1')

    await post(daemon, 'raw/Orders', 10, 20)
    await rename(space.path('models/raw/Orders.sql'), space.path('models/raw/orders.sql'))
    await post(daemon, 'raw/orders', 100)
    await rename(space.path('models/raw'), space.path('models/RAW'))
    await post(daemon, 'RAW/orders', 1000)
    if (during === 'without a daemon') await daemon.stop()

    const plan = await space.ok(['plan', '--diff', '--allow-breaking'])
    assert.match(plan.stdout, /build +RAW\.orders +new events\n.*4 fit.*\n +1 -> 5 rows/)
    assert.match(await run(), /flushed +RAW\.orders +4 events/)
    assert.is(await sum(), '5,1131')
    assert.match(await run(), /Z \d+ unchanged in/)

    // Each spelling has its own place in the buffer, and comes back to it.
    if (during === 'without a daemon') daemon = await startDaemon(space)
    await rename(space.path('models/RAW'), space.path('models/raw'))
    await post(daemon, 'raw/orders', 10_000)
    assert.match(await run(), /flushed +raw\.orders +1 event\b/)
    assert.is(await sum(), '6,11131')
    await daemon.stop()
  })

test('events that were rejected under the old spelling are tried again', async () => {
  await using space = await workspace({
    ...files,
    'models/raw/Orders.sql': '-- @kind: events\nid BIGINT\n',
  })
  await using daemon = await startDaemon(space)
  await post(daemon, 'raw/Orders', 1, 3_000_000_000)
  await daemon.stop()
  await space.write('models/raw/Orders.sql', '-- @kind: events\nid INTEGER\n')
  const first = await space.ok(['run'])
  assert.match(first.stdout, /flushed +raw\.Orders +1 event, 1 rejected/)
  await rename(space.path('models/raw/Orders.sql'), space.path('models/raw/orders.sql'))
  await space.write('models/raw/orders.sql', '-- @kind: events\nid BIGINT\n')
  const second = await space.ok(['run'])
  assert.match(second.stdout, /flushed +raw\.orders +1 event\b/)
  const rows = await space.ok(['query', '--format', 'csv', 'FROM mart.sum'])
  assert.match(rows.stdout, /^2,3000000001$/m)
})

test.run()
