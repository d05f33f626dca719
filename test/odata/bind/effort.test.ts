import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../../src/core/limits.ts'
import { columnType } from '../../../src/core/relation.ts'
import { effortOf } from '../../../src/odata/bind/effort.ts'
import { bindRequest } from '../../../src/odata/bind/request.ts'
import { buildEntityModel } from '../../../src/odata/edm/entity-model.ts'
import { parseRequest } from '../../../src/odata/syntax/parse-request.ts'
import { copiesOf } from '../../../src/odata/sql/expression.ts'
import { fileRows } from '../../../src/store/files/rows.ts'
import { ROOT } from '../../support/in-memory-tables.ts'
import { modelName } from '../../support/model-name.ts'

const measure = (name: string, text: string, ...columns: readonly string[]) => ({
  name,
  text,
  sql: text,
  type: columnType('DOUBLE'),
  columns,
})

const measures = [
  measure('revenue', 'sum(amount)', 'amount'),
  measure('some', 'count(DISTINCT amount) FILTER (WHERE kind > 3)', 'kind', 'amount'),
  measure('each', '(sum(amount)) / nullif((count(*)), 0)', 'amount'),
  measure('mass', 'sum(weight)', 'weight'),
  measure('half', 'sum(amount * 0.5e0)', 'amount'),
  measure('any_one', 'first(amount)', 'amount'),
  measure('quoted', '"stddev"(amount)', 'amount'),
  measure('text', "sum(amount) + length(string_agg(kind, ','))", 'amount', 'kind'),
]

const types = { id: 'BIGINT', kind: 'BIGINT', amount: 'DECIMAL(18,2)', weight: 'DOUBLE' }

const relation = (model: string, rows: number, key: readonly string[]) => ({
  model: modelName(model),
  file: 'f',
  bytes: 0,
  rows,
  key,
  description: null,
  columns: Object.entries(types).map(([name, type]) => ({
    name,
    type: columnType(type),
    nullable: true,
  })),
  meaning: { measures, dimensions: [], time: null },
})

const NOW = new Date('2024-06-01T12:00:00Z')

const model = buildEntityModel(
  {
    id: 's',
    publishedAt: NOW,
    runId: 'r',
    relations: [
      relation('bench.sales', limits.sharedQueryRows, ['id']),
      relation('bench.few', limits.sharedQueryRows - 1, ['id']),
      relation('bench.loose', limits.sharedQueryRows * 100, []),
    ],
  },
  { stored: fileRows, signedTinyints: new Map(), clampedTimes: new Map() },
)

function effort(target: string, extent: 'page' | 'more' = 'page') {
  const url = target.replaceAll(' ', '%20')
  const bound = bindRequest(parseRequest(url, ROOT), model, { now: NOW, version: '4.01', copiesOf })
  if (!('query' in bound)) throw new Error(`${target} asks for no rows`)
  return effortOf(bound.query, extent)
}

const by = (aggregates: string, keys = 'kind') =>
  `$apply=groupby((${keys}),aggregate(${aggregates}))`

for (const target of [
  `bench_sales?${by('amount with sum as total')}`,
  `bench_sales?${by('amount with average as mean,weight with countdistinct as n,$count as rows')}`,
  `bench_sales?${by('kind with max as last')}&$filter=last gt 1&$orderby=last desc`,
  `bench_sales?$apply=filter(weight gt 3)/groupby((kind),aggregate(amount with sum as total))`,
  `bench_sales?$apply=aggregate(amount with sum as total)`,
  `bench_sales?${by('revenue')}`,
  `bench_sales?${by('some')}`,
  `bench_sales?${by('each')}`,
  `bench_loose?${by('amount with sum as total')}`,
])
  test(`threads share ${target}`, () => {
    assert.is(effort(target), 'shared')
  })

for (const target of [
  `bench_sales?${by('weight with sum as total')}`,
  `bench_sales?${by('weight with max as most')}`,
  `bench_sales?${by('amount with sum as total', 'weight')}`,
  `bench_sales?${by('weight with average as mean')}`,
  `bench_sales?${by('weight mul 2 with sum as total')}`,
  `bench_sales?${by('mass')}`,
  `bench_sales?${by('half')}`,
  `bench_sales?${by('any_one')}`,
  `bench_sales?${by('quoted')}`,
  `bench_sales?${by('text')}`,
  `bench_few?${by('amount with sum as total')}`,
  `bench_loose?$orderby=kind`,
])
  test(`one thread answers ${target}`, () => {
    assert.is.not(effort(target), 'shared')
  })

test('an export is read by one thread, in order', () => {
  assert.is(effort('bench_sales?$orderby=amount', 'more'), 'large')
})

test.run()
