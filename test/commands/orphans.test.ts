// A model that is renamed keeps its history; what no file makes any more is named, and can be removed.

import { rename, rm } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { workspace } from '../support/workspace.ts'

const project = {
  'eider.yml': 'name: s\n',
  'models/a/source.sql': 'SELECT 1 AS id\n',
  'models/a/kept.sql':
    '-- @kind: merge\n-- @unique_key: id\n-- @expose id\nSELECT * FROM a.source\n',
  'models/a/reader.sql': 'SELECT count(*) AS n FROM a.kept\n',
}

test('eider mv keeps rows that the source no longer gives, in another schema too', async () => {
  await using space = await workspace(project)
  await space.ok(['run'])
  await space.write('models/a/source.sql', 'SELECT 2 AS id\n')
  await space.ok(['run'])
  const { stdout, stderr } = await space.ok(['mv', 'a.kept', 'core.kept_rows'])
  assert.match(stdout, 'moved models/a/kept.sql to models/core/kept_rows.sql\n')
  assert.match(stdout, 'moved a.kept to core.kept_rows in the warehouse: 2 rows\n')
  assert.match(stderr, 'these files still say a.kept: models/a/reader.sql')
  await space.write('models/a/reader.sql', 'SELECT count(*) AS n FROM core.kept_rows\n')
  const run = await space.ok(['run', '--verbose'])
  assert.match(run.stdout, /unchanged +core\.kept_rows/)
  assert.not.match(run.stdout, 'orphan')
  assert.is((await space.ok(['odata', 'preview', 'core_kept_rows/$count'])).stdout.trim(), '2')
})

test('a file that was moved by hand leaves an orphan, which mv takes up and drop removes', async () => {
  await using space = await workspace(project)
  await rm(space.path('models/a/reader.sql'))
  await space.ok(['run'])
  await rename(space.path('models/a/kept.sql'), space.path('models/a/moved.sql'))
  const orphan =
    /orphan +a\.kept +1 row, and no file makes it: eider mv a\.kept NEW .* eider drop a\.kept/
  assert.match((await space.ok(['run'])).stdout, orphan)
  assert.match((await space.ok(['plan'])).stdout, orphan)
  assert.match((await space.ok(['ls'])).stdout, /a\.kept +merge +1 row, and no file makes it/)
  assert.match((await space.ok(['mv', 'a.kept', 'a.moved'], { exitCode: 2 })).stderr, '--replace')
  await space.ok(['mv', 'a.kept', 'a.moved', '--replace'])
  await rm(space.path('models/a/moved.sql'))
  await space.write('models/a/source.sql', '-- @expose\nSELECT 2 AS id\n')
  assert.match((await space.ok(['run'])).stdout, /orphan +a\.moved +1 row/)
  assert.match(
    (await space.ok(['drop', 'a.source'], { exitCode: 2 })).stderr,
    'models/a/source.sql',
  )
  assert.is((await space.ok(['drop', 'a.moved'])).stdout, 'dropped a.moved (merge, 1 row)\n')
  assert.not.match((await space.ok(['run'])).stdout, 'orphan')
  assert.match((await space.ok(['drop', 'a.moved'], { exitCode: 2 })).stderr, 'no run created')
})

test.run()
