import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { writeFilter } from '../../../../src/explorer/page/address/filter.ts'
import { incompleteEnds } from '../../../../src/explorer/page/chart/incomplete.ts'
import { conditionFor, withCondition } from '../../../../src/explorer/page/chart/pick.ts'
import { binsBetween } from '../../../../src/explorer/page/chart/steps.ts'
import { indexOf, type TimeUnit } from '../../../../src/explorer/page/chart/time-units.ts'

const typeOf = (column: string) =>
  ({ at: 'Edm.DateTimeOffset', day: 'Edm.Date', n: 'Edm.Int32' })[column] ?? 'Edm.String'
const mark = (index: unknown) => ({ index, text: '', isWord: false })
const filterOf = (
  x: string,
  grouping: Parameters<typeof conditionFor>[1],
  from: unknown,
  to = from,
) => {
  const condition = conditionFor(x, grouping, [mark(from), mark(to)], typeOf)
  return condition && writeFilter([condition], typeOf)
}

test('a mark of a chart is a filter, and so is a stroke over several', () => {
  assert.is(filterOf('genre', { by: 'value' }, "it's"), "genre eq 'it''s'")
  assert.is(filterOf('genre', { by: 'value' }, null), 'genre eq null')
  assert.is(filterOf('genre', { by: 'value' }, Symbol('others')), undefined)
  const bins = binsBetween(0, 20, { most: 10, isWhole: true })
  assert.is(filterOf('n', { by: 'bins', bins }, 2, 4), 'n ge 4 and n lt 10')
  const month = { by: 'time', unit: 'month' } as const
  const january = indexOf(Date.parse('2024-01-15'), 'month')
  assert.is(
    filterOf('at', month, january, january + 1),
    'at ge 2024-01-01T00:00:00Z and at lt 2024-03-01T00:00:00Z',
  )
  assert.is(filterOf('day', month, january), 'day ge 2024-01-01 and day le 2024-01-31')
  const hour = indexOf(Date.parse('2024-01-01T05:00:00Z'), 'hour')
  assert.is(
    filterOf('at', { by: 'time', unit: 'hour' }, hour),
    'at ge 2024-01-01T05:00:00Z and at lt 2024-01-01T06:00:00Z',
  )
})

test('a range takes the place of the one before', () => {
  const range = (from: string, to: string) =>
    ({ kind: 'test', column: 'day', operator: 'within', values: [from, to] }) as const
  const other = { kind: 'test', column: 'n', operator: 'eq', values: ['1'] } as const
  const narrow = range('2024-01-02', '2024-01-03')
  assert.equal(withCondition([range('2024-01-01', '2024-12-31'), other], 'day', narrow), [
    other,
    narrow,
  ])
})

test('periods that data begin or end within are incomplete', () => {
  const ends = (unit: TimeUnit, from: string, to: string, isAsked = false) => {
    const marks = [from, to].map((day) => mark(indexOf(Date.parse(day), unit)))
    const { first, last } = incompleteEnds(marks, unit, { from, to, isAsked }, '2026-06-10')
    return `${first} ${last}`
  }
  assert.is(ends('month', '2024-01-03', '2024-05-31'), 'true false')
  assert.is(ends('month', '2024-01-01', '2024-05-30'), 'false true')
  assert.is(ends('week', '2024-01-01', '2024-01-14'), 'false false')
  assert.is(ends('day', '2024-01-03', '2024-05-30'), 'false false')
  assert.is(ends('day', '2024-01-03', '2026-06-10'), 'false true')
  assert.is(ends('year', '2024-01-01', '2026-12-31'), 'false true')
  // Rows of months have the first day of each; who asks for these days has a part of the last month.
  assert.is(ends('month', '2024-01-01', '2024-05-01'), 'false false')
  assert.is(ends('month', '2024-01-01', '2026-06-01'), 'false true')
  assert.is(ends('month', '2024-01-02', '2024-05-01'), 'true true')
  assert.is(ends('month', '2024-01-01', '2024-05-01', true), 'false true')
})

test.run()
