import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { CatalogModel, CatalogOrigin } from '../../../../src/core/catalog.ts'
import {
  columnPaths,
  downstream,
  findNodes,
  lineageGraph,
  measuresOn,
  related,
  setId,
} from '../../../../src/explorer/page/lineage/graph.ts'

type Columns = Readonly<Record<string, readonly CatalogOrigin[] | null>>

function model(
  name: string,
  reads: readonly string[],
  columns: Columns = {},
  set: string | null = null,
): CatalogModel {
  return {
    name,
    kind: 'table',
    description: null,
    owner: null,
    tags: [],
    set,
    depends_on: reads,
    sources: [],
    columns: Object.entries(columns).map(([column, lineage]) => ({
      name: column,
      type: 'INTEGER',
      nullable: true,
      lineage,
    })),
    checks: [],
    path: null,
    sql: null,
  }
}

const from = (text: string): CatalogOrigin => {
  const at = text.lastIndexOf('.')
  return { model: text.slice(0, at), column: text.slice(at + 1) }
}

const shop = lineageGraph({
  sources: [{ name: 'crm.people', columns: [{ name: 'ID', type: 'INTEGER', nullable: true }] }],
  models: [
    model('raw.orders', [], { items: [], note: [] }),
    { ...model('core.people', [], { id: [from('crm.people.id')] }), sources: ['crm.people'] },
    model(
      'core.orders',
      ['raw.orders', 'gone.model'],
      { total: [from('raw.orders.items')], odd: null },
      'core_orders',
    ),
    model(
      'mart.sales',
      ['core.orders'],
      { revenue: [from('core.orders.TOTAL')], n: [] },
      'mart_sales',
    ),
  ],
})

test('sources, models and sets are nodes, and what is not shown has no edge', () => {
  assert.equal(
    [...shop.nodes.values()].map(({ kind, name }) => `${kind} ${name}`),
    [
      'source crm.people',
      'table raw.orders',
      'table core.people',
      'table core.orders',
      'table mart.sales',
      'set core_orders',
      'set mart_sales',
    ],
  )
  assert.equal(shop.reads.get('core.orders'), ['raw.orders'])
  assert.equal(shop.readBy.get('core.orders'), ['mart.sales', setId('core_orders')])
  assert.equal(shop.reads.get('core.people'), ['crm.people'])
})

test('a chosen node lights up all that it comes from and all that comes from it', () => {
  assert.equal([...related(shop, 'core.orders')].toSorted(), [
    'core.orders',
    'mart.sales',
    'raw.orders',
    'set core_orders',
    'set mart_sales',
  ])
})

test('a column is followed from the field of an event to the properties of sets', () => {
  const { columns, edges, unknown } = columnPaths(shop, { node: 'mart.sales', column: 'revenue' })
  assert.equal(
    [...columns].map(([node, names]) => `${node}: ${names.join()}`),
    ['raw.orders: items', 'core.orders: total', 'mart.sales: revenue', 'set mart_sales: revenue'],
  )
  assert.is(edges.length, 3)
  assert.equal(unknown, [])
  const forward = columnPaths(shop, { node: 'raw.orders', column: 'items' })
  assert.ok(forward.columns.has('set core_orders') && forward.columns.has('set mart_sales'))
})

test('names of columns are compared as the engine does', () => {
  const { columns } = columnPaths(shop, { node: 'core.people', column: 'id' })
  assert.equal(columns.get('crm.people'), ['ID'])
})

test('where the origin of a column is not known, that is said', () => {
  const { unknown } = columnPaths(shop, { node: 'core.orders', column: 'odd' })
  assert.equal(unknown, [{ node: 'core.orders', column: 'odd' }])
})

test('what comes after a node is named, of a set the set alone', () => {
  const after = (id: string) => downstream(shop, id).map(({ id: one }) => one)
  assert.equal(after('raw.orders'), [
    'core.orders',
    'mart.sales',
    'set core_orders',
    'set mart_sales',
  ])
  assert.equal(after(setId('core_orders')), ['set core_orders'])
  assert.equal(after('core.people'), [])
})

test('a graph of thousands of models is walked in no time', () => {
  const models = Array.from({ length: 3000 }, (_, i) =>
    model(
      `m.m${i}`,
      [i - 1, i - 2, i - 3].filter((j) => j >= 0).map((j) => `m.m${j}`),
      { c: i === 0 ? [] : [from(`m.m${i - 1}.c`)] },
    ),
  )
  const graph = lineageGraph({ sources: [], models })
  assert.is(related(graph, 'm.m1500').size, 3000)
  assert.is(columnPaths(graph, { node: 'm.m1500', column: 'c' }).columns.size, 3000)
})

test('a search finds names first, then columns', () => {
  const found = (text: string) => findNodes(shop, text).map(({ name }) => name)
  assert.equal(found('ORDERS'), ['raw.orders', 'core.orders', 'core_orders'])
  assert.equal(found('core.orders')[0], 'core.orders')
  assert.equal(found('revenue'), ['mart.sales', 'mart_sales'])
  assert.equal(found('nowhere'), [])
  assert.equal(found(' '), [])
})

test('a column leads to the measures that read it, or one that is made of it', () => {
  const measure = (name: string, columns: readonly string[], label?: string) => ({
    name,
    text: 'sum(x)',
    type: 'BIGINT',
    columns,
    ...(label === undefined ? {} : { label }),
  })
  const meaning = (...measures: readonly ReturnType<typeof measure>[]) => ({
    meaning: { measures, dimensions: [], time: null },
  })
  const graph = lineageGraph({
    sources: [],
    models: [
      { ...model('raw.o', [], { paid: [], note: [] }), ...meaning(measure('notes', ['note'])) },
      {
        ...model('core.o', ['raw.o'], { Total: [from('raw.o.paid')] }, 'core_o'),
        ...meaning(measure('takings', ['total'], 'Takings'), measure('rows', [])),
      },
      model('core.strange', [], { n: [] }, 'strange'),
    ],
  })
  const sets = [{ name: 'strange', ...meaning(measure('sums', ['n'])) }]
  const of = (node: string, column: string) => {
    const start = { node, column }
    return measuresOn(graph, columnPaths(graph, start), start, sets).map(
      (one) => `${one.node.name} ${one.name}`,
    )
  }
  assert.equal(of('raw.o', 'paid'), ['core.o Takings'])
  assert.equal(of('core.o', 'Total'), ['core.o Takings'])
  assert.equal(of('raw.o', 'note'), ['raw.o notes'])
  assert.equal(of(setId('core_o'), 'Total'), [])
  assert.equal(of('core.strange', 'n'), ['core.strange sums'])
})

test.run()
