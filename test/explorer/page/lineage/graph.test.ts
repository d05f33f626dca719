import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { CatalogModel, CatalogOrigin } from '../../../../src/core/catalog.ts'
import {
  columnPaths,
  findNodes,
  lineageGraph,
  MOST_NODES,
  related,
  setId,
  shownNodes,
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

test('a large graph begins two steps around the chosen node and opens from there', () => {
  const count = 200
  const chain = lineageGraph({
    sources: [],
    models: Array.from({ length: count }, (_, i) =>
      model(`m.m${i}`, i === 0 ? [] : [`m.m${i - 1}`]),
    ),
  })
  assert.ok(chain.nodes.size > MOST_NODES)
  const around = shownNodes(chain, 'm.m100', new Set())
  assert.equal([...around.ids].toSorted(), ['m.m100', 'm.m101', 'm.m102', 'm.m98', 'm.m99'])
  assert.equal(
    [...around.hidden],
    [
      ['m.m98', 1],
      ['m.m102', 1],
    ],
  )
  const opened = shownNodes(chain, 'm.m100', new Set(['m.m102']))
  assert.ok(opened.ids.has('m.m103'))
  assert.is(shownNodes(chain, null, new Set()).ids.size, 4)
  assert.is(shownNodes(shop, null, new Set()).ids.size, 7)
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

test.run()
