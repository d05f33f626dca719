import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ScheduledRun } from '../../src/core/schedule.ts'
import { cronTimes, everyInterval } from '../../src/project/schedule.ts'
import { Timetable } from '../../src/supervisor/scheduled-runs.ts'

const MINUTE = 60_000
const at = (time: string) => Date.parse(`2026-03-28T${time}Z`)
const named = (name: string, dueAfter: ScheduledRun['dueAfter']): ScheduledRun => ({
  name,
  when: name,
  select: [],
  exclude: [],
  dueAfter,
})
const often = named('often', everyInterval(5 * MINUTE))
const nightly = named('nightly', cronTimes('0 3 * * *', 'UTC'))

/** Name, time and missed times of what is due. */
const taken = (table: Timetable, time: string) =>
  table
    .take(at(time))
    .map(({ run, dueMs, missed }) =>
      [run.name, new Date(dueMs).toISOString().slice(11, 16), missed].join(' '),
    )

test('each run is due once at each of its times', () => {
  const table = new Timetable([often, nightly], at('02:52:00'))
  assert.is(table.nextMs(), at('02:55:00'))
  assert.equal(taken(table, '02:54:59'), [])
  assert.equal(taken(table, '02:55:00'), ['often 02:55 0'])
  assert.equal(taken(table, '02:55:01'), [])
  assert.equal(taken(table, '03:00:01'), ['often 03:00 0', 'nightly 03:00 0'])
  assert.is(table.nextOf(nightly), at('03:00:00') + 24 * 60 * MINUTE)
})

test('after a sleep each run is due once, and what it missed is counted', () => {
  const table = new Timetable([often, nightly], at('02:00:00'))
  assert.equal(taken(table, '07:01:00'), ['often 07:00 59', 'nightly 03:00 0'])
  assert.equal(taken(table, '07:01:01'), [])
  assert.is(table.nextMs(), at('07:05:00'))
})

test('a time that passed while no supervisor was at work is made up for once', () => {
  const expected = new Map([
    ['nightly', at('03:00:00')],
    ['often', at('09:10:00')],
  ])
  const table = new Timetable([often, nightly], at('09:07:00'), expected)
  assert.equal(taken(table, '09:07:00'), ['nightly 03:00 0'])
  assert.equal(taken(table, '09:10:00'), ['often 09:10 0'])
})

test('a clock that is set back by an hour does not stop the runs for an hour', () => {
  const table = new Timetable([often], at('14:00:00'))
  assert.equal(taken(table, '14:05:00'), ['often 14:05 0'])
  assert.equal(taken(table, '13:06:00'), [])
  assert.is(table.nextMs(), at('13:10:00'))
})

test('a clock that is set back by a second makes nothing due again', () => {
  const table = new Timetable([often], at('14:00:00'))
  assert.equal(taken(table, '14:05:00'), ['often 14:05 0'])
  assert.equal(taken(table, '14:04:59'), [])
  assert.equal(taken(table, '14:05:00'), [])
  assert.is(table.nextMs(), at('14:10:00'))
})

test('a long sleep is not counted to its end', () => {
  const table = new Timetable([named('second', everyInterval(1000))], at('00:00:00'))
  assert.equal(
    table.take(at('00:00:00') + 365 * 24 * 60 * MINUTE).map(({ missed }) => missed),
    [10_000],
  )
})

test.run()
