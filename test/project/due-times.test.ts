import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { cronTimes, type DueAfter, everyInterval } from '../../src/project/schedule.ts'

/** As somebody sees them who asks again at each of them, and in between. */
function timesFrom(dueAfter: DueAfter, from: string, count: number): readonly string[] {
  const times: string[] = []
  for (let at = Date.parse(from); times.length < count;) {
    const due = dueAfter(at)
    assert.is(dueAfter((at + due) / 2), due, 'between two times')
    times.push(new Date(due).toISOString().slice(0, 16))
    at = due
  }
  return times
}

test('an interval counts from midnight UTC, whenever it is asked', () => {
  const every = everyInterval(5 * 60_000)
  assert.is(every(Date.parse('2026-03-28T14:02:07Z')), Date.parse('2026-03-28T14:05:00Z'))
  assert.is(every(Date.parse('2026-03-28T14:05:00Z')), Date.parse('2026-03-28T14:10:00Z'))
})

test('a cron line is read in its time zone', () => {
  const nightly = cronTimes('0 3 * * *', 'Asia/Kolkata')
  assert.equal(timesFrom(nightly, '2026-01-01T00:00:00Z', 1), ['2026-01-01T21:30'])
})

test('a time that summer time leaves out comes when the clocks change', () => {
  const nightly = cronTimes('30 2 * * *', 'Europe/Oslo')
  assert.equal(timesFrom(nightly, '2026-03-28T12:00:00Z', 2), [
    '2026-03-29T01:00',
    '2026-03-30T00:30',
  ])
})

test('a time that comes twice in autumn counts once', () => {
  const nightly = cronTimes('30 2 * * *', 'Europe/Oslo')
  assert.equal(timesFrom(nightly, '2026-10-24T12:00:00Z', 2), [
    '2026-10-25T00:30',
    '2026-10-26T01:30',
  ])
})

test('a time of each hour goes on through both changes', () => {
  const halves = cronTimes('*/30 * * * *', 'Europe/Oslo')
  const inAutumn = timesFrom(halves, '2026-10-24T23:40:00Z', 5)
  assert.equal(inAutumn.slice(0, 2), ['2026-10-25T00:00', '2026-10-25T00:30'])
  assert.equal(inAutumn.slice(2), ['2026-10-25T01:00', '2026-10-25T01:30', '2026-10-25T02:00'])
  assert.equal(timesFrom(halves, '2026-03-29T00:10:00Z', 3), [
    '2026-03-29T00:30',
    '2026-03-29T01:00',
    '2026-03-29T01:30',
  ])
})

test('leap days come, days that no month has are refused', () => {
  assert.equal(timesFrom(cronTimes('0 0 29 2 *', 'UTC'), '2026-03-01T00:00:00Z', 1), [
    '2028-02-29T00:00',
  ])
  for (const line of [
    '0 0 30 2 *',
    '0 0 31 4,6 *',
    '0 0 * *',
    '* * * * * *',
    '61 * * * *',
    '@reboot',
    '',
  ])
    assert.throws(() => cronTimes(line, 'UTC'), line)
  assert.throws(() => cronTimes('0 0 30 2 *', 'UTC'), 'no month has such a day')
  assert.equal(timesFrom(cronTimes('@daily', 'UTC'), '2026-03-01T05:00:00Z', 1), [
    '2026-03-02T00:00',
  ])
})

test.run()
