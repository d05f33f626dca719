import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../src/core/limits.ts'
import type { Catalog } from '../../src/core/catalog.ts'
import { columnType } from '../../src/core/relation.ts'
import type { PublishedRelation, Snapshot } from '../../src/core/snapshot.ts'
import type { SeenState } from '../../src/http/side-door.ts'
import { describeText, listText } from '../../src/mcp/descriptions.ts'
import { modelName } from '../support/model-name.ts'

const columns = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    name: `column_number_${i}`,
    type: columnType('BIGINT'),
    nullable: true,
    description: `What the column with the number ${i} has in it, and from when on`,
  }))

const relation = (i: number, { columns: count = 12, words = 20 } = {}): PublishedRelation => ({
  model: modelName(`mart.sales_by_some_dimension_${i}`),
  file: 'x.duckdb',
  bytes: 1,
  rows: 1_234_567 + i,
  key: ['column_number_0'],
  description: words === 0 ? null : `Sales ${i} ${'word '.repeat(words)}`.trim(),
  columns: columns(count),
})

function state(relations: readonly PublishedRelation[]): SeenState {
  const snapshot: Snapshot = {
    id: 'abcdef',
    publishedAt: new Date('2026-01-02T03:04:05Z'),
    runId: 'r',
    relations,
  }
  const properties = relations[0]!.columns.map(({ name, description }) => {
    return { name, type: 'Edm.Int64', nullable: true, description: description ?? null }
  })
  const shapeOf = () => ({
    key: ['column_number_0'],
    properties,
    navigation: [],
    measures,
    dimensions: ['country'],
    levels: [{ name: 'geo', columns: ['country', 'city'] }],
    trees: [{ name: 'org', node: 'column_number_0' }],
  })
  const measures = [
    { name: 'revenue', type: 'Edm.Decimal', text: 'sum(amount)', unit: 'EUR', description: 'Paid' },
  ]
  return { snapshot, part: '', shapeOf }
}

const many = (count: number) => state(Array.from({ length: count }, (_, i) => relation(i)))
const tokensOf = (text: string) => Buffer.byteLength(text) / 4

test('a list of 200 sets takes at most 4,000 tokens and has each with a part of its description', () => {
  const text = listText(many(200), '')
  assert.ok(tokensOf(text) <= 4000, `${tokensOf(text)}`)
  const lines = text.split('\n')
  assert.is(lines.length, 201)
  for (const line of lines.slice(1)) assert.match(line, /^mart_sales_\w+ \(\d+ rows\): Sales \d+ /)
  assert.match(listText(many(60), ''), /: Sales 7 .* measures revenue$/m)
})

test('a short list has all columns, a long one says how many sets it leaves out and how to find them', () => {
  assert.match(listText(many(5), ''), /\[column_number_0,.*column_number_11\] measures revenue$/m)
  assert.match(listText(many(5), 'REVEN'), /^5 sets found,/)
  const text = listText(many(2000), '')
  assert.ok(tokensOf(text) <= 4000)
  const lines = text.split('\n')
  const [, left] = /^… (\d+) more sets; find them with "search"$/.exec(lines.at(-1)!)!
  assert.is(lines.length - 2 + Number(left), 2000)
  assert.match(listText(many(2000), 'DIMENSION_1999'), /^1 sets found,/)
  assert.match(listText(many(3), 'column_number_3'), /^3 sets found,/)
  assert.match(listText(many(3), 'nothing'), /^0 sets found,/)
})

const catalog = (found: Partial<Catalog>): Catalog => ({
  format: 1,
  project: 'p',
  shows: 'project',
  is_whole: true,
  snapshot: 'abcdef',
  published_at: '',
  run_id: 'r',
  sets: [],
  models: [],
  sources: [],
  states: {},
  runs: [],
  last_run: null,
  rejected: [],
  ...found,
})

const NAME = 'mart.sales_by_some_dimension_0'
const model: Catalog['models'][number] = {
  name: NAME,
  kind: 'merge',
  description: null,
  owner: null,
  tags: [],
  set: 'mart_sales_by_some_dimension_0',
  depends_on: ['core.orders'],
  sources: [],
  columns: columns(2).map((column) => ({
    ...column,
    lineage: [{ model: 'core.orders', column: 'amount' }],
  })),
  checks: [{ severity: 'warn', text: 'amount >= 0' }],
  path: null,
  sql: null,
}
const built = {
  run_id: 'r',
  at: '2026-01-02T03:00:00Z',
  status: 'built',
  because: '',
  ms: 1,
  warnings: ['amount >= 0: 3 rows'],
  warned: 1,
  builds: [{ at: '2026-01-02T03:00:00Z', rows: 1, ms: 1 }],
  fresh_at: '2026-01-02T02:59:00Z',
  fresh_within: 60,
} as const

test('a set is described with freshness, checks and their results, lineage, columns', () => {
  const about = catalog({ models: [model], states: { [NAME]: built } })
  const text = describeText(state([relation(0, { columns: 2 })]), about, NAME)
  for (const part of [
    'mart_sales_by_some_dimension_0, snapshot abcdef, published 2026-01-02T03:04:05.000Z',
    '1234567 rows, key column_number_0, merge model mart.sales_by_some_dimension_0',
    'freshness: built by the run of 2026-01-02T03:00:00Z, last built 2026-01-02T03:00:00Z, complete up to 2026-01-02T02:59:00Z, promised within 60 s',
    'checks, 1 warned, the others passed:',
    '  amount >= 0 (warn)',
    '  warned: amount >= 0: 3 rows',
    'made from: core.orders',
    'measures, for apply by their names as in aggregate(revenue), mostly by country:',
    '  revenue Edm.Decimal in EUR = sum(amount): Paid',
    'levels country > city, for subtotals as in groupby((rollup(geo)),aggregate($count as n))',
    'rows are trees, as in descendants($root/mart_sales_by_some_dimension_0,org,column_number_0,filter(…),keep start)',
    '  column_number_1 Edm.Int64, from core.orders.amount: What the column',
  ])
    assert.ok(text.includes(part), `${part}\nnot in\n${text}`)
  const failed = { ...built, status: 'failed', because: 'a check failed' } as const
  const after = catalog({ models: [model], states: { [NAME]: failed } })
  assert.match(
    describeText(state([relation(0)]), after, NAME),
    /the last build failed, and these rows are of the one before/,
  )
})

test('a set with thousands of columns is cut, and says so', () => {
  const text = describeText(state([relation(0, { columns: 5000 })]), catalog({}), NAME)
  assert.ok(Buffer.byteLength(text) <= limits.assistantDescriptionBytes)
  const lines = text.split('\n')
  const [, left] = /^… (\d+) more lines$/.exec(lines.at(-1)!)!
  assert.ok(Number(left) > 4000)
})

test.run()
