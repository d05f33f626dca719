// Two checkouts of one project, with different SQL for a model, run in turn on one lake.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { lakeProject } from '../support/lake/lake-project.ts'
import { lakeTest } from '../support/lake/lake-test.ts'
import { withLake } from '../support/lake/with-lake.ts'
import type { Workspace } from '../support/workspace.ts'

const version = (n: number) => ({
  'models/raw/orders.sql': '-- @kind: events\nid bigint not null\n',
  'models/mart/t.sql': `-- @expose id\nSELECT ${n} AS id\n`,
  'models/mart/twice.sql': '-- @expose id\nSELECT 2 * id AS id FROM mart.t\n',
})

lakeTest('whoever ran last is right, and a change back is told', async () => {
  await using lake = await withLake()
  await using a = await lakeProject(lake, version(1))
  await using b = await lakeProject(lake, version(2))
  const runs = async (space: Workspace, id: number, warns: boolean) => {
    const { stdout, stderr } = await space.ok(['run'])
    assert.match(stdout, /built +mart\.t /)
    assert.is(/versions-in-turn/.test(stderr), warns, stderr)
    const text = 'SELECT t.id, twice.id AS twice FROM mart.t AS t, mart.twice AS twice'
    const { stdout: row } = await space.ok(['query', text, '--json'])
    assert.equal(JSON.parse(row), { id, twice: 2 * id })
  }
  await runs(a, 1, false)
  await runs(b, 2, false)
  // A third version, as after a deployment.
  await b.write('models/mart/t.sql', version(3)['models/mart/t.sql'])
  await runs(b, 3, false)
  await runs(a, 1, true)
  const { stderr } = await a.ok(['run'])
  assert.not.match(stderr, /versions-in-turn/)
})

test.run()
