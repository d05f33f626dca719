import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { COMMIT_BUCKETS, createTraffic } from '../../src/collect/traffic.ts'
import type { ModelName } from '../../src/core/names.ts'

const target = 'raw.events' as ModelName
const commit = (events: number, ms = 1) => ({
  target,
  events,
  requests: 1,
  bytes: 100 * events,
  ms,
})

test('the rate is that of the last minute, or since the start', () => {
  let now = 1_000_000_000
  const traffic = createTraffic(() => now)
  assert.is(traffic.rateOf(target), 0)
  traffic.committed(commit(50))
  now += 10_000
  assert.is(traffic.rateOf(target), 5)
  for (let second = 0; second < 200; second++) {
    traffic.committed(commit(30))
    now += 1_000
  }
  assert.ok(Math.abs(traffic.rateOf(target) - 30) <= 0.5, String(traffic.rateOf(target)))
  now += 30_000
  assert.ok(Math.abs(traffic.rateOf(target) - 15) <= 0.5, String(traffic.rateOf(target)))
  now += 31_000
  assert.is(traffic.rateOf(target), 0)
})

test('counts add up, and each commit is in one bucket', () => {
  const { totals, committed, refused } = createTraffic()
  for (const ms of [0, 0.5, 0.51, 99, 1e9]) committed(commit(2, ms))
  refused(400, 'invalid-json')
  refused(400, 'too-deep')
  assert.is(totals.events.get(target), 10)
  assert.equal(
    [...totals.requests],
    [
      [202, 5],
      [400, 2],
    ],
  )
  assert.equal([...totals.refused.keys()], ['invalid-json', 'too-deep'])
  const { counts } = totals.commits
  assert.equal(
    [counts.length, counts[0], counts[1], counts.at(-1)],
    [COMMIT_BUCKETS.length + 1, 2, 1, 1],
  )
  assert.is(
    counts.reduce((sum, count) => sum + count),
    5,
  )
})

test.run()
