// GET /catalog.json: all of it with `project`; with `sets` nothing that is not exposed.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Catalog } from '../../src/core/catalog.ts'
import type { Snapshot } from '../../src/core/snapshot.ts'
import { createCatalogs } from '../../src/explorer/catalog.ts'
import { columnType } from '../../src/core/relation.ts'
import { modelName } from '../support/model-name.ts'

const relation = (name: string) => ({
  model: modelName(name),
  file: 'm-secretfile.duckdb',
  bytes: 9,
  rows: 1,
  key: ['id'],
  description: 'shown',
  columns: [{ name: 'id', type: columnType('INTEGER'), nullable: false }],
})

const snapshot: Snapshot = {
  id: 'abc',
  publishedAt: new Date(0),
  runId: 'r1',
  relations: [relation('core.orders'), relation('mart.sales')],
}

const origin = (model: string, column = 'id') => ({ model, column })
const model = (name: string, reads: readonly string[], isExposed: boolean) => ({
  name,
  kind: 'table' as const,
  description: `of ${name}`,
  owner: 'secret-owner',
  tags: ['daily'],
  set: isExposed ? name.replace('.', '_') : null,
  depends_on: reads,
  sources: ['crm.secret'],
  columns: [
    {
      name: 'id',
      type: 'INTEGER',
      nullable: true,
      lineage: reads.map((read) => origin(read)),
    },
  ],
  checks: [{ severity: 'warn' as const, text: 'secret_check > 1' }],
  path: `models/secret-path/${name}.sql`,
  sql: 'select secret_sql',
})
const state = {
  run_id: 'r1',
  at: '2026-01-01T00:00:00.000Z',
  status: 'built' as const,
  because: 'secret.stage changed',
  ms: 3,
  warnings: ['secret_check found 3 rows'],
  warned: 1,
  builds: [],
}
const models = [
  model('secret.raw', ['crm.secret'], false),
  model('core.orders', ['secret.raw'], true),
  model('secret.stage', ['core.orders'], false),
  model('mart.sales', ['secret.stage', 'secret.raw'], true),
]
const lines = (objects: readonly object[]) => objects.map((one) => JSON.stringify(one)).join(',\n')
const text = `{"format":1,"of":"secret-hash",
"runs":[{"run_id":"secret-run"}],"last_run":{"run_id":"secret-run"},"rejected":[{"reason":"secret"}],"states":${JSON.stringify(
  Object.fromEntries(models.map(({ name }) => [name, state])),
)},
"snapshot":"abc","published_at":"1970-01-01T00:00:00.000Z","run_id":"r1",
"sets":[
${lines([{ name: 'core_orders', model: 'core.orders', rows: 1, columns: [] }])}
],"models":[
${lines(models)}
],"sources":[
{"name":"crm.secret","columns":[]}
]}
`

async function served(shows: Catalog['shows'], given: string | null = text) {
  const written = given === null ? null : Buffer.from(given)
  const catalogOf = createCatalogs({
    project: 'shop',
    shows,
    find: async (id) =>
      written === null
        ? null
        : { mark: `mark of ${id}`, bytes: written.length, read: async () => written },
  })
  const page = await catalogOf(snapshot)
  return { page, catalog: JSON.parse(page.body.toString()) as Catalog }
}

test('with `project` all that the run wrote is sent', async () => {
  const { catalog } = await served('project')
  assert.is(catalog.project, 'shop')
  assert.is(catalog.shows, 'project')
  assert.is(catalog.is_whole, true)
  const written = JSON.parse(text) as Catalog
  for (const [name, value] of Object.entries(written))
    assert.equal(catalog[name as keyof Catalog], value, name)
})

test('with `sets` nothing is sent of models that are not exposed, nor paths, owners, SQL and runs', async () => {
  const { catalog, page } = await served('sets')
  assert.not.match(page.body.toString(), /secret|crm/)
  assert.is(catalog.shows, 'sets')
  assert.is(catalog.is_whole, true)
  assert.equal(
    catalog.models.map(({ name }) => name),
    ['core.orders', 'mart.sales'],
  )
  const [orders, sales] = catalog.models
  assert.equal(orders!.depends_on, [])
  assert.equal(orders!.columns[0]!.lineage, [])
  assert.equal(sales!.depends_on, ['core.orders'], 'by way of a model that is left out')
  assert.equal(sales!.columns[0]!.lineage, [origin('core.orders')])
  assert.equal(sales!.tags, ['daily'])
  assert.is(catalog.states['mart.sales']!.warned, 1)
  assert.is(catalog.states['mart.sales']!.status, 'built')
  assert.equal(catalog.runs, [])
  assert.is(catalog.last_run, null)
})

test('a state without a catalog, or with half of one, is described by its manifest', async () => {
  for (const given of [null, '', '{"format":1,\n', text.slice(0, -2), '{"format":2,\n]}\n']) {
    for (const shows of ['project', 'sets'] as const) {
      const { catalog, page } = await served(shows, given)
      assert.is(catalog.is_whole, false)
      assert.is(catalog.snapshot, 'abc')
      assert.is(catalog.published_at, '1970-01-01T00:00:00.000Z')
      assert.equal(
        catalog.sets.map(({ name }) => name),
        ['core_orders', 'mart_sales'],
      )
      assert.is(catalog.models[1]!.set, 'mart_sales')
      assert.is(catalog.models[1]!.columns[0]!.lineage, null)
      assert.not.match(page.body.toString(), 'secret')
    }
  }
})

test('of the measures of a set, who sees a part of it gets those of columns that are there', async () => {
  const measure = (name: string, ...columns: readonly string[]) => ({
    name,
    text: `sum(${columns.join(' + ')})`,
    sql: 'sum(internal)',
    type: columnType('INTEGER'),
    columns,
  })
  const limited = {
    ...relation('core.orders'),
    meaning: {
      measures: [measure('ids', 'id'), measure('costs', 'id', 'secret_cost')],
      dimensions: ['secret_country', 'id'],
      time: 'secret_day',
      rollup: {
        of: modelName('secret.orders'),
        never: [{ name: 'secret_average', isMeasure: true }],
      },
    },
  }
  const catalogOf = createCatalogs({ project: 'shop', shows: 'project', find: async () => null })
  const { body } = await catalogOf({ ...snapshot, relations: [limited] }, 'part of a token')
  assert.not.match(body.toString(), /secret_|secret\.|internal/)
  const { sets } = JSON.parse(body.toString()) as Catalog
  assert.equal(sets[0]!.meaning!.dimensions, ['id'])
  assert.is(sets[0]!.meaning!.time, null)
  assert.equal(sets[0]!.meaning!.measures, [
    { name: 'ids', text: 'sum(id)', type: 'INTEGER', columns: ['id'] },
  ])
})

test('it is made once, for all who ask, until there is another', async () => {
  let reads = 0
  let mark = 'one'
  const catalogOf = createCatalogs({
    project: 'shop',
    shows: 'sets',
    find: async () => ({
      mark,
      bytes: text.length,
      async read() {
        reads++
        return Buffer.from(text)
      },
    }),
  })
  const [first, second] = await Promise.all([catalogOf(snapshot), catalogOf(snapshot)])
  assert.is(reads, 1)
  assert.is(first!.body, second!.body)
  mark = 'two'
  const third = await catalogOf(snapshot)
  assert.is(reads, 2)
  assert.is.not(third.headers['ETag'], first!.headers['ETag'])
})

test.run()
