import * as assert from 'uvu/assert'
import { test } from 'uvu'
import { axisFor } from '../../../../src/explorer/page/chart/steps.ts'
import {
  type AnswerRow,
  chartData,
  chartRequest,
  chartTable,
  csvOf,
  type Grouping,
} from '../../../../src/explorer/page/chart/chart-data.ts'
import { readChartState } from '../../../../src/explorer/page/chart/chart-state.ts'

const x = { name: 'x', edm: 'Edm.String', isList: false, scale: undefined }

function draw(query: string, grouping: Grouping, rows: readonly AnswerRow[]) {
  const state = readChartState(new URLSearchParams(`x=x&${query}`))
  const edm = grouping.by === 'time' ? 'Edm.Date' : 'Edm.String'
  const request = chartRequest(state, grouping, { x: { ...x, edm }, names: ['x', 'y', 'c'] })
  return chartData(state, grouping, request, rows)
}

const texts = (labels: readonly { readonly text: string }[]) => labels.map(({ text }) => text)

test('what is not among the greatest is one bar, exactly', () => {
  const data = draw('y=y&first=2', { by: 'value' }, [
    { x: 'a', value: '9007199254740993.10' },
    { x: null, value: '5.00' },
    { value: '9007199254741000.10', groups: '7' },
  ])
  assert.equal(texts(data.marks), ['a', 'null', '5 others'])
  assert.equal(data.series[0]!.values, ['9007199254740993.10', '5.00', '2.00'])
  assert.equal(
    data.marks.map(({ isWord }) => isWord),
    [false, true, true],
  )
})

test('what cannot be added up has no bar of others, and it is said', () => {
  const rows = [{ x: 'a', value: '3' }, { groups: '7' }]
  const data = draw('y=y&method=average&first=1', { by: 'value' }, rows)
  assert.equal(texts(data.marks), ['a'])
  assert.equal(data.notes, ['6 more values are not in the picture.'])
})

test('days without rows count nothing, and have no average', () => {
  const rows = [
    { x: '2026-03-01', value: '5' },
    { x: '2026-03-04', value: '7' },
    { x: null, value: '1' },
  ]
  const sums = draw('y=y', { by: 'time', unit: 'day' }, rows)
  assert.equal(sums.series[0]!.values, ['5', null, null, '7'])
  assert.is(sums.marks[1]!.text, '2026-03-02')
  assert.equal(sums.notes, ['Rows without a time are not in the picture.'])
  const means = draw('y=y&method=average', { by: 'time', unit: 'day' }, rows)
  assert.equal(means.series[0]!.values, ['5', null, null, '7'])
})

test('colours are the greatest seven, and the others together', () => {
  const rows = Array.from({ length: 9 }, (_, i) => [
    { x: 'a', c: `c${i}`, value: `${i + 1}` },
    { x: 'b', c: `c${i}`, value: '0.10' },
  ]).flat()
  const data = draw('y=y&by=c', { by: 'value' }, rows)
  assert.is(data.series.length, 8)
  assert.equal(data.series[0], { label: { text: 'c8', isWord: false }, values: ['9', '0.10'] })
  assert.equal(data.series[7], { label: { text: 'others', isWord: true }, values: ['3', '0.20'] })
  assert.ok(data.isStacked)
})

test('a value that is called "others" is not taken for the others', () => {
  const data = draw('by=c', { by: 'value' }, [
    { x: 'a', c: 'others', value: '1' },
    { x: 'a', c: '', value: '2' },
    { x: 'a', c: null, value: '3' },
  ])
  assert.equal(
    data.series.map(({ label }) => `${label.text} ${label.isWord}`),
    ['null true', 'empty text true', 'others false'],
  )
})

test('bars below zero are not put on top of each other', () => {
  const rows = [
    { x: 'a', c: 'c', value: '-1' },
    { x: 'a', c: 'd', value: '2' },
  ]
  assert.not.ok(draw('y=y&by=c', { by: 'value' }, rows).isStacked)
})

test('CSV has the values as they came', () => {
  const data = draw('y=y', { by: 'value' }, [
    { x: 'say "hi", <b>', value: '1.50' },
    { x: null, value: null },
    { x: '', value: '2' },
  ])
  const csv = csvOf(chartTable(data, 'x', 'sum of y'))
  assert.is(csv, '"x","sum of y"\r\n"say ""hi"", <b>",1.50\r\n,\r\n"",2\r\n')
})

test('an axis reaches from zero to a round number above', () => {
  assert.equal(texts(axisFor([3, 41]).marks), ['0', '10', '20', '30', '40', '50'])
  assert.equal(texts(axisFor([-1, 1e7]).marks), ['-5M', '0', '5M', '10M'])
  assert.is(axisFor([]).greatest, 1)
})

test.run()
