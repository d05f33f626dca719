// Five ways to lose rows, or a whole publication, that once ended with exit code 0 and without a word.

import { rename } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Workspace, workspace } from '../support/workspace.ts'

const project = {
  'eider.yml': 'name: shop\n',
  'seeds/ref/countries.csv': 'country_id,name\nNO,Norway\nSE,Sweden\n',
  'models/mart/countries.sql':
    '-- @expose country_id\nSELECT country_id, name FROM ref.countries\n',
}

async function rowsOf(space: Workspace, sql: string): Promise<unknown> {
  const { stdout } = await space.ok(['query', sql, '--format', 'json'])
  return JSON.parse(stdout)
}

/** Of the published state, which no run may have replaced. */
async function servedRows(space: Workspace, set: string): Promise<number> {
  const { stdout } = await space.ok(['odata', 'preview', `${set}?$select=country_id`])
  return (JSON.parse(stdout) as { value: readonly unknown[] }).value.length
}

test('a row of a seed with a comma too many costs neither columns nor rows', async () => {
  await using space = await workspace(project)
  await space.write('seeds/ref/cities.csv', 'city_id,name\n1,Oslo\n2,Malmö\n')
  await space.ok(['run'])
  await space.write('seeds/ref/cities.csv', 'city_id,name\n1,Oslo\n2,Malmö\n3,Seoul, South Korea\n')
  const { stderr } = await space.ok(['run'], { exitCode: 1 })
  assert.match(stderr, /seeds\/ref\/cities\.csv:4:\d+.*this row has 3 fields/)
  assert.equal(
    await rowsOf(space, 'SELECT count(*)::INTEGER AS n, min(name) AS name FROM ref.cities'),
    [{ n: 2, name: 'Malmö' }],
  )
})

test('an annotation in a block comment is said to be ignored', async () => {
  await using space = await workspace(project)
  await space.write(
    'models/mart/countries.sql',
    '/*\n * @kind: view\n * @expose country_id\n */\nSELECT country_id, name FROM ref.countries\n',
  )
  const { stdout, stderr } = await space.ok(['run'])
  assert.match(stdout + stderr, /models\/mart\/countries\.sql:2:4.*ignored.*@kind, @expose/)
})

test('a project without models does not replace what is published', async () => {
  await using space = await workspace(project)
  await space.ok(['run'])
  await rename(space.path('models'), space.path('models-elsewhere'))
  const { stderr } = await space.ok(['run'], { exitCode: 3 })
  assert.match(stderr, /no model with @expose, and snapshot \w+ serves 1 set/)
  assert.match(stderr, /--allow-empty/)
  await rename(space.path('models-elsewhere'), space.path('models'))
  assert.is(await servedRows(space, 'mart_countries'), 2)
})

test('an scd2 model is not exposed by a key that its second version breaks', async () => {
  await using space = await workspace(project)
  await space.write(
    'models/mart/history.sql',
    '-- @kind: scd2\n-- @unique_key: country_id\n-- @expose country_id\nSELECT country_id, name FROM ref.countries\n',
  )
  const { stdout, stderr } = await space.ok(['run'], { exitCode: 1 })
  assert.match(
    stdout + stderr,
    /models\/mart\/history\.sql:3:4.*keeps several versions of each country_id/,
  )
  assert.match(stderr, /-- @expose country_id, valid_from/)
})

test('--full-refresh of all models ends no history', async () => {
  await using space = await workspace(project)
  await space.write(
    'models/core/history.sql',
    '-- @kind: scd2\n-- @unique_key: country_id\nSELECT country_id, name FROM ref.countries\n',
  )
  await space.ok(['run'])
  await space.write('seeds/ref/countries.csv', 'country_id,name\nNO,Norge\nSE,Sweden\n')
  await space.ok(['run'])
  const { stderr } = await space.ok(['run', '--full-refresh'], { exitCode: 2 })
  assert.match(stderr, /would end the history of core\.history \(3 rows, scd2\)/)
  assert.match(stderr, /eider run core\.history --full-refresh/)
  assert.equal(await rowsOf(space, 'SELECT count(*)::INTEGER AS n FROM core.history'), [{ n: 3 }])
})

test.run()
