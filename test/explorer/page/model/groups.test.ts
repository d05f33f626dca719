// The lists of sets and models: what of them is found, and what a closed one says.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { CatalogModel } from '../../../../src/core/catalog.ts'
import {
  bySchema,
  filterGroups,
  modelsWith,
  worstOf,
} from '../../../../src/explorer/page/model/groups.ts'
import type { Verdict } from '../../../../src/explorer/page/model/trust.ts'

const set = (name: string, verdict: Verdict = 'good') => ({
  name,
  description: undefined,
  rows: 1,
  verdict,
})

const model = (name: string, facts: Partial<CatalogModel> = {}): CatalogModel => ({
  name,
  kind: 'table',
  description: null,
  owner: null,
  tags: [],
  set: null,
  depends_on: [],
  sources: [],
  columns: [],
  checks: [],
  path: null,
  sql: null,
  ...facts,
})

test('sets are found by all words of a name, in any order', () => {
  const groups = [
    { schema: 'core', sets: [set('core_orders'), set('core_order_lines')] },
    { schema: 'mart', sets: [set('mart_sales')] },
  ]
  const found = (wanted: string) =>
    filterGroups(groups, wanted).flatMap(({ sets }) => sets.map(({ name }) => name))
  assert.equal(found('LINES order'), ['core_order_lines'])
  assert.equal(found('  '), ['core_orders', 'core_order_lines', 'mart_sales'])
  assert.equal(found('(core'), [])
})

test('a closed list is as bad as the worst in it', () => {
  assert.is(worstOf([set('a'), set('b', 'warned'), set('c', 'failed')]), 'failed')
  assert.is(worstOf([set('a'), set('b', 'warned')]), 'warned')
  assert.is(worstOf([set('a')]), 'good')
})

test('models are found by owner, tag, check and status, and grouped by schema', () => {
  const models = [
    model('core.orders', { owner: 'Finance', checks: [{ severity: 'fail', text: 'total > 0' }] }),
    model('core.geo', { tags: ['maps'] }),
    model('mart.sales'),
  ]
  const states = { 'mart.sales': { status: 'failed' } } as never
  const found = (wanted: string) => modelsWith({ models, states }, wanted).map(({ name }) => name)
  assert.equal(found('finance total'), ['core.orders'])
  assert.equal(found('maps'), ['core.geo'])
  assert.equal(found('failed'), ['mart.sales'])
  assert.equal(
    bySchema(models).map(([schema, all]) => [schema, all.length]),
    [
      ['core', 2],
      ['mart', 1],
    ],
  )
})

test.run()
