// Idempotency-Key from outside: over kill -9, a restart and the flush.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../src/core/sql.ts'
import { workspace } from '../support/workspace.ts'
import { startDaemon, queryWarehouse, runBeside } from '../support/daemon-process.ts'
import { postJson } from '../support/json-requests.ts'

const REQUESTS = 12

test('requests that are sent again after kill -9, a restart and a run are stored once', async () => {
  await using space = await workspace({
    'eider.yml': 'name: keys\n',
    'models/raw/events.sql': '-- @kind: events\nid BIGINT NOT NULL',
  })
  const bodyOf = (i: number) => (i % 2 === 0 ? { id: i } : [{ id: i }, { id: i }])
  const sendAll = (url: string) =>
    Promise.allSettled(
      Array.from({ length: REQUESTS }, async (_, i) => {
        const path = `/collect/raw/events${i % 2 === 0 ? '' : '/batch'}`
        const answer = await postJson(url + path, bodyOf(i), { 'Idempotency-Key': `request ${i}` })
        assert.is(await answer.text(), `{"accepted":${1 + (i % 2)}}`)
        return answer.status
      }),
    )
  const killed = await startDaemon(space, '--quiet')
  const first = sendAll(killed.url)
  await postJson(`${killed.url}/collect/raw/events`, { id: 99 })
  await killed.stop('SIGKILL')
  await first
  const again = await startDaemon(space, '--quiet')
  for (const sent of await sendAll(again.url))
    assert.equal(sent, { status: 'fulfilled', value: 202 })
  await runBeside(space, again)
  assert.is(await again.stop(), 0)
  const third = await startDaemon(space, '--quiet')
  for (const sent of await sendAll(third.url))
    assert.equal(sent, { status: 'fulfilled', value: 202 })
  const reused = await postJson(
    `${third.url}/collect/raw/events`,
    { id: 5 },
    { 'Idempotency-Key': 'request 0' },
  )
  assert.is(reused.status, 422)
  await third.stop()
  // Without a daemon the run removes the segments itself.
  await space.ok(['run'])
  const last = await startDaemon(space, '--quiet')
  await sendAll(last.url)
  await runBeside(space, last)
  const rows = await queryWarehouse(
    space,
    sql`SELECT count(*)::INTEGER AS n, count(DISTINCT id)::INTEGER AS ids FROM raw.events WHERE id <> 99`,
  )
  assert.equal(rows, [{ n: (REQUESTS * 3) / 2, ids: REQUESTS }])
})

test.run()
