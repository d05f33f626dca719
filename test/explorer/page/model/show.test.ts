import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { shortNumber } from '../../../../src/explorer/page/chart/steps.ts'
import {
  formatNumber,
  sayDuration,
  shortTime,
  unfoldJson,
} from '../../../../src/explorer/page/model/show.ts'

test('durations are said in words', () => {
  assert.is(sayDuration('PT259200S'), '3 d')
  assert.is(sayDuration('P1DT2H3M4.50S'), '1 d 2 h 3 min 4.5 s')
  assert.is(sayDuration('-PT90S'), '-1 min 30 s')
  assert.is(sayDuration('PT0S'), '0 s')
  assert.is(sayDuration('PT0.000001S'), '0.000001 s')
  assert.is(sayDuration('PT99999999999999999999S'), 'PT99999999999999999999S')
  assert.is(sayDuration('soon'), 'soon')
})

test('a format says how many digits a number has', () => {
  for (const [text, format, shown] of [
    ['0.46247003910685', '0.0%', '46.2%'],
    ['0.46247003910685', '0 %', '46 %'],
    [
      '12345678901234567890.125',
      '#,##0.00',
      '12\u202F345\u202F678\u202F901\u202F234\u202F567\u202F890.13',
    ],
    ['-1234.5', '0', '-1\u202F235'],
    ['1.5e3', '0.0', '1\u202F500.0'],
    ['INF', '0.0', 'INF'],
    ['12345.678', undefined, '12\u202F345.678'],
    ['12345.678', '<b>', '12\u202F345.678'],
    ['–', '0%', '–'],
  ] as const)
    assert.is(formatNumber(text, format), shown, text)
})

test('JSON is unfolded without a changed digit', () => {
  const text = '{"a": 12345678901234567890.10, "b":[1,{"c":"x, {y}: \\\"z"}], "d": { }}'
  assert.is(
    unfoldJson(text),
    `{
  "a": 12345678901234567890.10,
  "b": [
    1,
    {
      "c": "x, {y}: \\"z"
    }
  ],
  "d": {}
}`,
  )
  for (const other of ['{a}', 'text', '12', '[1'] as const) assert.is(unfoldJson(other), undefined)
})

test('a bar has at most four digits', () => {
  const shown = ['241171.38551824817', '100.520000000000', '1234567', '0.00012345678', '42', '9999']
  assert.equal(shown.map(shortNumber), ['241.2K', '100.5', '1.235M', '0.0001235', '42', '9999'])
  assert.is(shortNumber('null'), 'null')
})

test('a time of today needs no day', () => {
  const now = Date.parse('2026-11-26T20:00:00Z')
  assert.is(shortTime('2026-11-26T17:40:05.000Z', now), '17:40')
  assert.is(shortTime('2026-11-25T17:40:05.000Z', now), '2026-11-25 17:40')
})

test.run()
