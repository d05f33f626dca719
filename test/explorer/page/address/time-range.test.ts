import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { readFilter, writeFilter } from '../../../../src/explorer/page/address/filter.ts'
import {
  rangeBefore,
  readTimeRange,
  sayRange,
  timeFilter,
  writeRange,
} from '../../../../src/explorer/page/address/time-range.ts'

const today = '2024-03-15' // a Friday
const read = (text: string) => {
  const range = readTimeRange(text, today)
  return range && `${range.from}/${range.to}`
}

test('times are read as people say them, both ends included', () => {
  const cases: Readonly<Record<string, string>> = {
    today: '2024-03-15/2024-03-15',
    Yesterday: '2024-03-14/2024-03-14',
    'last 7 days': '2024-03-09/2024-03-15',
    ' last  30 days ': '2024-02-15/2024-03-15',
    'last 90 days': '2023-12-17/2024-03-15',
    'this week': '2024-03-11/2024-03-17',
    'this month': '2024-03-01/2024-03-31',
    'last month': '2024-02-01/2024-02-29',
    'this quarter': '2024-01-01/2024-03-31',
    'last quarter': '2023-10-01/2023-12-31',
    'this year': '2024-01-01/2024-12-31',
    '2001': '2001-01-01/2001-12-31',
    '0099': '0099-01-01/0099-12-31',
    '2001-05': '2001-05-01/2001-05-31',
    '2024-Q1': '2024-01-01/2024-03-31',
    '2024-q4': '2024-10-01/2024-12-31',
    '2024-02-29': '2024-02-29/2024-02-29',
    '2024-01-05 to 2024-02': '2024-01-05/2024-02-29',
    '2023..2024': '2023-01-01/2024-12-31',
  }
  for (const [text, range] of Object.entries(cases)) assert.is(read(text), range, text)
})

test('anything else is not a time', () => {
  for (const text of [
    '',
    'soon',
    '1.5.2001',
    '05/01/2001',
    '2023-02-29',
    '2024-13',
    '2024-00',
    '2024-Q5',
    'last 0 days',
    'last week days',
    '2024-02 to 2024-01',
    '0000',
    '2024-1-5',
    '20240105',
    '<b>2024</b>',
  ])
    assert.is(read(text), undefined, text)
})

test('a range is written as short as it is said, and means the same', () => {
  const cases = ['2001', '2001-05', '2024-Q1', '2024-02-29', '2024-01-05 to 2024-02-10']
  for (const text of cases) assert.is(writeRange(readTimeRange(text, today)!), text)
  assert.is(sayRange(readTimeRange('2024-01', today)!), 'January 2024')
  assert.is(sayRange(readTimeRange('2024-Q1', today)!), 'Q1 2024')
})

test('the period before is as long, and of months as many months', () => {
  const before = (text: string) => writeRange(rangeBefore(readTimeRange(text, today)!))
  assert.is(before('2024-03'), '2024-02')
  assert.is(before('2024-01'), '2023-12')
  assert.is(before('2024-Q1'), '2023-Q4')
  assert.is(before('2024'), '2023')
  assert.is(before('2024-01-05 to 2024-01-11'), '2023-12-29 to 2024-01-04')
})

const AT = 'Edm.DateTimeOffset'
const DATE = 'Edm.Date'
const filter = (operator: string, values: readonly string[], edm = AT) =>
  timeFilter('at', edm, { operator, values, today })

test('a date as the end means that whole day', () => {
  const january = 'at ge 2024-01-01T00:00:00Z and at lt 2024-02-01T00:00:00Z'
  assert.is(filter('between', ['2024-01-01', '2024-01-31']), january)
  assert.is(filter('within', ['2024-01']), january)
  assert.is(filter('eq', ['2024-01']), january)
  assert.is(filter('le', ['2024-01-31']), 'at lt 2024-02-01T00:00:00Z')
  assert.is(filter('gt', ['2024-01-31']), 'at ge 2024-02-01T00:00:00Z')
  assert.is(filter('ge', ['2024-01']), 'at ge 2024-01-01T00:00:00Z')
  assert.is(filter('lt', ['2024-01']), 'at lt 2024-01-01T00:00:00Z')
  assert.is(filter('ne', ['2024-01']), '(at lt 2024-01-01T00:00:00Z or at ge 2024-02-01T00:00:00Z)')
  assert.is(filter('within', ['2024-01'], DATE), 'at ge 2024-01-01 and at le 2024-01-31')
  assert.is(filter('gt', ['2024-01'], DATE), 'at gt 2024-01-31')
})

test('an exact time is that time', () => {
  assert.is(filter('le', ['2024-01-31 08:30']), 'at le 2024-01-31T08:30:00Z')
  assert.is(
    filter('between', ['2024-01-01 08:30', '2024-01-02T09:00:00Z']),
    'at ge 2024-01-01T08:30:00Z and at le 2024-01-02T09:00:00Z',
  )
})

test('what is not a time is refused with an example', () => {
  assert.throws(
    () => filter('eq', ['05/01/2001']),
    /"05\/01\/2001" is not a time; write one like 2026-01-31 08:30, 2026-01-31/,
  )
  assert.throws(() => filter('eq', ['2024-01-01 08:30'], DATE), /is not a time/)
  assert.throws(() => filter('between', ['2024-02', '2024-01-31']), /ends before it begins/)
})

test('the address gives the range back, of times and of dates', () => {
  const typeOf = (column: string) => ({ at: AT, day: DATE, n: 'Edm.Int32' })[column]
  for (const text of [
    'at ge 2024-01-01T00:00:00Z and at lt 2024-02-01T00:00:00Z',
    'day ge 2024-01-01 and day le 2024-01-31',
  ]) {
    const conditions = readFilter(text, typeOf)
    const column = text.split(' ')[0]!
    const values = ['2024-01-01', '2024-01-31']
    assert.equal(conditions, [{ kind: 'test', column, operator: 'within', values }])
    assert.is(writeFilter(conditions, typeOf), text)
  }
  for (const text of [
    'at ge 2024-01-01T00:00:00Z and at le 2024-02-01T00:00:00Z',
    'at ge 2024-01-01T05:00:00Z and at lt 2024-02-01T00:00:00Z',
    'at ge 2024-02-01T00:00:00Z and at lt 2024-02-01T00:00:00Z',
    'n ge 2 and n lt 5',
  ]) {
    const conditions = readFilter(text, typeOf)
    assert.not(conditions.some((one) => one.kind === 'test' && one.operator === 'within'))
    assert.is(writeFilter(conditions, typeOf), text)
  }
})

test.run()
