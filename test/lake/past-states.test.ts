// `eider query --at` on a lake: states are read where they are published, by a machine that has pulled nothing.

import * as assert from 'uvu/assert'
import { test } from 'uvu'
import { lakeProject } from '../support/lake/lake-project.ts'
import { lakeTest } from '../support/lake/lake-test.ts'
import { withLake } from '../support/lake/with-lake.ts'

const orders = (...values: readonly string[]) =>
  `-- @expose id\nSELECT id, v, v::JSON AS apart FROM (VALUES ${values.join(', ')}) t(id, v)\n`

const files = {
  'models/core/orders.sql': orders(`(1, '"first"')`),
  'models/core/people.sql':
    '-- @kind: merge\n-- @unique_key: id\n-- @expose id\nSELECT id, v FROM core.orders\n',
  'models/mart/ids.sql': '-- @kind: view\n-- @expose id\nSELECT id FROM core.orders\n',
}

lakeTest(
  'states are read as they stood, also by another machine, and go with an erasure',
  async () => {
    await using lake = await withLake()
    await using project = await lakeProject(lake, files)
    const early = await project.ok(['query', '--at', '2026-01-01', 'SELECT 1'], { exitCode: 3 })
    assert.match(early.stderr, 'nothing is published yet')
    await project.ok(['run'])
    await project.write('models/core/orders.sql', orders(`(2, '"second"')`, `(3, '"third"')`))
    await project.ok(['run'])
    const [second, first] = [
      ...(await project.ok(['history', '--json'])).stdout.matchAll(/"run_id":"([^"]+)"/g),
    ].map(([, id]) => id!)
    await using other = await lakeProject(lake, files)
    const at = async (when: string, sql: string) =>
      (await other.ok(['query', '--at', when, sql, '--json'])).stdout
    const sql = `SELECT string_agg(v, ',' ORDER BY id) AS v, string_agg(apart->>'$', ',' ORDER BY id) AS apart,
    (SELECT count(*)::INTEGER FROM core.people) AS people, (SELECT max(id) FROM mart.ids) AS last FROM core.orders`
    assert.is(await at(first!, sql), `{"v":"\\"first\\"","apart":"first","people":1,"last":1}\n`)
    assert.is(
      await at(second!, sql),
      `{"v":"\\"second\\",\\"third\\"","apart":"second,third","people":3,"last":3}\n`,
    )
    await other.ok(['erase', 'core.people', 'id = 1'])
    const gone = await other.ok(['query', '--at', first!, sql], { exitCode: 3 })
    assert.match(gone.stderr, /the state after run .* is no longer kept/)
    const today = new Date().toISOString().slice(0, 10)
    assert.is(await at(today, 'SELECT count(*)::INTEGER AS n FROM core.people'), '{"n":2}\n')
  },
)

test.run()
