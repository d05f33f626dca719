// `eider up` where the tables are in a lake: it brings the published state to its service, which knows no key of the lake.

import { readFile } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { lakeProject } from '../support/lake/lake-project.ts'
import { lakeTest } from '../support/lake/lake-test.ts'
import { withLake } from '../support/lake/with-lake.ts'
import { until } from '../support/until.ts'
import { startUp } from '../support/up-process.ts'

const models = {
  'models/raw/e.sql': '-- @kind: events\nid bigint not null\n',
  'models/mart/all_e.sql': '-- @expose id\nselect id from raw.e\n',
}

lakeTest('eider up pulls what is published, and only that child has the keys', async () => {
  await using lake = await withLake()
  await using space = await lakeProject(lake, models)
  await space.ok(['run'])
  const up = await startUp(space)
  const answer = await until(
    () => fetch(`${up.ready.odata_url!}/mart_all_e`).catch(() => null),
    (found) => found?.status === 200,
  )
  assert.equal(((await answer!.json()) as { value: unknown }).value, [])
  const keys = async (service: 'collect' | 'serve' | 'pull') => {
    const environ = await readFile(`/proc/${await up.pidOf(service)}/environ`, 'utf8')
    return environ
      .split('\0')
      .filter((line) => /^LAKE_(?:PASSWORD|S3_)/.test(line))
      .map((line) => line.split('=')[0]!)
  }
  if (process.platform === 'linux') {
    assert.equal(await keys('collect'), [])
    assert.equal(await keys('serve'), [])
    assert.ok((await keys('pull')).includes('LAKE_S3_SECRET'))
  }
  assert.is(await up.running.stop(), 0)
})

test.run()
