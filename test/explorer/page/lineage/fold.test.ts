import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { CatalogModel } from '../../../../src/core/catalog.ts'
import {
  drawnGraph,
  MOST_NODES,
  MOST_SIBLINGS,
  shownPart,
} from '../../../../src/explorer/page/lineage/fold.ts'
import { lineageGraph } from '../../../../src/explorer/page/lineage/graph.ts'
import { costsOf } from '../../../../src/explorer/page/lineage/nearest.ts'

function model(name: string, reads: readonly string[], set: string | null = null): CatalogModel {
  const nothing = { description: null, owner: null, tags: [], sources: [], columns: [] }
  const file = { checks: [], path: null, sql: null }
  return { ...nothing, ...file, name, kind: 'table', set, depends_on: reads }
}

const NONE: ReadonlySet<string> = new Set()

test('a large graph begins two steps around the chosen node and opens from there', () => {
  const count = 200
  const chain = lineageGraph({
    sources: [],
    models: Array.from({ length: count }, (_, i) =>
      model(`m.m${i}`, i === 0 ? [] : [`m.m${i - 1}`]),
    ),
  })
  assert.ok(chain.nodes.size > MOST_NODES)
  const around = shownPart(chain, 'm.m100', NONE)
  assert.equal([...around.ids].toSorted(), ['m.m100', 'm.m101', 'm.m102', 'm.m98', 'm.m99'])
  assert.equal(Object.fromEntries(around.hidden), { 'm.m98': 1, 'm.m102': 1 })
  assert.is(around.folds.size, 0)
  assert.ok(shownPart(chain, 'm.m100', new Set(['m.m102'])).ids.has('m.m103'))
  assert.is(shownPart(chain, null, NONE).ids.size, 4)
  assert.ok(shownPart(chain, 'm.m100', NONE, ['m.m7']).ids.has('m.m7'))
})

test('all of a small graph is shown', () => {
  const small = lineageGraph({
    sources: [],
    models: Array.from({ length: 30 }, (_, i) => model(`m.m${i}`, i === 0 ? [] : ['m.m0'])),
  })
  assert.is(shownPart(small, null, NONE).ids.size, 30)
})

const wide = lineageGraph({
  sources: Array.from({ length: 12 }, (_, i) => ({ name: `crm.t${i}`, columns: [] })),
  models: [
    {
      ...model('core.hub', [], 'core_hub'),
      sources: Array.from({ length: 12 }, (_, i) => `crm.t${i}`),
    },
    ...Array.from({ length: 100 }, (_, i) => model(`mart.m${i}`, ['core.hub'], `mart_m${i}`)),
    model('mart.end', ['mart.m1', 'mart.m2']),
  ],
})

test('many that read one, and many that one reads, are a node each', () => {
  const part = shownPart(wide, 'core.hub', NONE)
  assert.equal([...part.ids], ['core.hub', 'set core_hub'])
  const drawn = drawnGraph(wide, part)
  const folds = [...drawn.nodes.values()].filter(({ kind }) => kind === 'fold')
  assert.equal(
    folds.map(({ name }) => name),
    ['12 sources are read', '100 tables read this'],
  )
  assert.equal(drawn.reads.get('core.hub'), ['reads core.hub'])
  assert.equal(drawn.readBy.get('core.hub'), ['set core_hub', 'readBy core.hub'])
  assert.equal([...part.hidden], [])
})

test('a fold opens, and what is shown in any case is not in it', () => {
  const opened = shownPart(wide, 'core.hub', new Set(['core.hub']))
  assert.is(opened.folds.size, 0)
  assert.ok(opened.ids.has('mart.m99') && opened.ids.has('crm.t11'))
  const kept = shownPart(wide, 'core.hub', NONE, ['mart.m7'])
  assert.is(kept.folds.get('readBy core.hub')!.ids.length, 99)
  assert.ok(drawnGraph(wide, kept).reads.get('mart.m7')!.includes('core.hub'))
})

test('of a sibling the hub is shown, and that there are more', () => {
  const part = shownPart(wide, 'mart.m1', NONE)
  assert.ok(part.ids.has('core.hub') && part.ids.has('mart.end'))
  assert.ok(!part.ids.has('mart.m3'))
  assert.is(part.hidden.get('core.hub'), 100)
})

test('as few as can be seen are not folded', () => {
  const models = Array.from({ length: MOST_NODES + 1 }, (_, i) =>
    model(`m.m${i}`, i === 0 || i > MOST_SIBLINGS ? [] : ['m.m0']),
  )
  const part = shownPart(lineageGraph({ sources: [], models }), 'm.m0', NONE)
  assert.is(part.ids.size, MOST_SIBLINGS + 1)
  assert.is(part.folds.size, 0)
})

test('an arrow key goes to what is nearest in its direction', () => {
  const from = { x: 0, y: 0 }
  const right = { x: 1, y: 0 } as const
  assert.is(costsOf(from, { x: -10, y: 0 }, right), Infinity)
  assert.ok(costsOf(from, { x: 100, y: 0 }, right) < costsOf(from, { x: 60, y: 40 }, right))
  const up = { x: 0, y: -1 } as const
  assert.is(costsOf(from, { x: 0, y: 40 }, up), Infinity)
  assert.ok(costsOf(from, { x: 0, y: -56 }, up) < costsOf(from, { x: 200, y: -10 }, up))
})

test.run()
