import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { RunRecord } from '../../src/core/report/up.ts'
import { Punctuality } from '../../src/supervisor/punctuality.ts'
import { RunQueue } from '../../src/supervisor/scheduled-runs.ts'

const ended = (status: RunRecord['status']): RunRecord => ({
  name: 'often',
  run_id: '1',
  status,
  started_at: '2026-01-01T00:00:00.000Z',
  ms: 1,
  events: 0,
  rejected: 0,
  built: 0,
  unchanged: 0,
  failed: 0,
  skipped: 0,
  failing: [],
  reason: status === 'ok' ? null : 'no',
})

test('the first failure is news, and the first success after failures', () => {
  const known = new Punctuality(undefined)
  assert.is(known.ended(ended('ok'), 0), null)
  assert.equal(known.ended(ended('failed'), 1), { occasion: 'failed', failures: 1 })
  assert.is(known.ended(ended('failed'), 2), null)
  assert.is(known.ended(ended('busy'), 3), null)
  assert.is(known.ended(ended('stopped'), 4), null)
  assert.equal(known.ended(ended('ok'), 5), { occasion: 'recovered', failures: 2 })
  assert.is(known.ended(ended('ok'), 6), null)
})

test('what failed before a restart recovers after it', () => {
  const before = new Punctuality(undefined)
  before.ended(ended('failed'), 1)
  const after = new Punctuality(before.known)
  assert.is(after.ended(ended('failed'), 2), null)
  assert.equal(after.ended(ended('ok'), 3), { occasion: 'recovered', failures: 2 })
})

test('late is news once, and only while a run is due', () => {
  const known = new Punctuality(undefined)
  assert.is(known.look(1_000_000, 1000), null)
  known.due(2_000_000)
  known.due(2_000_900)
  assert.is(known.look(2_000_999, 1000), null)
  assert.equal(known.look(2_001_000, 1000), { occasion: 'late', failures: 0 })
  assert.is(known.look(2_002_000, 1000), null)
  assert.equal(known.ended(ended('ok'), 2_003_000), { occasion: 'recovered', failures: 0 })
  assert.is(known.look(9_000_000, 1000), null)
})

test('a run that is due while one works waits, and waits once', () => {
  const queue = new RunQueue<string>()
  assert.is(queue.offer('often'), 'start')
  assert.is(queue.offer('often'), 'wait')
  assert.is(queue.offer('often'), 'skip')
  assert.is(queue.offer('nightly'), 'wait')
  assert.is(queue.offer('nightly'), 'skip')
  assert.is(queue.next(), 'often')
  assert.is(queue.offer('often'), 'wait')
  assert.is(queue.next(), 'nightly')
  assert.is(queue.offer('nightly'), 'wait')
  assert.is(queue.next(), 'often')
  assert.is(queue.next(), 'nightly')
  assert.is(queue.next(), null)
  assert.is(queue.offer('nightly'), 'start')
})

test.run()
