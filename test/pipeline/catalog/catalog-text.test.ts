import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Catalog } from '../../../src/core/catalog.ts'
import { limits } from '../../../src/core/limits.ts'
import type { CompiledProject } from '../../../src/core/model.ts'
import { columnType } from '../../../src/core/relation.ts'
import { pastRunsOf, printCatalog } from '../../../src/pipeline/catalog/catalog-text.ts'
import { projectOf, query } from '../../support/handmade-models.ts'
import { modelName } from '../../support/model-name.ts'

const runs = { runs: [], last_run: null, rejected: [], states: {} }
const snapshot = {
  id: 'abc',
  publishedAt: new Date(0),
  runId: 'r',
  relations: [
    {
      model: modelName('mart.t'),
      file: 'f',
      bytes: 9,
      rows: 1,
      key: [],
      description: 'a\n],"models":[\nb',
      columns: [{ name: 'id', type: columnType('INTEGER'), nullable: true }],
    },
  ],
}
const fresh = { identity: 'one', before: null }

/** How often the lineage of the project was asked for: once for each time that models are described. */
function counted(project: CompiledProject) {
  const count = { described: 0 }
  const lineage = () => {
    count.described++
    return project.lineage()
  }
  return { project: { ...project, lineage }, count }
}

test('models are taken over from a catalog of the same project, all else is new', () => {
  const { project, count } = counted(projectOf(query('mart.t', 'select 1 as id')))
  const before = printCatalog(project, snapshot, runs, fresh)
  assert.is(count.described, 1)
  const known = { run_id: 'x', flushed: [], models: [] }
  const next = { ...snapshot, id: 'def' }
  const again = { ...runs, last_run: known }
  const text = printCatalog(project, next, again, { identity: 'one', before })
  assert.is(count.described, 1)
  const catalog = JSON.parse(text) as Catalog
  assert.is(catalog.snapshot, 'def')
  assert.equal(catalog.last_run, known)
  assert.equal(catalog.models, (JSON.parse(before) as Catalog).models)
  assert.is(catalog.sets[0]!.description, snapshot.relations[0]!.description)
  printCatalog(project, snapshot, runs, { identity: 'two', before })
  assert.is(count.described, 2)
  printCatalog(project, snapshot, runs, { identity: null, before })
  assert.is(count.described, 3)
})

test('what is said of runs is read from a whole catalog only', () => {
  const text = printCatalog(projectOf(), snapshot, runs, fresh)
  assert.equal(pastRunsOf(text), runs)
  for (const other of [
    '',
    'null',
    '{}',
    text.slice(0, -1),
    text.replace('"format":1', '"format":2'),
  ])
    assert.is(pastRunsOf(other), null)
})

test('a project that is too large loses the texts of its models first', () => {
  const huge = 'x'.repeat(limits.catalogBytes / 2)
  const models = ['a', 'b', 'c'].map((name) => query(`mart.${name}`, `select '${huge}' as id`))
  const { models: shown } = JSON.parse(
    printCatalog(projectOf(...models), snapshot, runs, fresh),
  ) as Catalog
  assert.equal(
    shown.map(({ sql }) => sql),
    [null, null, null],
  )
  assert.is(shown[0]!.name, 'mart.a')
})

test.run()
