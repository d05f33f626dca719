// What readers see, and histories, are not lost to a wrong directory, a lost file or a flag that was typed too quickly.

import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Workspace, workspace } from '../support/workspace.ts'

const files = {
  'eider.yml': 'name: s\n',
  'models/a/source.sql': 'SELECT 1 AS id, 10 AS v\n',
  'models/a/kept.sql':
    '-- @kind: merge\n-- @unique_key: id\n-- @expose id\nSELECT * FROM a.source\n',
  'models/a/hist.sql': '-- @kind: scd2\n-- @unique_key: id\nSELECT * FROM a.source\n',
}

const servedRows = async (space: Workspace) =>
  (await space.ok(['odata', 'preview', 'a_kept/$count'])).stdout.trim()

/** In the same words by a plan and by a run. */
async function refused(space: Workspace): Promise<string> {
  const planned = await space.ok(['plan'], { exitCode: 3 })
  const ran = await space.ok(['run'], { exitCode: 3 })
  assert.ok(planned.stderr.endsWith(ran.stderr), planned.stderr)
  return ran.stderr
}

test('without its models or its warehouse a project that serves rows is not run, unless told so', async () => {
  await using space = await workspace(files)
  await space.ok(['run'])
  await rename(space.path('models'), space.path('away'))
  const none = await refused(space)
  assert.match(none, /the project has no models, and snapshot [0-9a-f]+ serves 1 set\n/)
  await mkdir(space.path('models'))
  await space.write('models/a/unexposed.sql', 'SELECT 1 AS x\n')
  assert.match(await refused(space), 'no model with @expose')
  await rm(space.path('models'), { recursive: true })
  await rename(space.path('away'), space.path('models'))

  await rename(space.path('.eider/warehouse.duckdb'), space.path('warehouse'))
  const gone = await refused(space)
  assert.match(
    gone,
    /the warehouse .*warehouse\.duckdb is gone, and snapshot .* serves 1 row of it/,
  )
  assert.match(gone, '--allow-empty')
  await rename(space.path('warehouse'), space.path('.eider/warehouse.duckdb'))
  assert.is(await servedRows(space), '1')

  await rename(space.path('.eider/warehouse.duckdb'), space.path('warehouse'))
  await space.write('models/a/source.sql', 'SELECT nothing\n')
  assert.match(await refused(space), /the warehouse .* is gone/)
  await rename(space.path('warehouse'), space.path('.eider/warehouse.duckdb'))

  await rm(space.path('models'), { recursive: true })
  await space.ok(['plan', '--allow-empty', '--allow-breaking'])
  await space.ok(['run', '--allow-empty'])
  await rm(space.path('.eider/warehouse.duckdb'))
  await space.ok(['run'])
})

test('a project of which no exposed model compiles is not called one without models', async () => {
  await using space = await workspace({
    ...files,
    'models/a/other.sql': '-- @expose id\nSELECT id FROM a.source\n',
    'models/a/reader.sql': 'SELECT id FROM a.other\n',
  })
  await space.ok(['run', 'a.source', 'a.kept'])
  await rm(space.path('models/a/kept.sql'))
  await rm(space.path('models/a/hist.sql'))
  await space.write('models/a/source.sql', 'SELECT 1 AS id,,\n')
  assert.match(
    await refused(space),
    /no model with @expose that compiles, and snapshot [0-9a-f]+ serves 1 set\n.*repair models\/a\/source\.sql:1:16: syntax error .*; --allow-empty publishes nothing\n/,
  )
})

test('macros that cannot be read fail what has a query, and the rows stay', async () => {
  await using space = await workspace({
    'eider.yml': 'name: s\n',
    'macros/m.sql': "CREATE MACRO upper(x) AS 'of the macro';\n",
    'models/a/m.sql': "-- @expose x\nSELECT upper('y') AS x\n",
  })
  const rows = async () => (await space.ok(['query', 'FROM a.m', '--format', 'csv'])).stdout
  await space.ok(['run'])
  await space.write('macros/m.sql', '\0')
  const one = await space.ok(['run'], { exitCode: 1 })
  assert.match(one.stdout, /failed +a\.m +macros\/m\.sql: /)
  assert.match(await rows(), 'of the macro')
  await rm(space.path('macros'), { recursive: true })
  await space.write('macros', 'no directory')
  const all = await space.ok(['run'], { exitCode: 1 })
  assert.match(all.stdout, /failed +a\.m +macros: /)
  assert.match(await rows(), 'of the macro')
  await rm(space.path('macros'))
  await space.write('macros/m.sql', "CREATE MACRO upper(x) AS 'of the macro';\n")
  assert.match((await space.ok(['run'])).stdout, '1 unchanged')
})

test('what is published of a model stays while its file cannot be placed or its folder not be read', async () => {
  await using space = await workspace({
    ...files,
    'models/b/other.sql': '-- @expose x\nSELECT 1 AS x\n',
  })
  const failedRun = async () => {
    const { stdout } = await space.ok(['run', '--json'], { exitCode: 1 })
    assert.not.match(stdout, '"event":"model-removed"')
    assert.not.match((await space.ok(['ls'], { exitCode: 1 })).stdout, 'eider drop')
    const published = await readFile(space.path('.eider/snapshots/manifest.json'), 'utf8')
    assert.match(published, '"a.kept"')
  }
  await space.ok(['run'])
  await rename(space.path('models/a/kept.sql'), space.path('models/a/kept.new.sql'))
  const plan = await space.ok(['plan'], { exitCode: 1 })
  assert.not.match(plan.stdout, 'entity set removed')
  assert.not.match(plan.stdout, 'orphan')
  await failedRun()
  await rename(space.path('models/a/kept.new.sql'), space.path('models/a/kept.sql'))
  await rename(space.path('models'), space.path('away'))
  await space.write('models', 'no directory')
  await failedRun()
  await rm(space.path('models'))
  await rename(space.path('away'), space.path('models'))
  await rm(space.path('models/a/kept.sql'))
  assert.match((await space.ok(['run', '--json'])).stdout, '"event":"model-removed"')
})

test('a model with a mistake is known by its name in another letter case', async () => {
  await using space = await workspace(files)
  await space.ok(['run'])
  await rm(space.path('models/a/kept.sql'))
  await space.write('models/a/KEPT.sql', '-- @expose id\nSELECT nothing FROM a.source\n')
  const { stdout } = await space.ok(['run', '--json'], { exitCode: 1 })
  assert.not.match(stdout, '"event":"model-removed"')
  assert.not.match(stdout, '"event":"orphan')
  const published = await readFile(space.path('.eider/snapshots/manifest.json'), 'utf8')
  assert.match(published, '"a.kept"')
})

test('a full refresh of all models that would end histories names them, and changes nothing', async () => {
  await using space = await workspace(files)
  await space.ok(['run'])
  for (const command of ['run', 'plan']) {
    const { stderr } = await space.ok([command, '--full-refresh'], { exitCode: 2 })
    assert.match(stderr, 'would end the history of a.hist (1 row, scd2), a.kept (1 row, merge)')
    assert.match(stderr, 'eider run a.hist --full-refresh')
  }
  await space.ok(['run', 'a.hist', '--full-refresh'])
  await space.ok(['run', '--full-refresh', '--drop-history'])
})

test('a retry that has nothing to do publishes nothing', async () => {
  await using space = await workspace(files)
  const { stdout } = await space.ok(['run', '--retry'])
  assert.not.match(stdout, 'snapshot')
  assert.equal(await readdir(space.path('.eider/snapshots')).catch(() => []), [])
})

test.run()
