// A small request that is millions of events: one sender does not hold up the others.

import { gzipSync } from 'node:zlib'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { startDaemon } from '../support/daemon-process.ts'
import { workspace } from '../support/workspace.ts'

test('health is answered within 2 s while eleven million empty events come in 32 KB', async () => {
  await using space = await workspace({
    'eider.yml': 'name: many\n',
    'models/raw/events.sql': '-- @kind: events\nid BIGINT',
  })
  await using daemon = await startDaemon(space)
  const body = gzipSync(Buffer.from(`[${'{},'.repeat(11_166_666)}{}]`.slice(0, 32 * 2 ** 20 - 2)))
  const post = (headers: Record<string, string> = {}) =>
    fetch(`${daemon.url}/collect/raw/events/batch`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip', ...headers },
      body,
    })
  const posts = [post(), post(), post({ 'Idempotency-Key': 'a' })]
  let isDone = false
  const all = Promise.all(posts).finally(() => (isDone = true))
  let slowest = 0
  while (!isDone) {
    const start = performance.now()
    assert.is((await fetch(`${daemon.url}/health`)).status, 200)
    slowest = Math.max(slowest, performance.now() - start)
  }
  for (const answer of await all) {
    assert.is(answer.status, 413)
    assert.match(await answer.text(), '"code":"too-many-events"')
  }
  assert.ok(slowest < 2_000, `health took ${Math.round(slowest)} ms`)
})

test.run()
