import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { readSchema } from '../../../../src/explorer/page/model/schema.ts'
import { nearestNames } from '../../../../src/explorer/page/model/distance.ts'
import { searchSets } from '../../../../src/explorer/page/model/search.ts'
import { ago, groupDigits, showBytes, showTime } from '../../../../src/explorer/page/model/show.ts'
import { csdl } from '../rows/example-csdl.ts'

const { sets } = readSchema(csdl)
const titles = (text: string) => searchSets(sets, text).map(({ title }) => title)

test('sets, columns and what is said of them are found, names first', () => {
  assert.equal(titles('customer'), ['customer_id', 'customer_id', 'core_customers'])
  assert.equal(titles('tax'), ['total'])
  assert.equal(titles('ORDERS total'), ['total'])
  assert.equal(titles('core_orders'), ['core_orders'])
  assert.equal(titles('nothing'), [])
  assert.equal(titles('  '), [])
})

test('two typing errors are forgiven, words stand in a set and its column, and a hit leads to it', () => {
  assert.equal(titles('custmoer_di'), ['customer_id', 'customer_id'])
  assert.equal(titles('cutsomer'), ['core_customers', 'customer_id', 'customer_id'])
  assert.equal(titles('cuxxomxr'), [])
  assert.equal(titles('ordres totel'), ['total'])
  // Where all is spelled well nothing similar is shown.
  assert.equal(titles('total'), ['total'])
  const [hit] = searchSets(sets, 'orders total')
  assert.equal(hit!.route, { view: 'columns', set: 'core_orders', query: 'column=total' })
})

test('models, owners and tags lead to sets, and to lineage where there is no set', () => {
  const model = (name: string, set: string | null) => ({
    name,
    kind: 'table' as const,
    description: null,
    owner: 'Finance',
    tags: ['geo'],
    set,
    depends_on: [],
    sources: [],
    columns: [],
    checks: [],
    path: null,
    sql: null,
  })
  const catalog = { models: [model('chain.step_20', null), model('core.orders', 'core_orders')] }
  const routes = (text: string) => searchSets(sets, text, catalog).map(({ route }) => route.view)
  for (const words of ['finance', 'geo', 'Finnance'])
    assert.equal(routes(words), ['rows', 'lineage'])
  assert.equal(routes('step_20'), ['lineage'])
  assert.equal(routes('core.orders'), ['rows'])
})

test('a model whose set is not published yet is found, and leads to lineage', () => {
  const broken = {
    name: 'mart.pending',
    kind: 'table' as const,
    description: null,
    owner: null,
    tags: [],
    set: 'mart_pending',
    depends_on: [],
    sources: [],
    columns: [],
    checks: [],
    path: null,
    sql: null,
  }
  const [hit] = searchSets(sets, 'pending', { models: [broken] })
  assert.equal(hit?.route, { view: 'lineage', query: 'model=mart.pending' })
  assert.is(hit?.detail, 'mart_pending: not published yet')
})

test('a name that is meant is near', () => {
  const names = ['core_orders', 'core_customers', 'mart_sales']
  assert.equal(nearestNames(names, 'core_ordres'), ['core_orders'])
  assert.equal(nearestNames(names, 'CORE_ORDERS'), ['core_orders'])
  assert.equal(nearestNames(names, '<img>'), [])
})

test('numbers keep their digits', () => {
  assert.is(
    groupDigits('9223372036854775807'),
    '9 223 372 036 854 775 807'.replaceAll(' ', '\u202F'),
  )
  assert.is(groupDigits('-1234567.50'), '-1\u202F234\u202F567.50')
  assert.is(groupDigits('250.50'), '250.50')
  assert.is(groupDigits('NaN'), 'NaN')
})

test('times are told as they were sent, and how long ago', () => {
  assert.is(showTime('2026-01-31T08:30:00.123456Z'), '2026-01-31 08:30:00.123456Z')
  const minute = 60_000
  assert.is(ago(0, 20_000), 'just now')
  assert.is(ago(0, 3 * minute), '3 min ago')
  assert.is(ago(0, 5 * 60 * minute), '5 h ago')
  assert.is(ago(0, 72 * 60 * minute), '3 days ago')
  assert.is(ago(9_000, 0), 'just now')
})

test('bytes have two digits or so', () => {
  assert.equal([12, 1_500, 15_000, 1_500_000].map(showBytes), ['12 B', '1.5 kB', '15 kB', '1.5 MB'])
})

test.run()
