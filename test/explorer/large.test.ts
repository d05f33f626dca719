// Catalogs of hundreds of wide sets: others are served while one is made, and one that is too large is not read.

import { setImmediate as nextLoopTurn } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Catalog } from '../../src/core/catalog.ts'
import { limits } from '../../src/core/limits.ts'
import { columnType } from '../../src/core/relation.ts'
import type { Snapshot } from '../../src/core/snapshot.ts'
import { createCatalogs } from '../../src/explorer/catalog.ts'
import { printCatalog } from '../../src/pipeline/catalog/catalog-text.ts'
import { projectOf, query } from '../support/handmade-models.ts'
import { modelName } from '../support/model-name.ts'

const SETS = 200
const COLUMNS = 300
const markup = '</script><img src=x onerror=alert(1)>'

const columns = Array.from({ length: COLUMNS }, (_, i) => ({
  name: `${markup} ${i}`,
  type: columnType('DECIMAL(18,4)'),
  nullable: true,
  description: `${markup} \u202E right to left "quoted" ${i}`,
}))
const names = Array.from({ length: SETS }, (_, i) => modelName(`mart.set${i}`))
const snapshot: Snapshot = {
  id: 'abc',
  publishedAt: new Date(0),
  runId: 'r',
  relations: names.map((model) => ({
    model,
    file: 'f',
    bytes: 9,
    rows: 10_000_000,
    key: [],
    description: markup,
    columns,
  })),
}
const models = names.map((name, i) => ({
  ...query(name, 'select 1', { expose: [], reads: i === 0 ? [] : [names[i - 1]!] }),
  columns,
}))
const project = {
  ...projectOf(...models),
  trails: () => new Map(),
  lineage: () =>
    new Map(
      names.map((name, i) => [
        name,
        columns.map((column) => (i === 0 ? [] : [{ model: names[i - 1]!, column: column.name }])),
      ]),
    ),
}
const runs = { runs: [], last_run: null, rejected: [], states: {} }
const text = Buffer.from(printCatalog(project, snapshot, runs, { identity: null, before: null }))

async function served(shows: Catalog['shows'], given: Buffer | null) {
  const catalogOf = createCatalogs({
    project: 'shop',
    shows,
    find: async () =>
      given === null ? null : { mark: 'one', bytes: given.length, read: async () => given },
  })
  let [isDone, turns] = [false, 0]
  const page = catalogOf(snapshot).finally(() => (isDone = true))
  for (; !isDone; turns++) await nextLoopTurn()
  return { catalog: JSON.parse((await page).body.toString()) as Catalog, turns }
}

test('a catalog of 200 sets with 300 columns is made in slices', async () => {
  assert.ok(text.length > 10_000_000, `${text.length}`)
  for (const [shows, given] of [
    ['sets', text],
    ['sets', null],
    ['project', null],
  ] as const) {
    const { catalog, turns } = await served(shows, given)
    assert.is(catalog.sets.length, SETS)
    assert.is(catalog.models.length, SETS)
    assert.is(catalog.models[7]!.columns[9]!.name, `${markup} 9`)
    assert.ok(turns > 5, `${turns} turns for others`)
  }
})

test('a catalog above the limit is not read', async () => {
  const { catalog } = await served('project', Buffer.alloc(limits.catalogBytes + 1))
  assert.is(catalog.is_whole, false)
  assert.is(catalog.sets.length, SETS)
})

test.run()
