import * as assert from 'uvu/assert'
import { test } from 'uvu'
import {
  describeChart,
  type Method,
  methodsFor,
  proposals,
  readChartState,
  writeChartState,
} from '../../../../src/explorer/page/chart/chart-state.ts'
import type { TypedColumn } from '../../../../src/explorer/page/model/schema.ts'

const column = (name: string, edm: string, scale?: number): TypedColumn => ({
  name,
  edm: `Edm.${edm}`,
  isList: false,
  scale,
})

const NO_MEASURES = { measures: [], dimensions: [] }

const read = (query: string) => readChartState(new URLSearchParams(query))

test('the state of a chart is read from its address, and written back', () => {
  const query =
    'x=placed_at&y=goods_total&method=average&by=status&per=month&first=7&$filter=a eq 1&compare=before'
  const state = read(query)
  assert.equal(state, {
    x: 'placed_at',
    y: 'goods_total',
    method: 'average',
    by: 'status',
    per: 'month',
    first: 7,
    filter: 'a eq 1',
    isCompared: true,
  })
  const written = new URLSearchParams(writeChartState(state) as Record<string, string>)
  assert.equal(readChartState(written), state)
})

test('what an address says wrongly counts as not said', () => {
  const state = read('method=drop&per=century&first=-3&y=')
  assert.equal([state.method, state.per, state.first, state.y], ['count', null, 20, null])
  assert.is(read('first=1000000').first, 500)
  assert.is(read('y=price').method, 'sum')
})

test('what would be so anyway is not in the address', () => {
  const written = Object.entries(writeChartState(read('x=a&method=count')))
  assert.equal(
    written.filter(([, value]) => value !== undefined),
    [['x', 'a']],
  )
})

test('measures come first, by the time and the dimension that the project names', () => {
  const columns = [column('city', 'String'), column('country', 'String'), column('at', 'Date')]
  const set = { columns, key: [], foreignKeys: [], measures: ['revenue', 'margin'] }
  const shown = (dimensions: readonly string[]) =>
    proposals({ ...set, dimensions })
      .slice(0, 4)
      .map(({ x, y, method }) => `${method} ${y ?? 'rows'} by ${x}`)
  assert.equal(shown(['at', 'country']), [
    'measure revenue by at',
    'measure margin by at',
    'measure revenue by country',
    'count rows by at',
  ])
  assert.equal(shown(['gone']), [
    'measure revenue by at',
    'measure margin by at',
    'measure revenue by city',
    'count rows by at',
  ])
})

test('a measure is described by its label and unit, all else by what is made of it', () => {
  const measures = [{ name: 'revenue', description: undefined, label: 'Revenue', unit: 'EUR' }]
  const shown = (y: string | null, method: Method) =>
    describeChart({ x: 'country', y, method }, measures)
  assert.is(shown('revenue', 'measure'), 'Revenue (EUR) by country')
  assert.is(shown('margin', 'measure'), 'margin by country')
  assert.is(shown('total', 'average'), 'average of total by country')
  assert.is(shown(null, 'count'), 'rows by country')
  assert.is(read('x=country&y=revenue&method=measure').method, 'measure')
})

test('charts are proposed: amounts over time first, and no sums of keys', () => {
  const columns = [
    column('order_id', 'Int32'),
    column('changed_at', 'DateTimeOffset'),
    column('customer_id', 'Int32'),
    column('status', 'String'),
    column('goods_total', 'Decimal', 2),
    column('placed_at', 'DateTimeOffset'),
  ]
  const found = proposals({
    ...NO_MEASURES,
    columns,
    key: ['order_id'],
    foreignKeys: ['customer_id'],
  })
  assert.equal(
    found.map(({ x, y, method }) => `${method} ${y ?? 'rows'} by ${x}`),
    [
      'sum goods_total by placed_at',
      'count rows by placed_at',
      'count rows by status',
      'sum goods_total by status',
      'count rows by goods_total',
      'count rows by changed_at',
    ],
  )
})

const proposed = (columns: readonly TypedColumn[], key: readonly string[]) =>
  proposals({ ...NO_MEASURES, columns, key, foreignKeys: [] }).map(
    ({ x, y, method }) => `${method} ${y ?? 'rows'} by ${x}`,
  )

test('what has a level is averaged, and a part of a key is grouped by', () => {
  const stocks = [column('symbol', 'String'), column('day', 'Date'), column('price', 'Decimal', 2)]
  assert.equal(proposed(stocks, ['symbol', 'day']), [
    'average price by day',
    'count rows by day',
    'count rows by symbol',
    'average price by symbol',
    'count rows by price',
  ])
  const movies = [
    column('movie_id', 'Int32'),
    column('title', 'String'),
    column('genre', 'String'),
    column('usGross', 'Int64'),
    column('imdb_rating', 'Double'),
    column('separate', 'Double'),
  ]
  assert.equal(proposed(movies, ['movie_id']).slice(0, 3), [
    'count rows by genre',
    'count rows by title',
    'sum usGross by genre',
  ])
  assert.equal(
    proposed([...movies.slice(0, 3), ...movies.slice(4)], ['movie_id'])[2],
    'average imdb_rating by genre',
  )
})

test('a set of keys alone has a chart too, one of bytes has none', () => {
  const ids = { ...NO_MEASURES, key: ['a'], foreignKeys: [] }
  for (const type of ['Int32', 'Guid'])
    assert.equal(proposals({ columns: [column('a', type)], ...ids }), [
      { x: 'a', y: null, method: 'count' },
    ])
  assert.equal(proposals({ columns: [column('a', 'Binary')], ...ids }), [])
})

test('only numbers are added up', () => {
  assert.ok(methodsFor(column('a', 'Decimal')).includes('sum'))
  assert.equal(methodsFor(column('a', 'Date')), ['count', 'countdistinct'])
})

test.run()
