// .eider deleted while the daemon is running: nothing is acknowledged that would be lost with it.

import { rm } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { startDaemon } from '../support/daemon-process.ts'
import { workspace } from '../support/workspace.ts'

test('once .eider is deleted, the daemon refuses events and says why, until it is started again', async () => {
  await using space = await workspace({
    'eider.yml': 'name: deleted\n',
    'models/raw/events.sql': '-- @kind: events\nid BIGINT',
  })
  const post = (url: string, id: number) =>
    fetch(`${url}/collect/raw/events`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: `{"id":${id}}`,
    })
  {
    await using daemon = await startDaemon(space)
    assert.is((await post(daemon.url, 1)).status, 202)
    await rm(space.path('.eider'), { recursive: true })
    for (const id of [2, 3]) {
      const answer = await post(daemon.url, id)
      assert.is(answer.status, 503)
      assert.match(await answer.text(), '"code":"buffer-unavailable"')
    }
    const health = await fetch(`${daemon.url}/health`)
    assert.is(health.status, 503)
    assert.match(await health.text(), 'the buffer accepts no events at the moment')
    assert.match(daemon.stderr(), 'somebody has deleted this file: start the daemon again')
  }
  await using daemon = await startDaemon(space)
  assert.is((await post(daemon.url, 4)).status, 202)
  await daemon.stop()
  await space.ok(['run'])
  const { stdout } = await space.ok(['query', 'FROM raw.events', '--json'])
  assert.is(stdout.trim(), '{"id":"4"}')
})

test.run()
