import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  indexOf,
  pointsBetween,
  startOf,
  timeGroups,
  timeUnits,
  unitBetween,
  unitLabel,
} from '../../../../src/explorer/page/chart/time-units.ts'

test('the finest unit is taken that makes no more than 400 points', () => {
  const unit = (least: string, greatest: string, hasTime = true) =>
    unitBetween(least, greatest, { hasTime })
  assert.is(unit('2026-01-01T00:00:00Z', '2026-01-02T12:00:00Z'), 'hour')
  assert.is(unit('2026-01-01', '2026-01-02', false), 'day')
  assert.is(unit('2026-01-01T00:00:00Z', '2026-01-25T00:00:00Z'), 'day')
  assert.is(unit('2025-01-01', '2026-02-01', false), 'day')
  assert.is(unit('2025-01-01', '2026-02-09', false), 'week')
  assert.is(unit('2019-01-01T00:00:00Z', '2026-02-09T00:00:00Z'), 'week')
  assert.is(unit('2010-01-01', '2026-02-09', false), 'month')
  assert.is(unit('1950-01-01', '2026-02-09', false), 'quarter')
  assert.is(unit('0001-01-01', '9999-12-31', false), 'year')
  assert.is(unit('2026-01-01T08:00:00Z', '2026-01-01T08:00:00Z'), 'hour')
})

test('a column with the name of a unit is not cut to a finer one', () => {
  const unit = (name: string, least: string, greatest: string, hasTime = false) =>
    unitBetween(least, greatest, { hasTime, name })
  assert.is(unit('month', '2024-01-01', '2025-11-01'), 'month')
  assert.is(unit('Quarter', '2024-01-01', '2024-10-01'), 'quarter')
  assert.is(unit('month', '1950-01-01', '2026-02-01'), 'quarter')
  assert.is(unit('hour', '2026-01-01T00:00:00Z', '2026-01-09T00:00:00Z', true), 'hour')
  assert.is(unit('month_of', '2025-01-01', '2026-02-01'), 'day')
})

test('a unit ends where the next one begins, before 1970 too', () => {
  const times = ['0044-03-15T12:00:00Z', '1969-12-31T23:59:59.999Z', '2024-02-29T11:59:59Z']
  for (const time of times)
    for (const unit of timeUnits) {
      const at = Date.parse(time)
      const index = indexOf(at, unit)
      assert.ok(startOf(index, unit) <= at && at < startOf(index + 1, unit), `${time} ${unit}`)
      assert.is(indexOf(startOf(index, unit), unit), index)
    }
  assert.is(new Date(startOf(indexOf(Date.parse('2026-03-15'), 'week'), 'week')).getUTCDay(), 1)
  assert.is(pointsBetween('2026-03-14', '2026-03-16', 'week'), 2)
})

test('units are named', () => {
  const name = (unit: (typeof timeUnits)[number]) =>
    unitLabel(indexOf(Date.parse('2026-03-15T19:01:41Z'), unit), unit)
  assert.equal(timeUnits.map(name), [
    '2026-03-15 19:00',
    '2026-03-15',
    'week of 2026-03-09',
    '2026-03',
    '2026 Q1',
    '2026',
  ])
  assert.is(unitLabel(indexOf(Date.parse('0044-03-15'), 'month'), 'month'), '0044-03')
})

test('the keys of a group are read back to the number of its unit', () => {
  const index = (unit: (typeof timeUnits)[number], ...values: readonly unknown[]) => {
    const groups = timeGroups('t', unit, { hasTime: true, name: (wanted) => wanted })
    assert.is(groups.keys.length, values.length, unit)
    return groups.indexOf(values)
  }
  const at = Date.parse('2026-08-15T19:01:41Z')
  assert.is(index('hour', '2026-08-15', 19), indexOf(at, 'hour'))
  assert.is(index('day', '2026-08-15'), indexOf(at, 'day'))
  assert.is(index('month', 2026, 8), indexOf(at, 'month'))
  assert.is(index('quarter', 2026, '2'), indexOf(at, 'quarter'))
  assert.is(index('year', 2026), indexOf(at, 'year'))
  assert.is(index('month', null, null), null)
})

test.run()
