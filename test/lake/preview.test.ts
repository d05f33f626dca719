// `eider odata preview` on a lake, also of what is not exposed; `eider serve --watch`, which needs files.

import { readdirSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { lakeProject } from '../support/lake/lake-project.ts'
import { lakeTest } from '../support/lake/lake-test.ts'
import { withLake } from '../support/lake/with-lake.ts'

lakeTest('rows of a model are answered, exposed or not, pulled or not', async () => {
  await using lake = await withLake()
  await using project = await lakeProject(lake, {
    'models/mart/sales.sql': '-- @expose id\nSELECT 1 AS id, 5::HUGEINT AS total\n',
    'models/core/inner.sql': "SELECT 7 AS id, INTERVAL '1 day' AS span\n",
  })
  const missing = await project.ok(['odata', 'preview', 'core.inner'], { exitCode: 3 })
  assert.match(missing.stderr, /eider run \+core\.inner/)
  await project.ok(['run'])
  const rowsOf = async (name: string) =>
    (JSON.parse((await project.ok(['odata', 'preview', name])).stdout) as { value: unknown[] })
      .value
  assert.equal(await rowsOf('core.inner'), [{ id: 7, span: 'PT86400S' }])
  // No pull has brought it.
  assert.equal(await rowsOf('mart_sales'), [{ id: 1, total: 5 }])
  await project.ok(['pull'])
  assert.equal(await rowsOf('mart_sales'), [{ id: 1, total: 5 }])
  assert.equal(await rowsOf('core.inner'), [{ id: 7, span: 'PT86400S' }])
  assert.equal(
    readdirSync(project.path('.eider', 'snapshots')).filter((name) => name.startsWith('m-')).length,
    1,
  )
})

lakeTest('--watch says what it needs', async () => {
  await using lake = await withLake()
  await using project = await lakeProject(lake, { 'models/mart/a.sql': 'SELECT 1 AS id\n' })
  const { stderr } = await project.ok(['serve', '--watch'], { exitCode: 2 })
  assert.match(stderr, /in a lake.*eider move --to dev/s)
})

test.run()
